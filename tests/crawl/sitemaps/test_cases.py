"""Every oddity of a sitemap file that is known, one by one."""

import gzip
import zlib

import pytest

from scrapersky.crawl.sitemaps.entry import SitemapKind
from tests.factories.sitemaps import NAMESPACE, read, record, urlset

A, B, C = "https://example.com/a", "https://example.com/b", "https://example.com/c"
TWO = urlset(record(A), record(B))
LATIN = "https://example.com/café"

# name, body, the locs expected, whether the result must be called partial
URLSETS: list[tuple[str, bytes | str, list[str], bool]] = [
    ("as everyone writes it", TWO, [A, B], False),
    ("one line", f"<urlset><url><loc>{A}</loc></url><url><loc>{B}</loc></url></urlset>", [A, B], False),
    ("no declaration", urlset(record(A), head=""), [A], False),
    ("no namespace", urlset(record(A), root=""), [A], False),
    ("wrong namespace", urlset(record(A), root='xmlns="http://www.google.com/schemas/sitemap/0.84"'), [A], False),
    (
        "prefixed namespace",
        f'<s:urlset xmlns:s="x"><s:url><s:loc>{A}</s:loc></s:url><s:url><s:loc>{B}</s:loc></s:url></s:urlset>',
        [A, B],
        False,
    ),
    (
        "prefixed with foreign elements of another prefix",
        f"<s:urlset><s:url><s:loc>{A}</s:loc></s:url>"
        f"<s:url><i:image><i:loc>{C}</i:loc></i:image><s:loc>{B}</s:loc></s:url></s:urlset>",
        [A, B],
        False,
    ),
    ("CDATA", urlset(record(f"<![CDATA[{A}]]>")), [A], False),
    ("CDATA keeps its ampersands", urlset(record(f"<![CDATA[{A}?x=1&y=2]]>")), [A + "?x=1&y=2"], False),
    ("CDATA is never decoded", urlset(record(f"<![CDATA[{A}?x=1&amp;y=2]]>")), [A + "?x=1&amp;y=2"], False),
    ("CDATA in the middle of text", urlset(record("https://exam<![CDATA[ple.com]]>/a")), [A], False),
    ("entity", urlset(record(A + "?x=1&amp;y=2")), [A + "?x=1&y=2"], False),
    ("entities are decoded once", urlset(record(A + "?x=1&amp;amp;y=2")), [A + "?x=1&amp;y=2"], False),
    ("numeric references", urlset(record("https://example.com/&#97;?q=&#x62;")), [A + "?q=b"], False),
    ("bare ampersand", urlset(record(A + "?x=1&y=2")), [A + "?x=1&y=2"], False),
    ("bare ampersand before a word", urlset(record(A + "?x=1&copy=2&lt=3")), [A + "?x=1&copy=2&lt=3"], False),
    ("bare and escaped ampersands", urlset(record(A + "?x=1&y=2&amp;z=3")), [A + "?x=1&y=2&z=3"], False),
    ("an undeclared entity", urlset(record(A), record(B, "<image:title>a&nbsp;b</image:title>")), [A, B], False),
    ("an unknown entity stays", urlset(record(A + "?x=&nosuch;")), [A + "?x=&nosuch;"], False),
    ("UTF-8 mark", b"\xef\xbb\xbf" + TWO.encode(), [A, B], False),
    ("UTF-16 LE with mark", TWO.encode("utf-16"), [A, B], False),
    ("UTF-16 BE with mark", b"\xfe\xff" + TWO.encode("utf-16-be"), [A, B], False),
    ("UTF-16 LE without mark", TWO.encode("utf-16-le"), [A, B], False),
    ("UTF-16 BE without mark", TWO.encode("utf-16-be"), [A, B], False),
    ("UTF-32 with mark", TWO.encode("utf-32"), [A, B], False),
    ("UTF-8 beyond ASCII", urlset(record(LATIN)), [LATIN], False),
    ("declared Latin-1", urlset(record(LATIN)).replace("UTF-8", "ISO-8859-1").encode("latin-1"), [LATIN], False),
    ("declared UTF-8, is Latin-1", urlset(record(LATIN)).encode("latin-1"), [LATIN], False),
    ("declared Latin-1, is UTF-8", urlset(record(LATIN)).replace("UTF-8", "ISO-8859-1"), [LATIN], False),
    ("declared UTF-16, is UTF-8", urlset(record(LATIN)).replace("UTF-8", "UTF-16"), [LATIN], False),
    ("declared nonsense", urlset(record(LATIN)).replace("UTF-8", "no-such-thing"), [LATIN], False),
    ("declared a codec that is none", urlset(record(LATIN)).replace("UTF-8", "zlib_codec"), [LATIN], False),
    (
        "declared Windows-1251",
        urlset(record("https://example.com/привет")).replace("UTF-8", "windows-1251").encode("cp1251"),
        ["https://example.com/привет"],
        False,
    ),
    (
        "declared Shift_JIS",
        urlset(record("https://example.com/日本")).replace("UTF-8", "Shift_JIS").encode("shift_jis"),
        ["https://example.com/日本"],
        False,
    ),
    ("declared Shift_JIS, is UTF-8", urlset(record(LATIN)).replace("UTF-8", "Shift_JIS"), [LATIN], False),
    ("white space before", "\n\n   " + TWO, [A, B], False),
    ("words before", "Notice: something went wrong\n" + TWO, [A, B], False),
    ("PHP warning before", "<br />\n<b>Warning</b>: x in <b>/a.php</b> on line <b>3</b><br />\n" + TWO, [A, B], False),
    ("words after", TWO + "\nplease come again", [A, B], False),
    ("markup after", TWO + "<script>var url = '<url><loc>https://x.com</loc></url>'</script>", [A, B], False),
    ("comment after", TWO + "<!-- made in 0.2 s -->", [A, B], False),
    ("two documents in one", TWO + urlset(record(C)), [A, B, C], False),
    ("cut in a loc", TWO[: TWO.index(B) + 9], [A], True),
    ("cut after a loc", TWO[: TWO.index(B) + len(B) + 6], [A], True),
    ("cut between records", TWO[: TWO.rindex("</urlset>")], [A, B], True),
    ("cut in an end tag", TWO[: TWO.rindex("</url>") + 4], [A], True),
    ("relative path", urlset(record("/a")), [A], False),
    ("relative name", urlset(record("a")), [A], False),
    ("relative to the scheme", urlset(record("//example.com/a")), [A], False),
    ("forgotten scheme", urlset(record("www.example.com/a")), ["https://www.example.com/a"], False),
    (
        "upper-case tags",
        TWO.upper().replace("HTTPS://EXAMPLE.COM/", "https://example.com/").replace("/A<", "/a<"),
        [A, "https://example.com/B"],
        False,
    ),
    ("mixed-case tags", f"<UrlSet><Url><Loc>{A}</LOC></url></URLSET>", [A], False),
    ("comments", urlset("<!-- <url><loc>https://x.com/</loc></url> -->", record(A)), [A], False),
    ("comment in a record", urlset(record(A, "<!-- <loc>https://x.com/</loc> -->")), [A], False),
    ("comment in a loc", urlset(record("https://example.com/<!-- no -->a")), [A], False),
    ("comment never closed", urlset(record(A), "<!-- ", record(B)), [A], True),
    (
        "image loc before the loc",
        urlset(f"<url><image:image><image:loc>{C}</image:loc></image:image><loc>{A}</loc></url>"),
        [A],
        False,
    ),
    (
        "image in its own default namespace",
        urlset(f'<url><image xmlns="i"><loc>{C}</loc></image><loc>{A}</loc></url>'),
        [A],
        False,
    ),
    ("image loc alone is not a page", urlset(f"<url><image:loc>{C}</image:loc></url>", record(A)), [A], False),
    ("element before the loc never closed", urlset(f"<url><mobile><loc>{A}</loc></url>", record(B)), [A, B], False),
    ("undeclared prefix", urlset(record(A, "<image:image><image:loc>i.jpg</image:loc></image:image>")), [A], False),
    ("attributes on every tag", f'<urlset a="1"><url b="2"><loc c="3">{A}</loc></url></urlset>', [A], False),
    ("a > in an attribute", f'<urlset a="x>y"><url><loc t="p>q">{A}</loc></url></urlset>', [A], False),
    ("space inside tags", f"<urlset ><url\n><loc >{A}</loc ></url\t></urlset >", [A], False),
    ("white space around a loc", urlset(record(f"\n      {A}\n   ")), [A], False),
    ("line break inside a loc", urlset(record("https://example.com/\n      a")), [A], False),
    ("space inside a loc", urlset(record("https://example.com/a b")), ["https://example.com/a%20b"], False),
    ("control characters", urlset(record("https://example.com/\x00\x0ba"), record(B)), [A, B], False),
    (
        "references to forbidden characters",
        urlset(record("https://example.com/&#0;&#xD800;")),
        ["https://example.com/\ufffd\ufffd"],
        False,
    ),
    ("record without its end tag", urlset(f"<url><loc>{A}</loc>", record(B)), [A, B], False),
    ("loc without its end tag", urlset(f"<url><loc>{A}<lastmod>2024-01-01</lastmod></url>", record(B)), [A, B], False),
    ("a lone <", urlset(record(A, "<image:title>a < b</image:title>"), record(B)), [A, B], False),
    ("empty records", urlset("<url></url>", "<url/>", "<url><loc/></url>", record(A)), [A], False),
    ("no root element", record(A) + record(B), [A, B], True),
    ("document type", f'<!DOCTYPE urlset SYSTEM "x.dtd">{urlset(record(A), head="")}', [A], False),
    (
        "document type with a trap",
        '<!DOCTYPE urlset [<!ENTITY x "<url><loc>https://x.com/</loc></url>">]>' + urlset(record(A), "&x;", head=""),
        [A],
        False,
    ),
    (
        "external entity",
        '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + urlset(record(A + "?&x;"), head=""),
        [A + "?&x;"],
        False,
    ),
    ("style sheet", '<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?>' + urlset(record(A), head=""), [A], False),
    ("declaration never closed", '<?xml version="1.0">' + urlset(record(A), head=""), [A], False),
    ("XInclude", urlset('<xi:include href="file:///etc/passwd"/>', record(A)), [A], False),
    ("empty urlset", urlset(), [], False),
    ("empty urlset in one tag", f"<urlset {NAMESPACE}/>", [], False),
    ("duplicates are kept", urlset(record(A), record(A)), [A, A], False),
    ("upper-case scheme", urlset(record("HTTPS://example.com/a")), ["HTTPS://example.com/a"], False),
    ("gzip", gzip.compress(TWO.encode()), [A, B], False),
    ("gzip twice", gzip.compress(gzip.compress(TWO.encode())), [A, B], False),
    ("gzip in two members", gzip.compress(TWO[:90].encode()) + gzip.compress(TWO[90:].encode()), [A, B], False),
    ("gzip with junk behind", gzip.compress(TWO.encode()) + b"junk", [A, B], False),
    ("gzip with NULs behind", gzip.compress(TWO.encode()) + b"\0" * 100, [A, B], False),
    ("gzip cut at the checksum", gzip.compress(TWO.encode())[:-5], [A, B], True),
    ("gzip with a wrong checksum", gzip.compress(TWO.encode())[:-8] + b"\0" * 8, [A, B], True),
    ("gzip of UTF-16", gzip.compress(TWO.encode("utf-16")), [A, B], False),
]


