"""What holds for every sitemap: no exception, the same result in any pieces, and what lxml reads where lxml can."""

import gzip
import re
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from lxml import etree

from scrapersky.crawl.http.decompress import PIECE_BYTES, GzipLayers
from scrapersky.crawl.sitemaps import xml_records
from scrapersky.crawl.sitemaps.entry import SitemapEntry
from scrapersky.crawl.sitemaps.read import ReadLimits, SitemapReader, read_batches
from tests.factories.sitemaps import NAMESPACE, Read, read, record, urlset

# Pieces of markup that meet every branch of the reader, in any order.
PIECES = [
    "<?xml version='1.0' encoding='iso-8859-1'?>", "<!DOCTYPE x [", "]>", "<!-- ", " -->", "<![CDATA[", "]]>", "<!",
    "<?", "<", ">", "<urlset>", "</urlset>", "<sitemapindex>", "</sitemapindex>", "<s:urlset>", "</s:urlset>",
    "<rss>", "<feed>", "<html>", "<url>", "</url>", "<URL>", "</URL>", "<s:url>", "</s:url>", "<sitemap>",
    "</sitemap>", "<item>", "</item>", "<entry>", "</entry>", "<loc>", "</loc>", "<s:loc>", "</s:loc>", "<loc a='>'>",
    "<link>", "</link>", "<link href='/a'/>", "<loc/>", "<lastmod>2024-01-01</lastmod>",
    "<lastmod>2024-01-01 10:00</lastmod> ", "<lastmod> </lastmod>", "<changefreq>daily</changefreq>",
    "<priority>0.5</priority>", "<image:image>", "</image:image>", "<image:loc>", "</image:loc>", "<x>", "</x>",
    "<x:y/>", "https://example.com/a", "https://example.com/?a=1&b=2", "&amp;", "&#65;", "&", "é", "日本", " ", "\n",
    "\r\n", "\0", "\ufeff", "'", '"', "<url><loc>https://example.com/common</loc></url>\n",
    "<url><loc>https://example.com/common?a&amp;b</loc><lastmod>2024-01-01</lastmod></url>",
    "<url><loc>https://example.com/image</loc><image:image><image:loc>i</image:loc></image:image></url>",
    "<s:url><s:loc>https://example.com/prefixed</s:loc><i:image/></s:url>",
    "<sitemap><loc>https://example.com/1.xml</loc></sitemap>",
    "<url><lastmod>2024-01-01</lastmod><loc>https://example.com/free</loc></url>",
    "<loc><![CDATA[https://example.com/cdata?a&amp;b]]></loc>", "<lastmod><![CDATA[2024-01-01]]></lastmod>",
    "<i:a>", "</i:a>", "<i:a b='>'>", "<i:b/>", "<i:title><![CDATA[</url>]]></i:title>", "<i:a><i:loc>x</i:loc></i:a>",
]  # fmt: skip
markup = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
opened = st.tuples(st.sampled_from(["", "<urlset>", "<s:urlset>", "<sitemapindex>", "<rss>", "<feed>"]), markup).map(
    "".join
)
encoded = st.tuples(opened, st.sampled_from(["utf-8", "utf-16", "utf-16-le", "latin-1", "utf-8-sig"])).map(
    lambda pair: pair[0].encode(pair[1], "replace")
)
bodies = st.one_of(
    st.binary(max_size=400),
    encoded,
    encoded.map(gzip.compress),
    encoded.map(lambda body: gzip.compress(body)[:-6]),
    st.tuples(encoded, st.binary(max_size=30)).map(lambda pair: gzip.compress(pair[0]) + pair[1]),
    encoded.map(lambda body: gzip.compress(gzip.compress(body))),
)


def comparable(found: Read) -> tuple[object, ...]:
    """Return everything but the raw markup, which differs between patterns and tag-by-tag reading."""
    entries = [(*entry[:4], entry.extensions) for entry in found.entries]
    report = found.report
    return entries, report.kind, dict(report.skipped), report.partial, report.why_none


def read_at(body: bytes, cuts: list[int]) -> Read:
    reader = SitemapReader("https://example.com/sitemap.xml")
    entries: list[SitemapEntry] = []
    places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    for start, end in pairwise(places):
        for batch in reader.feed(body[start:end]):
            entries += batch
    for batch in reader.close():
        entries += batch
    return Read(entries, reader.report)


@settings(max_examples=400, deadline=None)
@given(bodies, st.lists(st.integers(0, 10_000), max_size=12))
@example(b"\x1f", [])
@example(b"\x1f\x8b", [1])
@example(b"<urlset><url><loc>https://a.b/</loc></url><!--", [50])
def test_any_bytes_in_any_pieces_give_the_same_and_never_an_exception(body, cuts):
    assert comparable(read_at(body, cuts)) == comparable(read(body))


@settings(max_examples=150, deadline=None)
@given(bodies)
def test_byte_by_byte_gives_the_same(body):
    assert comparable(read(body, chunk=1)) == comparable(read(body))


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=60), st.integers(0, 10_000), st.integers(1, 3000))
def test_damaged_gzip_gives_the_same_in_any_pieces(noise, at, chunk):
    body = urlset(*(record(f"https://example.com/{number * 7919}") for number in range(300))).encode()
    data = bytearray(gzip.compress(body))
    at %= len(data)
    data[at : at + len(noise)] = noise

    assert comparable(read(bytes(data), chunk=chunk)) == comparable(read(bytes(data)))


FIRST = "<urlset><url><loc>https://example.com/first</loc></url><url>"
LAST = "<loc>https://example.com/a</loc><lastmod>2024-01-01</lastmod></url></urlset>"


