"""One business at several providers is recognised, and neighbours, branches and colleagues are not taken for it."""

from dataclasses import replace

import pytest

from scrapersky.extract.matching.match import PlaceRecord, block_keys, same_business
from scrapersky.extract.matching.names import name_likeness
from tests.corpus.matching_score import score
from tests.corpus.same_business import SameBusinessSet

OSM = PlaceRecord(
    key="openstreetmap/node/1",
    provider="openstreetmap",
    name="Kallio Bakery Oy",
    phone="+35891234567",
    website="https://www.kallio-bakery.fi/",
    latitude=60.1840,
    longitude=24.9500,
    street="Hämeentie 12",
    postcode="00530",
)
GOOGLE = replace(OSM, key="google_places/x", provider="google_places", name="KALLIO BAKERY", latitude=60.1842)


def test_the_bars_hold_on_a_set_that_the_rules_were_not_made_with() -> None:
    found = score(SameBusinessSet(77, businesses=800).records())
    assert found.precision >= 0.98, found.wrong_pairs[:3]
    assert found.recall >= 0.90, found.missed_pairs[:3]


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({}, True),
        ({"phone": None, "website": None}, True),
        ({"phone": None, "website": None, "latitude": 60.1900}, False),  # 700 m away
        ({"street": "Hämeentie 28", "latitude": 60.1850}, False),  # a branch in the same street
        ({"latitude": 61.5}, False),  # a branch in another town
        ({"name": "Каллио Bakery"}, True),
        ({"name": "Kallio Bkery"}, True),
        ({"name": "Another Name"}, True),  # renamed: phone, door and its own site are the same
        ({"name": "Another Name", "website": "https://mall.fi/", "phone": "+35899999999"}, False),
        ({"name": "Kallio Flowers", "phone": None, "website": None}, False),
        ({"latitude": None, "longitude": None}, True),
        ({"latitude": None, "longitude": None, "phone": None, "website": None, "street": None}, False),
    ],
)
def test_which_records_are_one_business(change: dict[str, object], is_same: bool) -> None:
    other = replace(GOOGLE, **change)  # type: ignore[arg-type]
    assert (same_business(OSM, other) is not None) is is_same
    assert (same_business(other, OSM) is not None) is is_same


def test_two_doctors_of_one_house_are_two() -> None:
    one = replace(OSM, name="Dr. med. Virtanen", website="https://praxis-keskus.fi/")
    two = replace(GOOGLE, name="Dr. med. Salonen", website="https://praxis-keskus.fi/")
    assert same_business(one, two) is None
    assert same_business(one, replace(two, name="Praxis Dr. Virtanen")) is not None


def test_a_provider_that_has_two_records_mostly_means_two_businesses() -> None:
    assert same_business(OSM, replace(OSM, key="openstreetmap/node/2", name="Kallio Bakery & Cafe")) is None
    assert same_business(OSM, replace(OSM, key="openstreetmap/way/2")) is not None


def test_records_of_one_business_share_a_key() -> None:
    assert {*block_keys(OSM)} & {*block_keys(replace(GOOGLE, phone=None, website=None))}
    assert block_keys(PlaceRecord("x", "file", "Nothing known")) == []
    assert name_likeness("Rest. Aalto", "Aalto Restaurant GmbH") == 1.0
    assert name_likeness("", "Aalto") == 0.0