@pytest.mark.parametrize(("body", "locs", "partial"), [case[1:] for case in URLSETS], ids=[case[0] for case in URLSETS])
def test_a_urlset_is_read_whatever_its_condition(body, locs, partial):
    found = read(body)

    assert found.locs == locs
    assert found.report.kind is SitemapKind.URLSET
    assert (found.report.partial is not None) is partial
    assert found.report.entries == len(locs)


NO_SITEMAPS: list[tuple[str, bytes | str, str]] = [
    ("nothing", b"", "empty"),
    ("HTML", "<!DOCTYPE html><html><body><a href='/a'>404</a></body></html>", "HTML"),
    ("XHTML", '<?xml version="1.0"?><!DOCTYPE html><html xmlns="x"><body/></html>', "HTML"),
    ("HTML without html", "<!doctype html><title>Not found</title><p>nothing here", "HTML"),
    ("HTML that shows a sitemap", f"<html><pre><urlset><url><loc>{A}</loc></url></urlset></pre></html>", "HTML"),
    ("HTML behind gzip", gzip.compress(b"<html></html>"), "HTML"),
    ("other XML", "<Error><Code>AccessDenied</Code></Error>", "<Error>"),
    ("words", "Not found. Try https://example.com/", "no list of URLs"),
    ("robots.txt", "User-agent: *\nDisallow:\nSitemap: https://example.com/s.xml\n", "no list of URLs"),
    ("JSON", '{"error": "not found", "url": "https://example.com/"}', "no list of URLs"),
    ("ZIP", b"PK\x03\x04" + b"\0" * 50, "ZIP"),
    ("PDF", b"%PDF-1.7\n", "PDF"),
    ("PNG", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "PNG"),
    ("noise", bytes(range(256)) * 8, ""),
    ("white space", " \n" * 100, ""),
    ("gzip of nothing", gzip.compress(b""), "empty"),
    ("gzip three times", gzip.compress(gzip.compress(gzip.compress(TWO.encode()))), "layers"),
    ("gzip damaged at once", b"\x1f\x8b" + b"\xff" * 40, "damaged"),
    ("junk longer than a reader should look", "x" * 70_000 + TWO, "no list of URLs"),
]


