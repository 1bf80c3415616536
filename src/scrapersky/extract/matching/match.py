"""The rules by which two records are one business: name, phone, site, distance and house number."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, hypot, radians

from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.matching.names import has_title, name_likeness, name_words
from scrapersky.extract.text import fold

METRES_PER_DEGREE = 111_320
# Distances in metres: of one door, of the noise between two maps, of one that was geocoded from its street.
SAME_DOOR, SAME_SPOT, SAME_STREET = 40, 150, 700
# Likeness of names: almost equal, nearly, alike, not opposed.
EQUAL, NEARLY, ALIKE, SIMILAR = 0.88, 0.82, 0.72, 0.5
MIN_LETTERS = 4  # of a word that a site is named after
CELL_DEGREES = (
    0.0015  # of latitude, about SAME_SPOT: what is further apart has another key in common, or does not match
)
_NUMBER = re.compile(r"(?<![\w])(\d{1,5})\s?([a-z])?(?![\w])", re.IGNORECASE)


@dataclass(frozen=True)
class PlaceRecord:
    """What one provider knows about one business; unknown values are None."""

    key: str  # unique: the provider and its id
    provider: str
    name: str
    phone: str | None = None  # E.164
    website: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    street: str | None = None
    postcode: str | None = None

    @cached_property
    def site(self) -> str | None:
        """The registrable domain of its own site; a page on a platform is none."""
        try:
            found = parse_website(self.website) if self.website else None
        except InvalidWebsite:
            return None
        return found.name if isinstance(found, CompanyDomain) else None

    @cached_property
    def street_number(self) -> tuple[str, str] | None:
        """Its street without the number, and the number; None if one of them is unknown."""
        found = _NUMBER.search(self.street or "")
        if found is None or self.street is None:
            return None
        rest = fold(self.street[: found.start()] + self.street[found.end() :])
        return re.sub(r"\W{1,20}", "", rest)[:5], found[1]


@dataclass(frozen=True)
class SameBusiness:
    """Why two records are one business, and how sure that is."""

    reason: str
    confidence: float = 0.99  # as measured with the labelled set, whose cases are harder than most


def stored_keys(record: PlaceRecord) -> list[str]:
    """Return the keys by which a record is found: phone, site, house with a word of the name, its cell of the map."""
    keys = [f"phone {record.phone}"] if record.phone else []
    keys += [f"site {record.site}"] if record.site else []
    if record.street_number is not None and (words := name_words(record.name)):
        keys.append(f"house {' '.join(record.street_number)} {min(words)}")
    return keys + _cells(record, (0,))


def block_keys(record: PlaceRecord) -> list[str]:
    """Return the keys of the records it is compared with: its own, and the cells around its own.

    Records without a key in common are never compared.
    """
    return list(dict.fromkeys([*stored_keys(record), *_cells(record, (-1, 0, 1))]))


def _cells(record: PlaceRecord, steps: Sequence[int]) -> list[str]:
    """Return the cell of a record, or those around it; all have about the same width in metres."""
    if record.latitude is None or record.longitude is None:
        return []
    own, cells = int(record.latitude // CELL_DEGREES), []
    for row in (own + step for step in steps):
        width = CELL_DEGREES / max(cos(radians(row * CELL_DEGREES)), 0.01)
        column = int(record.longitude // width)
        cells += [f"cell {row} {column + step}" for step in steps]
    return cells


def same_business(one: PlaceRecord, other: PlaceRecord) -> SameBusiness | None:
    """Return why two records are one business; None if they are not, or if that is not certain."""
    if one.key == other.key:
        return None
    metres = metres_between(one, other)
    if metres is not None and metres > SAME_STREET:
        return None
    likeness = name_likeness(one.name, other.name)
    phone = bool(one.phone) and one.phone == other.phone
    site = bool(one.site) and one.site == other.site
    if one.provider == other.provider:  # a provider seldom has a business twice, but often its neighbours
        return _of_one_provider(one, other, metres, likeness, phone)
    if _other_number(one, other) and not (phone and likeness >= EQUAL and metres is not None and metres <= SAME_DOOR):
        return None
    if metres is None:
        return _without_a_point(one, other, likeness, phone, site)
    return _near(one, other, metres, likeness, phone, site)


def _near(
    one: PlaceRecord, other: PlaceRecord, metres: float, likeness: float, phone: bool, site: bool
) -> SameBusiness | None:
    opposed = bool(one.phone and other.phone and not phone) + bool(one.site and other.site and not site)
    if metres > SAME_SPOT:
        is_same = likeness >= EQUAL and phone and (site or not opposed)
        return SameBusiness(f"the same phone, almost the same name, {metres:.0f} m apart", 0.97) if is_same else None
    if likeness >= EQUAL and opposed < 2 and (metres <= SAME_SPOT / 2 or phone or site or not opposed):
        return SameBusiness(f"almost the same name, {metres:.0f} m apart")
    if likeness >= ALIKE and ((phone or site) or (likeness >= NEARLY and metres <= SAME_DOOR and not opposed)):
        return SameBusiness(f"a similar name, {_common(phone, site)}{metres:.0f} m apart", _surety(phone, site))
    is_own = site and _is_named_after(one, other)
    if likeness >= SIMILAR and (phone or is_own) and not opposed and not _are_people(one, other):
        return SameBusiness(f"a similar name, {_common(phone, site)}{metres:.0f} m apart", _surety(phone, site))
    if phone and is_own and metres <= SAME_DOOR and not _are_people(one, other):
        return SameBusiness(f"another name, but the same phone and site, {metres:.0f} m apart", 0.97)
    return None


def _surety(phone: bool, site: bool) -> float:
    """Return how sure a similar name is; a phone or a site may be that of a house or a group, and its name unlike."""
    return 0.9 if phone or site else 0.97


def are_opposed(one: PlaceRecord, other: PlaceRecord) -> bool:
    """Return whether two records cannot be one business, whatever others say: too far apart, or known to be two."""
    metres = metres_between(one, other)
    if metres is not None and metres > SAME_STREET:
        return True
    is_doubtful = one.provider == other.provider or _other_number(one, other)
    return is_doubtful and same_business(one, other) is None


def _of_one_provider(
    one: PlaceRecord, other: PlaceRecord, metres: float | None, likeness: float, phone: bool
) -> SameBusiness | None:
    is_same = (
        likeness >= 0.97 and phone and metres is not None and metres <= SAME_DOOR and not _other_number(one, other)
    )
    return SameBusiness("entered twice: the same name, phone and door", 0.97) if is_same else None


def _without_a_point(
    one: PlaceRecord, other: PlaceRecord, likeness: float, phone: bool, site: bool
) -> SameBusiness | None:
    same_number = one.street_number is not None and one.street_number == other.street_number
    opposed = bool(one.site and other.site and not site) or bool(one.phone and other.phone and not phone)
    same_post = bool(one.postcode) and one.postcode == other.postcode and not _other_number(one, other)
    if likeness >= EQUAL and not opposed and (phone or same_number or (site and same_post)):
        return SameBusiness(f"almost the same name, {_common(phone, site)}no distance is known")
    if likeness >= ALIKE and phone and same_number:
        return SameBusiness("a similar name, the same phone and house", 0.97)
    return None


def _is_named_after(one: PlaceRecord, other: PlaceRecord) -> bool:
    """Return whether the name of the site has a word of a name: else it may be that of a mall or a portal."""
    words = {word for record in (one, other) for word in name_words(record.name) if len(word) >= MIN_LETTERS}
    return any(word in (one.site or "") for word in words)


def _other_number(one: PlaceRecord, other: PlaceRecord) -> bool:
    """Return whether both are known to be in the same street at different numbers."""
    return (
        one.street_number is not None
        and other.street_number is not None
        and one.street_number[1] != other.street_number[1]
    )


def _are_people(one: PlaceRecord, other: PlaceRecord) -> bool:
    """Return whether a name is that of a doctor or lawyer, who may share house, phone and site with another."""
    return has_title(one.name) or has_title(other.name)


def metres_between(one: PlaceRecord, other: PlaceRecord) -> float | None:
    """Return the distance; None if a point is unknown."""
    if one.latitude is None or one.longitude is None or other.latitude is None or other.longitude is None:
        return None
    east = (one.longitude - other.longitude + 180) % 360 - 180
    north = one.latitude - other.latitude
    return hypot(north, east * cos(radians(one.latitude))) * METRES_PER_DEGREE


def _common(phone: bool, site: bool) -> str:
    both = " and ".join(word for word, is_same in (("phone", phone), ("site", site)) if is_same)
    return f"the same {both}, " if both else ""
