"""Phone numbers of every region, distinguished from other numbers."""

import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.phones.parse import parse_phone

COUNTRY = '<script type="application/ld+json">{"@type": "PostalAddress", "addressCountry": "FI"}</script>'


def found(html: str, region: str | None = None, url: str = "") -> list[str]:
    return [phone.number for phone in read_contacts(html, region=region, url=url).phones if phone.kind == "phone"]


@pytest.mark.parametrize(
    ("html", "region", "number"),
    [
        ("<p>Tel. 030 / 23 12 54 18</p>", "DE", "+493023125418"),
        ("<p>Telefon +49 (0)30 23125-418</p>", "DE", "+493023125418"),
        ("<p>0049 30 23125418</p>", "FI", "+493023125418"),
        ("<p>Call (415) 324-0187 today</p>", "US", "+14153240187"),
        ("<p>Puh. 040 418 7306</p>", "FI", "+358404187306"),
        ("<p>Tlf. 32 48 73 06</p>", "DK", "+4532487306"),
        ("<p>Tel. 021.283.03.62</p>", "CH", "+41212830362"),
        ("<p>Tel.: 030.945807</p>", "DE", "+4930945807"),
        ("<p>Tél. : 27.90.94.64</p>", "LU", "+35227909464"),
        ("<td>22 418 73 05</td>", "PL", "+48224187305"),
        ("<a href='tel:+358404187306'>Soita</a>", None, "+358404187306"),
        ("<a href='tel:040-418%207306'>Soita</a>", "FI", "+358404187306"),
        ("<a href='tel:+0404187306'>040 418 7306</a>", "FI", "+358404187306"),
        ("<p>Tél / Fax : 01 99 00 48 21</p>", "FR", "+33199004821"),
        ("<p>Phones: 020 7946 0318 / 020 7946 0417</p>", "GB", "+442079460318"),
        ('<script type=\'application/ld+json\'>{"telephone": "040 418 7306"}</script>', "FI", "+358404187306"),
        ("<p>Тел./факс: (032) 244-88-16</p>", "UA", "+380322448816"),
        ("<p>Sans frais : 1 888 228-4417</p>", "CA", "+18882284417"),
        ("<p>Запись: 8 (843) 233-44-18, info@kontor.ru</p>", "RU", "+78432334418"),
        ("<p>Símar: 551 4417 / 5621833</p>", "IS", "+3545621833"),
        ("<p>S:00354 551 4417</p>", "IS", "+3545514417"),
        ("<p>Tel: +39 011 5591284 - 0141 593377</p>", "IT", "+390141593377"),
    ],
)
def test_a_number_is_read_as_the_country_writes_it(html: str, region: str | None, number: str) -> None:
    assert number in found(html, region)


@pytest.mark.parametrize(
    ("html", "region"),
    [
        ("<p>Umsatzsteuer-ID: DE 302 312 541</p><p>Steuernummer 030 231 25418</p>", "DE"),
        ("<p>IBAN DE02 3000 2312 5418 0000 00</p>", "DE"),
        ("<p>NIP 525 24 18 730, REGON 141 873 052</p>", "PL"),
        ("<dl><dt>CVR</dt><dd>32 48 73 06</dd></dl>", "DK"),
        ("<p>12.03.2019 – 14.03.2019</p><p>2009-2024</p><p>08.00-16.30</p>", "DE"),
        ("<p>Price 4 153 240 187 EUR</p>", "US"),
        ("<p>Lot 4153240187 of the sale, id=4153240187</p>", "US"),
        ("<p>48.137154, 11.576124</p>", "DE"),
        ("<p>Phone: 123-456-7890</p><p>Tel 0123 456789</p><p>(415) 555-0123</p>", "US"),
        ("<p>immatriculée au RCS de Nîmes sous le numéro 482 337 915</p>", "FR"),
        ("<p>Urlaub bis 15. 8. Vertretung: Praxis Dr. Roe, Gartenstr. 20, Tel. 07121 418730</p>", "DE"),
        ("<p>Od 14. 7. zastupuje MUDr. Jan Roe, Wolkerova 3, tel. 585 418 730</p>", "CZ"),
        ("<p>MST: 0312884471</p>", "VN"),
        ("<p>CRM 45210, CNPJ 12.345.678/0001-95</p>", "BR"),
    ],
)
def test_other_numbers_are_not_phones(html: str, region: str) -> None:
    assert found(html, region) == []


@pytest.mark.parametrize(
    ("html", "region", "numbers"),
    [
        ("<p><span>032 555 441</span> <span>0888 555 441</span></p>", "BG", ["+35932555441", "+359888555441"]),
        ("<p>Ph. 0253 - 255 5518 / 255 5519</p>", "IN", ["+912532555518", "+912532555519"]),
        ("<p>(03) 5355 5019 or after hours 0491 570 156</p>", "AU", ["+61353555019", "+61491570156"]),
    ],
)
def test_numbers_side_by_side_are_separate_phones(html: str, region: str, numbers: list[str]) -> None:
    assert found(html, region) == numbers


@pytest.mark.parametrize("label", ["F", "Fax", "傳真：", "팩스", "פקס:", "แฟกซ์", "Télécopieur :", "फैक्स:"])
def test_a_fax_label_is_recognised_in_every_script(label: str) -> None:
    assert [phone.kind for phone in read_contacts(f"<p>{label} +41 31 555 82 11</p>").phones] == ["fax"]


