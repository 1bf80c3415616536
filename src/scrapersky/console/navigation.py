"""The entries of the rail: each page that works, for the roles that may open it."""

from collections.abc import Sequence
from dataclasses import dataclass

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.console.gates import PageRequest


@dataclass(frozen=True)
class Entry:
    """A link of the rail."""

    path: str
    label: str
    icon: str
    key: str  # that goes there after g
    is_current: bool = False


@dataclass(frozen=True)
class Section:
    """A heading of the rail and its links."""

    label: str
    entries: tuple[Entry, ...]


RAIL: tuple[tuple[str, tuple[tuple[str, str, str, str], ...]], ...] = (
    (
        "Work",
        (
            ("line", "Line", "line", "l"),
            ("searches", "Searches", "search", "s"),
            ("schedules", "Schedules", "again", "h"),
            ("map", "Map", "map", "o"),
        ),
    ),
    (
        "Stages",
        (
            ("places", "Places", "pin", "p"),
            ("businesses", "Businesses", "shop", "b"),
            ("domains", "Domains", "globe", "d"),
            ("sitemaps", "Sitemaps", "tree", "m"),
            ("pages", "Pages", "page", "g"),
            ("contacts", "Contacts", "person", "c"),
        ),
    ),
    (
        "Out",
        (
            ("deliveries", "Deliveries", "send", "v"),
            ("destinations", "Destinations", "plug", "t"),
            ("files", "Files", "download", "f"),
            ("import", "Import", "upload", "i"),
        ),
    ),
    (
        "Operate",
        (
            ("queues", "Queues", "queue", "q"),
            ("dead-letters", "Dead letters", "alert", "x"),
            ("runs", "Runs", "clock", "r"),
            ("jobs", "Jobs", "check", "j"),
        ),
    ),
    (
        "Admin",
        (
            ("people", "People", "people", "e"),
            ("privacy", "Privacy", "shield", "y"),
            ("audit", "Audit", "list", "a"),
            ("system", "System", "gear", "z"),
        ),
    ),
)
QUERIES = {"contacts": "has_name_or_email=true"}  # of entries: the list that they open
ON_PHONES = (
    "line",
    "searches",
    "contacts",
    "map",
    "files",
)  # entries of the bar at the bottom; the others are behind it
LEAST_ROLES = {"import": "operator", "people": "admin", "audit": "admin"}  # of entries that not everybody may open
FOR_CONTROL = ("runs", "system")  # of entries for operators of the operator tenant


def sections(asked: PageRequest) -> list[Section]:
    """Return the rail with the entry of this page marked."""
    here = asked.request.url.path.removeprefix(f"{CONSOLE}/").partition("/")[0]
    return [
        Section(
            label,
            tuple(
                Entry(path_of(name), word, icon, key, name == here)
                for name, word, icon, key in entries
                if _may_open(asked, name)
            ),
        )
        for label, entries in RAIL
        if any(_may_open(asked, name) for name, *_ in entries)
    ]


def bar(rail: Sequence[Section]) -> list[Entry]:
    """Return the entries of the bar at the bottom of phones; that of this page is one of them."""
    entries = [entry for section in rail for entry in section.entries]
    chosen = [entry for name in ON_PHONES for entry in entries if entry.path == path_of(name)]
    others = [entry for entry in entries if entry.is_current and entry not in chosen]
    return [*chosen[: len(ON_PHONES) - len(others)], *others]


def path_of(name: str) -> str:
    """Return the address that an entry opens."""
    return f"{CONSOLE}/{name}?{QUERIES[name]}" if name in QUERIES else f"{CONSOLE}/{name}"


def _may_open(asked: PageRequest, name: str) -> bool:
    return asked.may_control if name in FOR_CONTROL else asked.may(LEAST_ROLES.get(name, "viewer"))


def has_page(name: str) -> bool:
    """Return whether the rail has a page of this name."""
    return any(name == entry[0] for _, entries in RAIL for entry in entries)
