"""Whose address it is, by the part before the @."""

import pytest

from scrapersky.extract.people.address_names import AddressMatch, find_owners, find_owners_by_initials, match_name


@pytest.mark.parametrize(
    ("name", "local", "expected"),
    [
        ("Anna Roe", "anna.roe", AddressMatch.FULL),
        ("Anna Roe", "anna.roe.dentist", AddressMatch.FULL),
        ("Nuria Arrieta Soler", "nuria.arrieta.dental", AddressMatch.FULL),
        ("Jan van der Berg", "jan.van.zon", AddressMatch.NONE),
        ("Anna Roe", "praxis.roe.team", AddressMatch.NONE),
        ("Robert Hale", "bob", AddressMatch.WORD),
        ("Robert Hale", "bob.hale", AddressMatch.FULL),
        ("Robert Hale", "bill", AddressMatch.NONE),
        ("William Hale", "bill", AddressMatch.WORD),
        ("Олена Шевченко", "o.shevchenko", AddressMatch.INITIAL),
    ],
)
def test_an_address_has_as_much_of_a_name(name: str, local: str, expected: AddressMatch) -> None:
    assert match_name(name, f"{local}@oak.example") is expected


def test_an_address_belongs_to_the_person_of_whose_name_it_has_the_most() -> None:
    names = ["Robert Hale", "Jane Hale", "Jane Mallory"]
    assert find_owners(names, ["bob@oak.example", "hale@oak.example", "jane.hale@oak.example"]) == {
        0: (AddressMatch.WORD, "bob@oak.example"),
        1: (AddressMatch.FULL, "jane.hale@oak.example"),
    }


def test_initials_belong_to_one_person_or_to_nobody() -> None:
    names = ["Jane Ann Mallory", "Paul Wickes", "Petra Wolf", "Ивонн Бергер"]
    addresses = ["jam@oak.example", "pw@oak.example", "ib@oak.example", "office@oak.example"]
    assert find_owners_by_initials(names, addresses) == {0: "jam@oak.example", 3: "ib@oak.example"}
