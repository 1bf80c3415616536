"""Postal addresses: from structured data, address elements and lines with a postal code."""

import pytest

from scrapersky.extract.contacts import read_contacts


@pytest.mark.parametrize(
    ("html", "street", "code", "city"),
    [
        ("<p>Lindenplatz 7, 12049 Berlin</p>", "Lindenplatz 7", "12049", "Berlin"),
        ("<p>Lindenplatz 7<br>12049 Berlin</p>", "Lindenplatz 7", "12049", "Berlin"),
        ("<p>23 rue des Tilleuls, 69003 Lyon</p>", "23 rue des Tilleuls", "69003", "Lyon"),
        ("<p>ul. Cicha 5<br>00-353 Warszawa</p>", "ul. Cicha 5", "00-353", "Warszawa"),
        ("<p>Kromme Spaak 9<br>1016 AB Amsterdam</p>", "Kromme Spaak 9", "1016 AB", "Amsterdam"),
        ("<p>Javorová 12, 120 00 Praha</p>", "Javorová 12", "120 00", "Praha"),
        ("<p>310 W 7th St Ste 20, Austin, TX 78703-5120</p>", "310 W 7th St Ste 20", "78703-5120", "Austin"),
        ("<p>123 Main Street<br>Springfield, IL 62701</p>", "123 Main Street", "62701", "Springfield"),
        ("<p>Koivukuja 12 B 3, 00100 HELSINKI</p>", "Koivukuja 12 B 3", "00100", "HELSINKI"),
        ("<p>Studio Conti - Via dei Tigli, 22 - 20121 Milano (MI)</p>", "Via dei Tigli, 22", "20121", "Milano"),
        ("<p>Avda. del Olmo, 45, bajo 29006 Málaga</p>", "Avda. del Olmo, 45, bajo", "29006", "Málaga"),
        ("<p>Tilia, 12, rue du Lac, 75002 Paris</p>", "12, rue du Lac", "75002", "Paris"),
    ],
)
def test_a_line_with_a_postal_code_is_an_address(html: str, street: str, code: str, city: str) -> None:
    (address,) = read_contacts(html).addresses
    assert (address.street, address.postal_code, address.city) == (street, code, city)


def test_structured_data_and_text_that_agree_are_one_address() -> None:
    html = """<script type="application/ld+json">{"@type": "Dentist", "address": {"@type": "PostalAddress",
    "streetAddress": "Lindenplatz 7", "postalCode": "12049", "addressLocality": "Berlin"}}</script>
    <p>Lindenplatz 7, 12049 Berlin</p>"""
    (address,) = read_contacts(html).addresses
    assert (address.how, address.confidence) == ("structured data", 0.9)


def test_an_address_element_is_read_without_its_numbers() -> None:
    html = "<address>Kontor Ltd<br>14 Harbour Lane<br>Bristol BS1 4QA<br>020 7946 0318<br>a@kontor.example</address>"
    (address,) = read_contacts(html, region="GB").addresses
    assert address.text == "Kontor Ltd, 14 Harbour Lane, Bristol BS1 4QA"


def test_the_address_of_an_authority_is_not_the_business_s() -> None:
    assert read_contacts("<h3>Aufsichtsbehörde</h3><p>Amtsplatz 1, 12049 Berlin</p>").addresses == ()


def test_an_address_in_a_one_line_footer_is_found() -> None:
    more = " - Codice SDI M5UXCR1" * 10
    html = f"<footer>Studio Conti - Via dei Tigli, 22 - 20121 Milano (MI) - Tel. 02 7601 234{more}</footer>"
    assert [address.text for address in read_contacts(html).addresses] == ["Via dei Tigli, 22, 20121 Milano"]


@pytest.mark.parametrize("line", ["45, bajo 29006 Málaga", "Suite 20, Springfield, ZZ 62701", "Call 5 times IL 62701"])
def test_a_number_and_a_place_are_no_address(line: str) -> None:
    assert read_contacts(f"<p>{line}</p>").addresses == ()