@pytest.mark.parametrize(("body", "why"), [case[1:] for case in NO_SITEMAPS], ids=[case[0] for case in NO_SITEMAPS])
def test_a_body_that_is_not_a_sitemap_is_recognised_by_its_content(body, why):
    found = read(body)

    assert found.entries == []
    assert found.report.kind is SitemapKind.NONE
    assert why in (found.report.why_none or "")
    assert found.report.why_none


UNUSABLE = [
    ("file:///etc/passwd", "not http or https"),
    ("javascript:alert(1)", "not http or https"),
    ("ftp://example.com/a", "not http or https"),
    ("https:/", "not http or https"),
    ("https://", "not http or https"),
    ("https:///a", "not http or https"),
    ("", "no loc"),
    ("https://example.com/" + "a" * 2048, "loc too long"),
    ("/" + "a" * 2040, "loc too long"),
    ("https://example.com/" + "a" * 100_000, "loc too long"),
]


@pytest.mark.parametrize(("loc", "reason"), UNUSABLE)
def test_an_unusable_loc_is_skipped_and_counted_with_its_reason(loc, reason):
    found = read(urlset(record(A), record(loc), record(B)))

    assert found.locs == [A, B]
    assert found.report.skipped == {reason: 1}


def test_a_relative_loc_needs_a_base():
    assert read(urlset(record("/a")), url=None).report.skipped == {"relative loc without a base": 1}


