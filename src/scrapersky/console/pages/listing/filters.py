"""The filters of a list: their names in words, the chips of those that are set, and the menu of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from scrapersky.console.columns import GRIDS
from scrapersky.console.draw.words import search_name
from scrapersky.console.gates import PageRequest
from scrapersky.console.language import gettext, mark
from scrapersky.core.errors import UnknownName
from scrapersky.store.listing import counts, paginate
from scrapersky.store.listing import resources as nouns
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import Resource
from scrapersky.store.steps import DELIVERY, STEPS

# Filters that hold the id of another row: the noun whose label a chip shows.
REFERENCES = {
    "search_id": nouns.SEARCHES,
    "new_of_search": nouns.SEARCHES,
    "domain_id": nouns.DOMAINS,
    "business_id": nouns.BUSINESSES,
    "sitemap_id": nouns.SITEMAPS,
    "page_id": nouns.PAGES,
    "destination_id": nouns.DESTINATIONS,
    "contact_id": nouns.CONTACTS,
}
# Set by links; they have no menu.
OF_LINKS = (
    *REFERENCES,
    "box",
    "updated_since",
    "created_since",
    "undecided",
    *(f"{step.queue}_error" for step in (*STEPS, DELIVERY)),
)
LABELS = {
    "created_since": "found since",
    "search_id": "search",
    "domain_id": "domain",
    "business_id": "business",
    "sitemap_id": "sitemap",
    "page_id": "page",
    "destination_id": "destination",
    "contact_id": "contact",
    "curation_status": "decision",
    "text": "begins with",
    "email": "email begins with",
    "has_name_or_email": "kind",
    "new_of_search": "new in the latest run of search",
    "email_kind": "kind of address",
    "updated_since": "changed since",
    "min_rating": "rating at least",
    "undecided": "waits for a decision before",
    **{f"{step.queue}_error": f"{step.queue.replace('_', ' ')}, why" for step in STEPS},
    **{one.field: one.label for grid in GRIDS.values() for one in grid.columns if one.kind == "status"},
}

# Values in words, where they are more than yes and no.
WORDS = {
    ("has_name_or_email", "true"): mark("people and mailboxes"),
    ("has_name_or_email", "false"): mark("other facts"),
}

Fields = Sequence[tuple[str, str]]  # of an address


@dataclass(frozen=True)
class Chip:
    """A filter that is set, and the address of the list without it."""

    name: str
    label: str
    value: str
    without: str
    has_menu: bool


@dataclass(frozen=True)
class Choice:
    """A value of a filter: the address that sets it or takes it back, and how many rows have it."""

    word: str
    address: str
    is_set: bool
    rows: int
    more: bool


@dataclass(frozen=True)
class FilterMenu:
    """The menu of one filter: its values with their counts, or a field for free text."""

    name: str
    label: str
    choices: Sequence[Choice]
    value: str
    others: Fields  # the fields of the address that the form keeps
    hint: str = ""  # what the field takes
    is_day: bool = False


def chips(resource: Resource, fields: Fields, base: str, names: Mapping[str, str]) -> list[Chip]:
    """Return one chip per filter that is set, in the order of the address."""
    values: dict[str, list[str]] = {}
    for name, value in fields:
        if name in resource.filters:
            values.setdefault(name, []).append(names.get(name) or gettext(_word(name, value) or value))
    return [
        Chip(name, label_of(name), ", ".join(words), address(base, _without(fields, name)), name not in OF_LINKS)
        for name, words in values.items()
    ]


def unset(resource: Resource, fields: Fields) -> list[tuple[str, str]]:
    """Return the names and labels of the filters that can be added."""
    used = {name for name, _ in fields}
    return [(name, label_of(name)) for name in resource.filters if name not in used and name not in OF_LINKS]


async def menu(
    asked: PageRequest, resource: Resource, name: str, fields: Fields, base: str, filters: Filters
) -> FilterMenu:
    """Return the menu of a filter; the counts regard all other filters. Raises UnknownName."""
    if name not in resource.filters or name in OF_LINKS:
        raise UnknownName(gettext("%(name)s has no menu in this list.") % {"name": ascii(name[:60])})
    given = [value for each, value in fields if each == name]
    others = _without(fields, name)
    if name not in counts.countable(resource):
        hint, value = resource.filters[name].description, given[0] if given else ""
        return FilterMenu(name, label_of(name), (), value, others, hint, name.endswith("_since"))
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        counted = await counts.by_value(session, resource, asked.actor.tenant_id, name, filters, unmerged=True)
    found = []
    for each in counted:
        value = str(each.value).lower() if isinstance(each.value, bool) else each.value
        is_set = value in given
        kept = [one for one in given if one != value] if resource.filters[name].several else []
        chosen = kept if is_set else [*kept, value]
        path = address(base, [*others, *((name, one) for one in chosen)])
        found.append(Choice(word_of(name, value), path, is_set, each.rows, each.more))
    return FilterMenu(name, label_of(name), found, "", others)


async def reference_names(asked: PageRequest, fields: Fields) -> dict[str, str]:
    """Return the label of each row that a filter names by its id."""
    ids = {name: value for name, value in fields if name in REFERENCES}
    names: dict[str, str] = {}
    if not ids:
        return names
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        for name, row_id in ids.items():
            resource = REFERENCES[name]
            row = await paginate.get(session, resource, asked.actor.tenant_id, id_of(row_id))
            names[name] = search_name(row) if resource is nouns.SEARCHES else str(getattr(row, resource.label))
    return names


def id_of(text: str) -> UUID:
    """Read an id of the address. Raises UnknownName."""
    try:
        return UUID(text)
    except ValueError:
        raise UnknownName(gettext("The address holds something that is not an id of a row.")) from None


def address(base: str, fields: Fields) -> str:
    """Return the path with its query."""
    return f"{base}?{urlencode(fields)}" if fields else base


def _without(fields: Fields, name: str) -> list[tuple[str, str]]:
    return [(other, value) for other, value in fields if other != name]


def label_of(name: str) -> str:
    """Return a filter's name in words."""
    return LABELS.get(name, name.removesuffix("_status").replace("_", " "))


def word_of(name: str, value: str) -> str:
    """Return a value of the vocabulary of a filter in words."""
    return _word(name, value) or value.replace("_", " ")


def _word(name: str, value: str) -> str | None:
    return WORDS.get((name, value)) or {"true": mark("yes"), "false": mark("no")}.get(value)
