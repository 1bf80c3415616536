"""Cards of people: where a name ends, and which role, address and number is whose."""

import pytest

from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.results import Person


def people(html: str, region: str = "GB") -> list[Person]:
    return list(read_contacts(html, url="https://kontor.example/", region=region).people)


def found(html: str) -> list[tuple[str, str]]:
    return [(person.name, person.title) for person in people(html)]


@pytest.mark.parametrize(
    "link",
    [
        "<a href='mailto:martha@kontor.example'>Email Martha</a>",
        "<a href='javascript:void(0)'>Write to Martha</a>",
        "<a class='__cf_email__' data-cfemail='00'>[email&#160;protected]</a>",
    ],
)
def test_the_text_of_a_link_is_no_part_of_a_role(link: str) -> None:
    assert found(f"<div><h3>Martha Ellison</h3><span>Director</span>{link}</div>") == [("Martha Ellison", "Director")]


def test_a_role_of_the_card_beside_is_not_taken() -> None:
    html = (
        "<div class='team'><div><h3>Martha Ellison</h3><p>Since 2009.</p><p>Director</p></div>"
        "<div><h3>Oliver Grant</h3><p>Loves maps.</p></div></div>"
    )
    assert ("Oliver Grant", "Director") not in found(html)


def test_a_role_that_begins_the_next_card_is_not_taken() -> None:
    html = (
        "<div class='team'><div><h3>Martha Ellison</h3></div><div><p>Surveyor</p><h3>Oliver Grant</h3></div>"
        "<div><p>Director</p><h3>Hannah Whitcombe</h3></div></div>"
    )
    assert found(html)[-2:] == [("Oliver Grant", "Surveyor"), ("Hannah Whitcombe", "Director")]
    assert ("Martha Ellison", "Surveyor") not in found(html)


def test_the_heading_of_a_list_is_no_role() -> None:
    html = "<h2>Our Doctors</h2><ul><li>Dr. Susan Whitcombe</li><li>Dr. Oliver Grant</li></ul>"
    assert found(html) == [("Susan Whitcombe", ""), ("Oliver Grant", "")]


@pytest.mark.parametrize(
    ("html", "name", "title"),
    [
        ("<li><b>Dr. Tomás Rey</b> Cirugía y traumatología</li>", "Tomás Rey", "Cirugía y traumatología"),
        ("<p>Responsável técnico: Eng. Paulo da Costa - CREA 50/1</p>", "Paulo da Costa", "Responsável técnico"),
        ("<li><b>Dra. Inés Rey</b> Directora médica. Nº col. 77</li>", "Inés Rey", "Directora médica"),
        ("<p>inż. Adam Nowak – właściciel, tel. kom. 604-918-372</p>", "Adam Nowak", "właściciel"),
        ("<dl><dt>Platschef</dt><dd>Åsa Holmgren 0704 18 29 63</dd></dl>", "Åsa Holmgren", "Platschef"),
        ('<p>Rakesh "Rak" Patel, dentist</p>', "Rakesh Patel", "dentist"),
        ("<p>Robert (Bob) Whitcombe, owner</p>", "Robert Whitcombe", "owner"),
        ("<p>Geschäftsführer: Dipl.-Ing. (FH) Martin Huber</p>", "Martin Huber", "Geschäftsführer"),
    ],
)
def test_a_name_and_a_role_end_at_their_element(html: str, name: str, title: str) -> None:
    assert found(html) == [(name, title)]


def test_a_role_in_brackets_between_two_names_is_no_nickname() -> None:
    names = [name for name, _ in found("<p>Jane Whitcombe (Owner), Robert Grant (Manager)</p>")]
    assert "Jane Robert Grant" not in names


def test_two_managers_on_one_line_are_two_people_and_a_hyphenated_trade_is_one() -> None:
    html = "<p>Geschäftsführer:<br>Martin Huber, Maler- und Lackierermeister Stefan Vogel</p>"
    assert found(html) == [("Martin Huber", "Geschäftsführer"), ("Stefan Vogel", "Maler- und Lackierermeister")]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Dott.ssa Chiara Esposito", "Chiara Esposito"),
        ("Prof.ssa Elena Conti", "Elena Conti"),
        ("HLL Anna-Maija Lehto", "Anna-Maija Lehto"),
        ("EHL Pekka Niemi", "Pekka Niemi"),
        ("HL Kaisa Virtanen", "Kaisa Virtanen"),
        ("dr n. med. Anna Nowak", "Anna Nowak"),
        ("lek. stom. Jan Nowak", "Jan Nowak"),
        ("Eng.ª Ana Souza", "Ana Souza"),
        ("mevr. Sanne de Vries", "Sanne de Vries"),
        ("James Whitcombe MNAEA", "James Whitcombe"),
        ("Emily Grant MRICS", "Emily Grant"),
        ("PharmDr. Jana Dvořáková", "Jana Dvořáková"),
    ],
)
def test_titles_and_credentials_are_no_part_of_a_name(written: str, name: str) -> None:
    html = f"<div class='team'><h3>{written}</h3><p>Director</p></div>"
    assert [person.name for person in people(html)] == [name]


@pytest.mark.parametrize("street", ["Avda. de Andalucía", "Ctra. de Toledo", "Blvd. Saint Germain", "Pza. del Sol"])
def test_a_street_is_no_person(street: str) -> None:
    assert found(f"<p>Clínica veterinaria</p><p>{street}</p>") == []


def test_an_empty_cell_gets_no_value_from_below_the_table() -> None:
    html = (
        "<table><tr><td>Martha Ellison</td><td>Director</td><td>0117 496 0288</td><td>martha@kontor.example</td></tr>"
        "<tr><td>Oliver Grant</td><td>Surveyor</td><td>&nbsp;</td><td>&nbsp;</td></tr></table>"
        "<p>Switchboard 0117 496 0290, post@kontor.example</p>"
    )
    assert [(person.name, person.email, person.phone) for person in people(html)] == [
        ("Martha Ellison", "martha@kontor.example", "+441174960288"),
        ("Oliver Grant", "", ""),
    ]


def test_contacts_behind_the_last_card_are_not_associated_and_a_link_is_that_of_its_card() -> None:
    html = (
        "<div class='team'><div><h3>Martha Ellison</h3><p>Director</p></div>"
        "<div><h3>Oliver Grant</h3><p>Surveyor</p><a href='tel:01174960288'>Call Oliver</a></div>"
        "<div><h3>Hannah Whitcombe</h3><p>Accountant</p></div></div><p>Office: 0117 496 0290</p>"
    )
    assert [person.phone for person in people(html)] == ["", "+441174960288", ""]
