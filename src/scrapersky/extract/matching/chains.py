"""Whether records with one site or one brand are branches of a chain."""

from collections import Counter
from collections.abc import Iterable, Sequence

from scrapersky.extract.matching.match import PlaceRecord, metres_between
from scrapersky.extract.matching.names import name_words
from scrapersky.extract.text import fold

MIN_BRANCHES = 3
MIN_METRES = 300  # between two branches: what is nearer may be the shops of a mall, or one business twice


def brand_key(brand: str | None) -> str | None:
    """Return a brand as it is compared; None for an empty one."""
    return " ".join(fold(brand).split())[:200] or None if brand else None


def are_branches(records: Sequence[PlaceRecord], *, of_brand: bool = False) -> bool:
    """Return whether these records of one site, or of one brand, are in at least MIN_BRANCHES places.

    Records of a site also have a word of their names in common: else the site may be a portal.
    """
    if not of_brand:
        words = Counter(word for one in records for word in set(name_words(one.name)))
        common = max(words, key=lambda word: (words[word], word), default=None)
        records = [one for one in records if common in name_words(one.name)]
    return _places(records) >= MIN_BRANCHES


def _places(records: Iterable[PlaceRecord]) -> int:
    """Count the places that are at least MIN_METRES from each other, up to MIN_BRANCHES."""
    places: list[PlaceRecord] = []
    for one in sorted(records, key=lambda record: record.key):
        distances = [metres_between(one, other) for other in places]
        is_apart = one.latitude is not None and all(each is not None and each >= MIN_METRES for each in distances)
        if is_apart and len(places) < MIN_BRANCHES:
            places.append(one)
    return len(places)
