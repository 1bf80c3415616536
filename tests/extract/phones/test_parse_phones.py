"""Numbers side by side, in full-width digits, and in sequences of templates."""

import pytest

from scrapersky.extract.contacts import read_contacts


def numbers(html: str, region: str) -> dict[str, float]:
    return {phone.number: phone.confidence for phone in read_contacts(html, region=region).phones}


@pytest.mark.parametrize(
    ("written", "region", "expected"),
    [
        ("(11) 3846-7290 / 3846-7291", "BR", ["+551138467290", "+551138467291"]),
        ("(11) 3846-7290 / 98471-2936", "BR", ["+551138467290", "+5511984712936"]),
        ("(512) 478-2914 / 478-2915", "US", ["+15124782914", "+15124782915"]),
        ("+55 11 3846-7290 / 3846-7291", "BR", ["+551138467290", "+551138467291"]),
        ("02 7601234 / 7605678", "IT", ["+39027601234", "+39027605678"]),
    ],
)
def test_the_second_number_shares_the_area_of_the_first(written: str, region: str, expected: list[str]) -> None:
    assert list(numbers(f"<p>Tel. {written}</p>", region)) == expected


def test_wide_digits_are_digits() -> None:
    assert list(numbers("<p>電話 ０３－３４０９－７１８２</p>", "JP")) == ["+81334097182"]


def test_a_sequence_is_a_placeholder_unless_it_is_linked_or_in_structured_data() -> None:
    shown = "<p>Tel. 600 123 456</p>"
    assert numbers(shown, "ES") == {}
    assert numbers(f"{shown}<a href='tel:+34600123456'>Llámenos</a>", "ES") == {"+34600123456": 0.4}
    machine = '<script type="application/ld+json">{"@type":"Dentist","telephone":"+34 600 123 456"}</script>'
    assert numbers(shown + machine, "ES") == {"+34600123456": 0.4}


def test_a_linked_number_that_is_never_assigned_is_a_placeholder() -> None:
    assert numbers("<a href='tel:+31612345678'>Bel ons</a>", "NL") == {}