def test_a_loc_of_2048_characters_is_kept_and_one_more_is_not():
    longest = "https://example.com/".ljust(2048, "a")

    assert read(urlset(record(longest), record(longest + "a"))).locs == [longest]


def test_an_index_lists_its_children():
    body = f"<sitemapindex {NAMESPACE}><sitemap><loc>/1.xml</loc><lastmod>2024-05-06</lastmod></sitemap></sitemapindex>"

    found = read(body)

    assert found.report.kind is SitemapKind.INDEX
    assert [(entry.loc, entry.lastmod_text) for entry in found.entries] == [("https://example.com/1.xml", "2024-05-06")]


def test_the_records_decide_when_the_root_is_named_wrongly():
    assert read(urlset(f"<sitemap><loc>{A}</loc></sitemap>")).report.kind is SitemapKind.INDEX


def test_a_text_sitemap_is_one_url_per_line():
    found = read(f"\ufeff# pages\n{A}\r\n\r\n  {B}  \rnot a url\nftp://example.com/\n{C}".encode())

    assert found.report.kind is SitemapKind.TEXT
    assert found.locs == [A, B, C]
    assert found.report.skipped == {"not a URL": 1, "not http or https": 1}


def test_a_text_sitemap_may_be_utf16_or_gzip():
    assert read(f"{A}\n{B}\n".encode("utf-16")).locs == [A, B]
    assert read(gzip.compress(f"{A}\n{B}".encode())).locs == [A, B]


