"""The entries of the rail: each page that works, for the roles that may open it."""

from dataclasses import dataclass

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.console.gates import PageRequest


@dataclass(frozen=True)
class Entry:
    """A link of the rail."""

    path: str
    label: str
    icon: str
    is_current: bool = False


@dataclass(frozen=True)
class Section:
    """A heading of the rail and its links."""

    label: str
    entries: tuple[Entry, ...]


RAIL = (
    ("Work", (("line", "Line", "line"), ("searches", "Searches", "search"))),
    (
        "Stages",
        (
            ("places", "Places", "pin"),
            ("businesses", "Businesses", "shop"),
            ("domains", "Domains", "globe"),
            ("sitemaps", "Sitemaps", "tree"),
            ("pages", "Pages", "page"),
            ("contacts", "Contacts", "person"),
        ),
    ),
)


def sections(asked: PageRequest) -> list[Section]:
    """Return the rail with the entry of this page marked."""
    here = asked.request.url.path.removeprefix(f"{CONSOLE}/").partition("/")[0]
    return [
        Section(
            label,
            tuple(Entry(f"{CONSOLE}/{name}", word, icon, name == here) for name, word, icon in entries),
        )
        for label, entries in RAIL
    ]
