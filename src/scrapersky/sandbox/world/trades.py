"""The trades of the invented businesses."""

from dataclasses import dataclass
from functools import cache

from scrapersky.sandbox.world.data_files import table
from scrapersky.sandbox.world.languages import languages
from scrapersky.sandbox.world.slugs import plain


@dataclass(frozen=True, slots=True)
class Trade:
    """A kind of business, as searchers, maps and languages call it."""

    name: str
    google: str
    osm_key: str
    osm_value: str
    schema: str
    words: frozenset[str]  # without accents
    nouns: dict[str, str]  # language -> the word in a business's name
    people: dict[str, str]  # language -> the job title of the trade, if any


@cache
def trades() -> dict[str, Trade]:
    """Return every trade by its name."""
    found = {}
    for name, row in table("trades").items():
        key, _, value = row["osm"].partition("=")
        pairs = {code: row[code].split("|") for code in languages()}
        found[name] = Trade(
            name,
            row["google"],
            key,
            value,
            row["schema"],
            frozenset(plain(word) for word in row["words"].split()),
            {code: noun for code, (noun, _) in pairs.items()},
            {code: person for code, (_, person) in pairs.items()},
        )
    return found