@settings(max_examples=300, deadline=None)
@given(opened)
@example(FIRST + "<i:t><![CDATA[</url><x>]]></i:t>" + LAST)
@example(FIRST + "<i:a><i:a><i:loc>x</i:loc></i:a>" + LAST)
@example(FIRST + "<i:b c='>'/><i:b c='/>'>" + LAST)
@example(FIRST + "<loc><![CDATA[https://example.com/b?a&amp;b]]></loc>" + LAST)
def test_the_patterns_and_tag_by_tag_reading_agree(text):
    body = text.encode("utf-8", "replace")
    never = re.compile(r"(?!)")
    quick = read(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xml_records, "free_record", lambda prefix, record: never)
        common = read(body)
        patch.setattr(xml_records, "common_record", lambda prefix, record: never)
        thorough = read(body)

    assert comparable(quick) == comparable(common) == comparable(thorough)


@settings(max_examples=150, deadline=None)
@given(bodies, st.integers(0, 5), st.integers(0, 500))
def test_limits_hold_for_any_bytes(body, max_entries, max_bytes):
    found = read(body, limits=ReadLimits(max_bytes=max_bytes, max_entries=max_entries))

    assert len(found.entries) <= max_entries
    assert found.report.bytes_read <= max_bytes
    assert all(len(entry.loc) <= 2048 and entry.loc[:4].lower() == "http" for entry in found.entries)
    assert all("\0" not in text for entry in found.entries for text in entry[:4] if text)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=2000))
def test_inflating_any_bytes_never_raises(noise):
    inflater = GzipLayers()
    pieces = [*inflater.feed(b"\x1f\x8b" + noise), *inflater.close()]

    assert all(len(piece) <= PIECE_BYTES for piece in pieces)


# -- lxml as the judge -------------------------------------------------------------------------------------------------

letters = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp", "Cf", "Cn", "Co"])
paths = st.text(letters, max_size=40).map(lambda text: "https://example.com/" + text)
lastmods = st.one_of(st.none(), st.dates().map(str), st.datetimes().map(lambda moment: moment.isoformat() + "Z"))
titles = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), max_size=20)
records = st.tuples(
    paths, lastmods, st.sampled_from([None, "daily", "weekly"]), st.lists(st.tuples(paths, titles), max_size=2)
)
SITEMAP, IMAGE = "http://www.sitemaps.org/schemas/sitemap/0.9", "http://www.google.com/schemas/sitemap-image/1.1"


def written_by_lxml(rows, prefix, pretty, encoding, images_first):
    root = etree.Element(f"{{{SITEMAP}}}urlset", nsmap={prefix: SITEMAP, "image": IMAGE})
    for loc, lastmod, changefreq, images in rows:
        url = etree.SubElement(root, f"{{{SITEMAP}}}url")
        etree.SubElement(url, f"{{{SITEMAP}}}loc").text = loc
        for name, value in (("lastmod", lastmod), ("changefreq", changefreq)):
            if value is not None:
                etree.SubElement(url, f"{{{SITEMAP}}}{name}").text = value
        for place, title in images:
            image = etree.Element(f"{{{IMAGE}}}image")
            etree.SubElement(image, f"{{{IMAGE}}}loc").text = place
            etree.SubElement(image, f"{{{IMAGE}}}title").text = title
            url.insert(0, image) if images_first else url.append(image)
    return etree.tostring(root, xml_declaration=True, encoding=encoding, pretty_print=pretty)


def read_by_lxml(body):
    """Read loc, lastmod, changefreq and image locs with lxml, without external entities and network."""
    root = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
    names = {"s": SITEMAP, "i": IMAGE}
    return [
        (
            url.findtext("s:loc", None, names).strip(),
            url.findtext("s:lastmod", None, names),
            url.findtext("s:changefreq", None, names),
            [place.text.strip() for place in url.iterfind("i:image/i:loc", names)],
        )
        for url in root.iterfind("s:url", names)
    ]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(records, max_size=8),
    st.sampled_from([None, "sm"]),
    st.booleans(),
    st.sampled_from(["UTF-8", "UTF-16", "ISO-8859-1", "ASCII", "windows-1251"]),
    st.booleans(),
)
def test_what_lxml_writes_is_read_as_lxml_reads_it(rows, prefix, pretty, encoding, images_first):
    body = written_by_lxml(rows, prefix, pretty, encoding, images_first)
    # Letters of a single-byte encoding that together look like UTF-8 are read as UTF-8, on purpose.
    assume(encoding.startswith("UTF") or not re.search(rb"[\xc2-\xf4][\x80-\xbf]", body))

    found = read(body)

    assert [
        (entry.loc, entry.lastmod_text, entry.changefreq, [image.get("loc") for image in entry.extensions])
        for entry in found.entries
    ] == read_by_lxml(body)
    assert found.report.partial is None


def test_a_comment_a_cdata_section_and_references_are_read_as_lxml_reads_them():
    body = f"""<?xml version="1.0"?><urlset {NAMESPACE}>
      <!-- <url><loc>https://example.com/no</loc></url> -->
      <url><loc>https://example.com/<![CDATA[a&b]]>&amp;c&#x41;</loc><lastmod>2024-01-01</lastmod></url>
      <url><loc> https://example.com/&lt;b&gt; </loc></url></urlset>""".encode()

    assert [(entry.loc, entry.lastmod_text, None, []) for entry in read(body).entries] == read_by_lxml(body)


async def test_the_async_reader_gives_what_the_plain_one_gives():
    body = urlset(*(record(f"https://example.com/{number}") for number in range(3000))).encode()

    async def chunks():
        for start in range(0, len(body), 5000):
            yield body[start : start + 5000]

    reader = SitemapReader("https://example.com/")
    entries = [entry async for batch in read_batches(chunks(), reader) for entry in batch]

    assert entries == read(body).entries
    assert reader.report == read(body).report