def test_a_fax_is_marked_and_its_neighbour_is_not() -> None:
    contacts = read_contacts("<p>Tel. 030 23125418 Fax 030 23125419</p><p>Telefax: 030 23125417</p>", region="DE")
    assert [(phone.number[-3:], phone.kind) for phone in contacts.phones] == [
        ("418", "phone"),
        ("419", "fax"),
        ("417", "fax"),
    ]


def test_an_icon_can_label_a_fax() -> None:
    contacts = read_contacts("<p><i class='fa fa-fax'></i> 030 23125419</p>", region="DE")
    assert [phone.kind for phone in contacts.phones] == ["fax"]


def test_the_visible_number_wins_over_the_one_behind_the_link() -> None:
    contacts = read_contacts("<a href='tel:+493023125400'>030 23125418</a>", region="DE")
    assert [phone.number for phone in contacts.phones] == ["+493023125418"]
    assert {one.value: one.reason for one in contacts.rejected} == {
        "+493023125400": "the visible number is another one"
    }


def test_a_whatsapp_link_is_a_phone_number() -> None:
    html = "<a href='https://wa.me/358404187306'>x</a><a href='https://api.whatsapp.com/send?phone=4532487306&text=a'>y</a>"
    assert [(phone.number, phone.kind) for phone in read_contacts(html).phones] == [
        ("+358404187306", "whatsapp"),
        ("+4532487306", "whatsapp"),
    ]


@pytest.mark.parametrize(
    ("html", "url"),
    [
        ("<p>Tel. 040 418 7306</p>", "https://kontor.fi/"),
        ("<html lang='fi'><p>Puh. 040 418 7306</p>", "https://kontor.com/"),
        ("<html lang='en-FI'><p>Tel. 040 418 7306</p>", ""),
        ("<p>Tel. 040 418 7306</p><p>Tel. +358 9 4187 306</p>", ""),
        (f"{COUNTRY}<p>Tel. 040 418 7306", ""),
        ("<html lang='fi-FI'><p>Puh. 040 418 7306</p><p>Hosting: Wix.com Inc., +1 415-639-9034</p>", ""),
    ],
)
def test_the_region_is_inferred_when_it_is_not_given(html: str, url: str) -> None:
    assert "+358404187306" in found(html, url=url)


def test_numbers_with_zero_are_not_read_as_north_american() -> None:
    assert found("<html lang='th'><p>โทร. 081-883-4402</p>", url="https://kontor.com/") == ["+66818834402"]


def test_the_parser_in_c_agrees_with_libphonenumber_on_every_region() -> None:
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        example = phonenumbers.example_number(region)
        if example is None:
            continue
        for style in (phonenumbers.PhoneNumberFormat.NATIONAL, phonenumbers.PhoneNumberFormat.INTERNATIONAL):
            written = phonenumbers.format_number(example, style)
            reading = parse_phone(written, region)
            assert reading is not None, (region, written)
            assert reading.number == phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164)


@settings(max_examples=300, deadline=None)
@given(st.text("0123456789+-() ./", max_size=30), st.sampled_from(["DE", "US", "FI", "IT", "BR"]))
def test_the_parser_in_c_accepts_only_valid_numbers(written: str, region: str) -> None:
    reading = parse_phone(written, region)
    if reading is not None:
        assert phonenumbers.is_valid_number(phonenumbers.parse(reading.number, None))


def test_numbers_of_two_elements_are_two_numbers() -> None:
    html = "<p><i class=fa-phone></i> <b>04242 / 55719</b> <i class=fa-mobile></i> <b>0676 / 5180417</b></p>"
    assert found(html, "AT") == ["+43424255719", "+436765180417"]


def test_an_area_code_in_an_element_of_its_own_belongs_to_the_number() -> None:
    assert found("<p><b>04242</b> <b>557190</b></p>", "AT") == ["+434242557190"]


@pytest.mark.parametrize(
    ("html", "region"),
    [
        ("<p>Kammer: Steuerberaterkammer Köln, Tel. 0221 335 7412</p>", "DE"),
        ("<p>Ordine degli Architetti di Siena, via Roma 3, tel. 0577 26 418</p>", "IT"),
        ("<p>Police non-emergency: 020 7946 0317. We close at five.</p>", "GB"),
        ("<p>Ved forgiftning: ring Giftinformasjonen 22 59 14 07</p>", "NO"),
        ("<p>Livro de reclamações: +351 213 827 914</p>", "PT"),
        ("<p>Verkkolaskuosoite: 003727419083</p>", "FI"),
        ("<p>Amtszeit (1979–1997, verst. 2014)</p>", "AT"),
    ],
)
def test_numbers_of_somebody_else_are_no_numbers_of_the_business(html: str, region: str) -> None:
    assert found(html, region) == []


def test_a_number_behind_that_of_somebody_else_is_one_of_the_business() -> None:
    html = "<p>Polizei 02241 541 3121. Unsere Praxis erreichen Sie unter 02241 87 54 19.</p>"
    assert found(html, "DE") == ["+492241875419"]


@pytest.mark.parametrize("text", ["8 612 44 871", "Tel. (8 37) 24 01 18"])
def test_the_former_trunk_prefix_of_lithuania_is_left_out(text: str) -> None:
    assert len(found(f"<p>{text}</p>", "LT")) == 1