def test_an_endless_line_is_skipped_and_the_next_one_is_read():
    found = read(f"{A}\n" + "x" * 1_000_000 + f"\n{B}\n", chunk=1000)

    assert found.locs == [A, B]
    assert found.report.skipped == {"loc too long": 1}


def test_an_rss_feed_gives_its_items():
    body = f"""<?xml version="1.0"?><rss version="2.0" xmlns:atom="x"><channel><link>https://example.com/</link>
      <atom:link href="https://example.com/feed" rel="self"/><image><url>https://example.com/i.png</url></image>
      <item><title>One</title><link>{A}?x=1&amp;y=2</link><pubDate>Mon, 06 May 2024 10:00:00 +0200</pubDate>
        <description><![CDATA[<link>https://x.com/</link>]]></description></item>
      <item><guid>{B}</guid></item><item><guid isPermaLink="false">{C}</guid></item></channel></rss>"""

    found = read(body)

    assert found.report.kind is SitemapKind.RSS
    assert found.locs == [A + "?x=1&y=2", B]
    assert found.entries[0].lastmod.isoformat() == "2024-05-06T08:00:00+00:00"
    assert found.report.skipped == {"no loc": 1}


def test_an_rss_1_feed_gives_its_items():
    body = f'<rdf:RDF><channel/><item rdf:about="{A}"><link>{A}</link><dc:date>2024-05-06</dc:date></item></rdf:RDF>'

    found = read(body)

    assert (found.locs, found.entries[0].lastmod_text) == ([A], "2024-05-06")


