"""What a provider knows of ways to reach a business, read from each provider's own words."""

from typing import Any

import pytest

from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.file.provider import file_place
from scrapersky.providers.osm.place import osm_place
from scrapersky.providers.overture.place import overture_place
from scrapersky.providers.place_contacts import contact_points, source_of

ELEMENT = {
    "type": "node",
    "id": 7,
    "tags": {
        "name": "Molar",
        "healthcare": "dentist",
        "addr:country": "FI",
        "website": "https://molar.fi/",
        "contact:email": "Eva@Molar.fi; info@molar.fi",
        "phone": "09 6131 4720; 040 123 4567",
        "fax": "09 6131 4721",
        "contact:facebook": "molardental",
        "contact:instagram": "https://www.instagram.com/molar/",
    },
}


def test_openstreetmap_has_emails_phones_and_profiles():
    place = osm_place(ELEMENT)
    assert place is not None
    found = contact_points(place)
    assert [(one.address, one.kind) for one in found.emails] == [
        ("eva@molar.fi", "personal"),
        ("info@molar.fi", "role"),
    ]
    assert [(one.number, one.kind) for one in found.phones] == [
        ("+358961314720", "phone"),
        ("+358401234567", "phone"),
        ("+358961314721", "fax"),
    ]
    profiles = {"facebook": "https://www.facebook.com/molardental", "instagram": "https://www.instagram.com/molar"}
    assert {one.platform: one.url for one in found.socials} == profiles
    every: list[Any] = [*found.emails, *found.phones, *found.socials]
    assert {one.how for one in every} == {"provider"}
    assert "ODbL" in found.emails[0].snippet
    assert source_of(place.provider, place.provider_id) == "https://www.openstreetmap.org/node/7"


def test_overture_has_emails_phones_and_profiles():
    row = {
        "id": "08f",
        "names": {"primary": "Molar"},
        "addresses": [{"country": "FI"}],
        "emails": ["info@molar.fi"],
        "phones": ["+358961314720", "+358401234567"],
        "socials": ["https://www.facebook.com/molardental", "https://example.org/nothing"],
    }
    place = overture_place(row)
    assert place is not None
    found = contact_points(place)
    assert [one.address for one in found.emails] == ["info@molar.fi"]
    assert [one.number for one in found.phones] == ["+358961314720", "+358401234567"]
    assert [one.url for one in found.socials] == ["https://www.facebook.com/molardental"]
    assert source_of("overture", "08f") == "overture:08f"


def test_a_file_has_columns_for_profiles_and_a_person():
    found = contact_points(
        file_place(
            {
                "name": "Molar",
                "website": "molar.fi",
                "country": "FI",
                "email": "anna@molar.fi; info@molar.fi",
                "person": "Anna Molar",
                "person_title": "Dentist",
                "linkedin": "https://www.linkedin.com/company/molar",
                "facebook": "molaroy",
            }
        )
    )
    [person] = found.people
    assert (person.name, person.title, person.email) == ("Anna Molar", "Dentist", "anna@molar.fi")
    assert (person.first_name, person.last_name) == ("Anna", "Molar")
    assert {one.platform: one.url for one in found.socials} == {
        "linkedin": "https://www.linkedin.com/company/molar",
        "facebook": "https://www.facebook.com/molaroy",
    }


def test_a_file_has_a_column_for_addresses():
    found = contact_points(
        file_place({"name": "Molar", "email": "info@molar.fi, eva@gmail.com", "website": "molar.fi"})
    )
    assert [(one.address, one.kind) for one in found.emails] == [
        ("info@molar.fi", "role"),
        ("eva@gmail.com", "free-mail"),
    ]


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"emails": ["none", "@molar.fi", "x@", "a b", "you@example.com", "info@gmail.com"]},
        {"emails": None, "phones": ["no number", 7], "socials": {"facebook": "sharer.php", "x": "https://x.com/"}},
        {"emails": {"a": "b"}, "phones": "", "socials": "https://www.facebook.com/", "fax": 3},
    ],
)
def test_what_is_not_a_contact_point_of_the_business_is_left_out(extra):
    assert not contact_points(PlaceDetails("fake", "1", "Molar", extra=extra))
