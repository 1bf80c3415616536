"""Names of countries in many languages, and their ISO codes."""

from functools import cache, lru_cache

from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table


@lru_cache(10_000)
def country_code(text: str) -> str | None:
    """Return the ISO code of two letters for a code or a name in English or another language; None if unknown."""
    plain = _key(text)
    code = plain.upper()
    if code in load_table("countries"):
        return code
    return _other_names().get(plain) or _names().get(plain)


def _key(name: str) -> str:
    """Normalise a name: case, accents, dots, hyphens and commas make no difference."""
    return " ".join(fold(name[:200]).replace(".", "").replace("-", " ").replace(",", " ").split())


@cache
def _other_names() -> dict[str, str]:
    return {_key(name): code for code, names in load_table("countries").items() for name in names.split(", ")}


@cache
def _names() -> dict[str, str]:
    """Read libphonenumber's names of countries, in some thirty languages; large, so only when a name is looked up."""
    from phonenumbers.geodata.locale import LOCALE_DATA

    names = ((name, code) for code, by_language in LOCALE_DATA.items() for name in by_language.values())
    return {_key(name): code for name, code in names if not name.startswith("*")}  # *xx: the same as in language xx