def test_an_atom_feed_gives_its_entries():
    body = f"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/"/><updated>2020-01-01</updated>
      <entry><id>tag:1</id><link rel="edit" href="{C}"/><link href="/a?x=1&amp;y=2"/>
        <updated>2024-05-06T10:00:00Z</updated>
        <source><link href="https://x.com/"/><updated>2001-01-01</updated></source>
        <content type="xhtml"><div><link href="https://x.com/"/></div></content></entry>
      <entry><id>{B}</id><published>2024-01-02</published></entry></feed>"""

    found = read(body)

    assert found.report.kind is SitemapKind.ATOM
    assert found.locs == [A + "?x=1&y=2", B]
    assert [entry.lastmod_text for entry in found.entries] == ["2024-05-06T10:00:00Z", "2024-01-02"]


def test_every_value_of_a_record_is_kept():
    values = "<lastmod>2024-05-06T10:00:00+02:00</lastmod><changefreq>weekly</changefreq><priority>0.8</priority>"

    for inside in (values, values.replace("</", "\n</").replace(">2", ">\n 2"), "<!-- odd -->" + values):
        entry = read(urlset(record(A), record(B, inside))).entries[1]
        assert entry[:4] == (B, "2024-05-06T10:00:00+02:00", "weekly", "0.8")
        assert (entry.lastmod.isoformat(), entry.priority) == ("2024-05-06T08:00:00+00:00", 0.8)


@pytest.mark.parametrize(
    ("written", "understood"),
    [
        ("2024-05-06", "2024-05-06T00:00:00+00:00"),
        ("2024-05-06T10:00Z", "2024-05-06T10:00:00+00:00"),
        ("2024-05-06 10:00:00", "2024-05-06T10:00:00+00:00"),
        ("2024-05-06T10:00:00.123+02:00", "2024-05-06T08:00:00.123000+00:00"),
        ("Mon, 06 May 2024 10:00:00 GMT", "2024-05-06T10:00:00+00:00"),
        ("2024-05", None),
        ("0001-01-01T00:00:00+10:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_lastmod_is_an_aware_time_or_nothing(written, understood):
    lastmod = read(urlset(record(A, f"<lastmod>{written}</lastmod>"))).entries[0].lastmod

    assert (lastmod and lastmod.isoformat()) == understood


@pytest.mark.parametrize(
    ("written", "understood"), [("0.5", 0.5), ("1", 1.0), ("7", None), ("high", None), ("nan", None)]
)
def test_a_priority_is_between_nothing_and_one(written, understood):
    assert read(urlset(record(A, f"<priority>{written}</priority>"))).entries[0].priority == understood


EXTENSIONS = """
    <image:image><image:loc>https://example.com/i.jpg?a=1&amp;b=2</image:loc>
      <image:title><![CDATA[A & B]]></image:title></image:image>
    <video:video><video:title>V</video:title><video:tag>one</video:tag><video:tag>two</video:tag></video:video>
    <news:news><news:publication><news:name>N</news:name><news:language>fi</news:language></news:publication></news:news>
    <xhtml:link rel="alternate" hreflang="de" href="https://example.com/de?a=1&amp;b=2"/>
"""


@pytest.mark.parametrize("odd", ["", "<!-- read tag by tag -->"])
def test_images_videos_news_and_languages_are_kept(odd):
    entry = read(urlset(record(B), record(A, odd + EXTENSIONS.replace("<![CDATA[A & B]]>", "A &amp; B")))).entries[1]

    image, video, news, alternate = entry.extensions
    assert [extension.kind for extension in entry.extensions] == ["image", "video", "news", "alternate"]
    assert (image.get("loc"), image.get("title")) == ("https://example.com/i.jpg?a=1&b=2", "A & B")
    assert video.fields == (("title", "V"), ("tag", "one"), ("tag", "two"))
    assert (news.get("name"), news.get("language"), news.get("title")) == ("N", "fi", None)
    assert (alternate.get("hreflang"), alternate.get("href")) == ("de", "https://example.com/de?a=1&b=2")


def test_cdata_in_an_extension_is_text():
    assert read(urlset(record(A, EXTENSIONS))).entries[0].extensions[0].get("title") == "A & B"


def test_entries_before_damage_in_gzip_are_kept_and_partial():
    body = urlset(*(record(f"https://example.com/{number}") for number in range(2000)))
    data = bytearray(gzip.compress(body.encode()))
    data[len(data) // 2 : len(data) // 2 + 20] = b"\xff" * 20

    found = read(bytes(data))

    assert found.report.partial in ("the gzip data is damaged", "the gzip data ends too early")
    assert 500 < len(found.locs) < 2000
    assert found.locs[:500] == [f"https://example.com/{number}" for number in range(500)]


def test_entries_of_truncated_gzip_are_kept_and_partial():
    body = urlset(*(record(f"https://example.com/{number}") for number in range(2000)))
    data = gzip.compress(body.encode())

    found = read(data[: len(data) // 2])

    assert found.report.partial == "the gzip data ends too early"
    assert found.locs[:500] == [f"https://example.com/{number}" for number in range(500)]


def test_zlib_without_gzip_is_not_a_sitemap():
    assert read(zlib.compress(TWO.encode())).report.kind is SitemapKind.NONE
