"""Obfuscated addresses: names of the at sign, escaped letters, recipients of copies."""

import pytest

from scrapersky.extract.contacts import read_contacts


def kinds(html: str) -> dict[str, str]:
    return {email.address: email.kind for email in read_contacts(html, url="https://kontor.de/").emails}


@pytest.mark.parametrize(
    "written",
    [
        "svoboda zavináč kontor tečka de",
        "svoboda zavináč kontor bodka de",
        "svoboda małpa kontor kropka de",
        "svoboda (a) kontor.de",
        "svoboda ARROBA kontor PUNTO de",
        "svoboda[アット]kontor.de",
        "svoboda [apestaart] kontor.de",
        "svoboda kukac kontor pont de",
        "svoboda arroba kontor punto de",
        "svoboda arroba kontor ponto de",
        "svoboda chiocciola kontor punto de",
        "svoboda arobase kontor point de",
        "svoboda apenstaartje kontor punt de",
        "svoboda snabel-a kontor punkt de",
        "svoboda krøllalfa kontor punktum de",
        "svoboda miukumauku kontor piste de",
        "svoboda собака kontor точка de",
        "svoboda παπάκι kontor τελεία de",
        "svoboda klammeraffe kontor punkt de",
        "svoboda at kontor dot de",
    ],
)
def test_the_name_of_the_at_sign_is_known_in_many_languages(written: str) -> None:
    assert list(kinds(f"<p>Mail: {written}</p>")) == ["svoboda@kontor.de"]


@pytest.mark.parametrize(
    "sentence",
    [
        "We arrived at that point in time.",
        "Le cabinet et conseil point de vente.",
        "Klik op apenstaartje in het menu.",
        "See Art. 13 (a) kontor.de and section 5(a) kontor.de.",
    ],
)
def test_a_sentence_is_no_address(sentence: str) -> None:
    assert kinds(f"<p>{sentence}</p>") == {}


@pytest.mark.parametrize(
    "html",
    [
        r"<script>document.getElementById('x').innerHTML='\u0070ost\u0040kontor.de';</script>",
        r"<script>var m='post\x40kontor\x2ede';</script>",
        r"<a href="
        r'"javascript:location=' + "'mailto:" + r"\u0070\u006f\u0073\u0074\u0040\u006b\u006f\u006e\u0074\u006f\u0072"
        r"\u002e\u0064\u0065';" + '">Write to us</a>',
    ],
)
def test_an_escaped_sign_is_a_hidden_address(html: str) -> None:
    assert list(kinds(f"<p>Contact</p>{html}")) == ["post@kontor.de"]


def test_recipients_of_a_copy_are_found() -> None:
    html = "<a href='mailto:office@kontor.de?subject=Hi&cc=mike@kontor.de&body=x&BCC=anna%40kontor.de'>Write</a>"
    assert list(kinds(html)) == ["office@kontor.de", "mike@kontor.de", "anna@kontor.de"]


OFFICES = """
toimisto cabinet orcamento ksiegowosc biuro recepcja sekretariat praxis studio ufficio oficina escritorio geral
contacto kontor post firmapost rejestracja ordinace iroda birou ajanvaraus
"""


@pytest.mark.parametrize("local", OFFICES.split())
def test_an_office_address_is_a_role_address(local: str) -> None:
    assert kinds(f"<p>{local}@kontor.de</p>") == {f"{local}@kontor.de": "role"}


def test_the_maker_of_the_page_is_not_the_business() -> None:
    html = "<p>kontor@kontor.de<br>Sivut: <a href='http://nikkarit.fi'>Nikkarit</a> info@nikkarit.fi</p>"
    assert list(kinds(html)) == ["kontor@kontor.de"]
