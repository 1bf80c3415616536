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


RAIL: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    ("Work", (("line", "Line", "line"), ("searches", "Searches", "search"), ("map", "Map", "map"))),
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
    (
        "Out",
        (
            ("deliveries", "Deliveries", "send"),
            ("destinations", "Destinations", "plug"),
            ("files", "Files", "download"),
            ("import", "Import", "upload"),
        ),
    ),
    (
        "Operate",
        (
            ("queues", "Queues", "queue"),
            ("dead-letters", "Dead letters", "alert"),
            ("runs", "Runs", "clock"),
            ("jobs", "Jobs", "check"),
        ),
    ),
    (
        "Admin",
        (
            ("people", "People", "people"),
            ("privacy", "Privacy", "shield"),
            ("audit", "Audit", "list"),
            ("system", "System", "gear"),
        ),
    ),
)
LEAST_ROLES = {"import": "operator", "people": "admin", "audit": "admin"}  # of entries that not everybody may open
FOR_CONTROL = ("runs", "system")  # of entries for operators of the operator tenant


def sections(asked: PageRequest) -> list[Section]:
    """Return the rail with the entry of this page marked."""
    here = asked.request.url.path.removeprefix(f"{CONSOLE}/").partition("/")[0]
    return [
        Section(
            label,
            tuple(
                Entry(f"{CONSOLE}/{name}", word, icon, name == here)
                for name, word, icon in entries
                if _may_open(asked, name)
            ),
        )
        for label, entries in RAIL
        if any(_may_open(asked, name) for name, _, _ in entries)
    ]


def _may_open(asked: PageRequest, name: str) -> bool:
    return asked.may_control if name in FOR_CONTROL else asked.may(LEAST_ROLES.get(name, "viewer"))


def has_page(name: str) -> bool:
    """Return whether the rail has a page of this name."""
    return any(name == entry[0] for _, entries in RAIL for entry in entries)
