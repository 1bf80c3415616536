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
