"""Email addresses in every form, and texts that only look like one."""

import codecs

import pytest

from scrapersky.extract.contacts import read_contacts
from tests.corpus.make_contacts import FORMS, sites

SITE = sites()["en"]


def found(html: str, url: str = "") -> list[str]:
    return [email.address for email in read_contacts(html, url=url).emails]


def reasons(html: str, url: str = "") -> dict[str, str]:
    return {one.value: one.reason for one in read_contacts(html, url=url).rejected if one.field == "email"}


@pytest.mark.parametrize("form", FORMS)
def test_an_address_is_found_in_every_form(form: str) -> None:
    assert found(FORMS[form]("info@kontor.example", SITE)) == ["info@kontor.example"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>INFO@Kontor.Example.</p>",
        "<p>info (at) kontor (dot) example</p>",
        "<p>info{at}kontor{dot}example</p>",
        "<p>info AT kontor DOT example</p>",
        "<p>メール：info＠kontor.example</p>",
        "<p>info★kontor.example（★を@に変えてください）</p>",
        "<joomla-hidden-mail first='aW5mbw==' last='a29udG9yLmV4YW1wbGU=' is-link='1'>…</joomla-hidden-mail>",
        "<p>info&#x40;kontor&period;example</p>",
        "<p>inf<b>o</b>@kontor.example</p>",
        "<p>in&#8203;fo@kontor.example</p>",
        "<p>info<span style='display:none'>nospam</span>@kontor<!-- x -->.example</p>",
        "<p><a href='mailto:info%40kontor.example'>x</a></p>",
        "<p><a href='MAILTO:info(at)kontor.example'>x</a></p>",
        "<script>var a = ['info', 'kontor.example'].join('@');</script>",
        "<script>x('elpmaxe.rotnok@ofni'.split('').reverse().join(''))</script>",
        "<script>m = 'info' + '\\x40' + 'kontor.example'</script>",
        f"<p data-mail='{codecs.encode('info@kontor.example', 'rot13')}'>x</p>",
        "<p data-name='info' data-domain='kontor.example'>x</p>",
        "<div itemscope itemtype='schema.org/Hotel'><meta itemprop='email' content='info@kontor.example'></div>",
    ],
)
def test_an_obfuscated_address_is_found(html: str) -> None:
    assert found(html) == ["info@kontor.example"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>We met at kontor.example yesterday, at noon.</p>",
        "<p>Look at node dot js at home</p>",
        "<p>Join us @ www.kontor.example</p>",
        "<img src='logo@2x.png'><p>logo@2x.png</p>",
        "<p>npm@5.3.3 and react@18.2.0</p>",
        "<script>config = {email: 'support@builder.example'}</script>",
        "<input placeholder='info@kontor.example'>",
        "<p>maps /@27.42,85.31,15z</p>",
        "<a href='mailto:?subject=Look&body=this'>share</a>",
        "<p>someone@nowhere.nosuchending</p>",
    ],
)
def test_texts_without_an_address_give_none(html: str) -> None:
    assert found(html) == []


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<p>john.doe@kontor.example</p>", "placeholder"),
        ("<p>me@yourdomain.com</p>", "placeholder"),
        ("<p>sinä@esimerkki.fi</p>", "letters that only look alike"),
        ("<p>info@exemple.fr</p>", "placeholder"),
        ("<p>info@gmail.com</p>", "placeholder"),
        ("<p>Google: privacy@google.com</p>", "maker of the page or theme"),
        ("<p>hi@colorlib.com</p>", "maker of the page or theme"),
        ("<p>Webdesign: hand@werk.example</p>", "maker of the page or theme"),
        ("<p>info@kontor.example</p><p>© 2024 Kim Lind kim.lind@gmail.com</p>", "maker of the page or theme"),
        ("<h3>Aufsichtsbehörde</h3><p>Amt, post@amt.example</p>", "authority or host named in an imprint"),
        ("<h3>Hébergeur</h3><p>Nuage, aide@nuage.example</p>", "authority or host named in an imprint"),
        ("<a href='mailto:info@alt.example'>neu@kontor.example</a>", "hidden behind another address"),
    ],
)
def test_an_address_of_another_organisation_is_rejected_with_the_reason(html: str, reason: str) -> None:
    assert reason in reasons(html).values()


def test_the_page_of_an_authority_keeps_its_own_address() -> None:
    assert found("<p>Write to town@hall.gov.uk</p>") == ["town@hall.gov.uk"]


def test_the_kind_of_an_address_depends_on_name_and_domain() -> None:
    html = "<p>info@kontor.example kim.lind@kontor.example kontor@gmail.com office@partner.example</p>"
    kinds = [email.kind for email in read_contacts(html, url="https://www.kontor.example/").emails]
    assert kinds == ["role", "personal", "free-mail", "other-domain"]


def test_every_value_has_its_snippet_and_confidence() -> None:
    (email,) = read_contacts("<p>" + "word " * 100 + "write to info@kontor.example please</p>").emails
    assert "info@kontor.example" in email.snippet
    assert len(email.snippet) <= 160
    assert 0 < email.confidence <= 1


def test_a_directory_is_cut_and_names_the_limit() -> None:
    contacts = read_contacts("".join(f"<p>a{number}@kontor.example</p>" for number in range(400)))
    assert len(contacts.emails) == 100
    assert "emails" in contacts.cut
    assert contacts.emails[0].address == "a0@kontor.example"


def test_broken_structured_data_do_not_prevent_other_facts() -> None:
    bad = ['{"email": ', "[" * 50_000, '{"email": NaN}', '{"n": ' + "9" * 5_000 + "}", '{"email": {"x": "\\ud800"}}']
    scripts = "".join(f'<script type="application/ld+json">{one}</script>' for one in bad)
    assert found(scripts + "<p>info@kontor.example</p>") == ["info@kontor.example"]


def test_a_hash_stands_for_the_at_sign_where_the_page_says_so() -> None:
    page = "<p>E-Mail: buero#tischler-x.de (bitte # durch @ ersetzen)</p>"
    assert [email.address for email in read_contacts(page).emails] == ["buero@tischler-x.de"]
    assert not read_contacts("<p>buero#tischler-x.de</p>").emails


def test_the_linked_address_at_the_own_domain_is_right_where_the_visible_one_has_a_typing_error() -> None:
    page = "<a href='mailto:info@gartenbau-lohse.de'>info@gartenbau-lhose.de</a>"
    found = read_contacts(page, url="https://gartenbau-lohse.de/kontakt")
    assert [email.address for email in found.emails] == ["info@gartenbau-lohse.de"]
    assert [(one.value, one.reason) for one in found.rejected] == [
        ("info@gartenbau-lhose.de", "a typing error: the link has the right address")
    ]


def test_the_word_webmaster_in_an_address_does_not_make_a_credit() -> None:
    page = "<p>Fragen? Schreiben Sie uns: webmaster@verein-x.de</p>"
    assert [email.address for email in read_contacts(page).emails] == ["webmaster@verein-x.de"]
