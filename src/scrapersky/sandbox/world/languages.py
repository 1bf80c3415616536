"""The languages in which the sites are written."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from scrapersky.sandbox.world.data_files import table


@dataclass(frozen=True, slots=True)
class SiteLanguage:
    """The words of a site: names of its pages, labels, sentences, names of people."""

    code: str
    home: str
    contact: str
    about: str
    team: str
    imprint: str
    services: str
    blog: str
    privacy: str
    phone: str
    fax: str
    mobile: str
    email: str
    write_us: str
    hours: str
    welcome: str
    reviews: str
    customer: str
    share: str
    credit: str
    at: str
    dot: str
    authority: str
    authority_name: str
    placeholder: str
    send: str
    more: str
    cookies: str
    login: str
    days: tuple[str, ...]
    locals: tuple[str, ...]
    seconds: tuple[str, ...]
    words: tuple[str, ...]
    given: tuple[str, ...]
    family: tuple[str, ...]
    roles: tuple[str, ...]
    offers: tuple[str, ...]
    praise: tuple[str, ...]
    blurbs: tuple[str, ...]
    posts: tuple[str, ...]


@cache
def languages() -> dict[str, SiteLanguage]:
    """Return every language by its code."""
    return {code: SiteLanguage(code=code, **_frozen(row)) for code, row in table("languages").items()}


def _frozen(row: dict[str, Any]) -> dict[str, Any]:
    """Convert the lists of a row to tuples."""
    return {key: tuple(word) if isinstance(word, list) else word for key, word in row.items()}
