"""The columns of a file that can be imported, per noun: our word for each, what it holds, and what people call it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from scrapersky.core.contact_fields import CONTACT_FIELDS, IDENTITY_PREFIXES
from scrapersky.core.contact_fields import ImportColumn as Column
from scrapersky.core.errors import BadRequest, UnknownName
from scrapersky.extract.tabular.rows import TableRow
from scrapersky.extract.text import fold, single_line
from scrapersky.providers.file import rows as file_rows

MAX_VALUE_LENGTH = 2_048  # what indexes can hold
LAYOUTS_KEPT = 1_000  # a table has one; objects may each have their own

WEB = "website, web, site, web site, homepage, www, host"


class WrongMapping(BadRequest):
    """A column cannot be mapped like this."""


class NoUsableColumn(BadRequest):
    """None of the columns can be used."""


class TwoColumns(BadRequest):
    """Two columns of the file say the same."""


class UnknownNoun(UnknownName):
    """This noun cannot be imported."""


@dataclass(frozen=True)
class Layout:
    """Which columns of a row are read, as which field, and what is wrong with them."""

    fields: tuple[tuple[str, str], ...]  # column and field
    trouble: str = ""


def _contact_columns() -> dict[str, Column]:
    """Return the importable fields of a contact, those that identify it first."""
    columns = {each.name: each.imported for each in CONTACT_FIELDS if each.imported is not None}
    return {name: columns[name] for name in (*IDENTITY_PREFIXES, *columns)}


_MEANINGS = {
    "name": "name of the business; needed",
    "website": "address of its web site",
    "phone": "telephone number; with the country, national ones are understood",
    "email": "email addresses, separated by semicolons",
    "address": "postal address on one line",
    "street": "street and number",
    "city": "city",
    "region": "state, county or province",
    "postcode": "postal code",
    "country": "country, two letters",
    "latitude": "degrees north",
    "longitude": "degrees east",
    "category": "what kind of business it is, separated by semicolons",
    "rating": "rating",
    "rating_count": "number of ratings",
    "status": "whether it is open for business",
}

COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "places": {
        **{field: Column(meaning, file_rows.COLUMNS[field]) for field, meaning in _MEANINGS.items()},
        "provider": Column("who named the place; `import` if empty"),
        "provider_id": Column(
            "its id there; made from name, web site, phone and address if empty", "place id, id", "id"
        ),
    },
    "domains": {
        "domain": Column(
            "domain or address of the web site; needed", f"url, name, domain name, start url, {WEB}", "start url"
        ),
        "country": Column("country, two letters", "country code, land"),
    },
    "sitemaps": {
        "url": Column("address of the sitemap; needed", "sitemap, sitemap url, loc, link"),
        "domain": Column("the web site it belongs to; the one it lies on if empty", f"domain name, {WEB}"),
    },
    "pages": {
        "url": Column("address of the page; needed", "page, page url, loc, link, address"),
        "domain": Column("the web site it belongs to; the one it lies on if empty", f"domain name, {WEB}"),
        "title": Column("title of the page", "page title"),
    },
    "contacts": {
        **_contact_columns(),
        "domain": Column("the web site; that of the email address if empty", f"domain name, url, {WEB}"),
        "country": Column("country of national telephone numbers, two letters", "country code, land"),
        "source_url": Column("page it was found on", "source, source page, found on"),
    },
    "suppressions": {
        "email": Column("email address; one of the first four is needed", "e-mail, mail, email address"),
        "phone": Column("telephone number", "telephone, tel, phone number, mobile, telefon, puhelin"),
        "domain": Column(
            "domain, with all mail hosts under it; left aside where an email is given", "host, domain name"
        ),
        "value": Column("any of the three", "address, entry"),
        "country": Column("country of national telephone numbers, two letters", "country code, land"),
        "reason": Column("why", "note, comment"),
    },
}
# At least one of these must be there, or no row can be used.
NEEDED = {
    "places": ("name",),
    "domains": ("domain",),
    "sitemaps": ("url",),
    "pages": ("url",),
    "contacts": tuple(IDENTITY_PREFIXES),
    "suppressions": ("email", "phone", "domain", "value"),
}


class Fields:
    """Which field a column of this file is, by its name or by what somebody said about it."""

    def __init__(self, noun: str, mapping: Mapping[str, str] | None = None) -> None:
        columns = columns_of(noun)
        self._noun, self._mapping = noun, {_key(column): field for column, field in (mapping or {}).items()}
        for field in self._mapping.values():
            if field not in columns:
                raise WrongMapping(f"{field[:60]!r} is no field of {noun}; there are {', '.join(columns)}.")
        names = {_key(name): field for field, column in columns.items() for name in column.names.split(",")}
        self._names = {**names, **{_key(field): field for field in columns}}
        self._spares = {_key(column.spare) for column in columns.values() if column.spare}
        self._layout = lru_cache(LAYOUTS_KEPT)(self._lay_out)

    def check(self, written: Iterable[str]) -> None:
        """Refuse a file that lacks a mapped column, or all of those that a row needs."""
        columns = list(dict.fromkeys(written))
        known = {_key(column) for column in columns}
        shown = ", ".join(single_line(column, 40) for column in columns[:20])
        for column in self._mapping:
            if column not in known:
                raise WrongMapping(f"There is no column {column[:60]!r}; there are {shown}.")
        if not any(self._field(column) in NEEDED[self._noun] for column in columns):
            raise NoUsableColumn(
                f"{self._noun.capitalize()} need a column for {' or '.join(NEEDED[self._noun])}; "
                f"the first line names {shown}. Map one to it: COLUMN={NEEDED[self._noun][0]}."
            )

    def trouble(self, row: TableRow) -> str:
        """Which two columns of the row say the same, so that one of them would be lost; nothing if there are none."""
        return self._layout(tuple(row.values), row.twice).trouble

    def of(self, values: Mapping[str, str]) -> dict[str, str]:
        """The values by field, blank ones left out; ValueError for one that is too long."""
        found: dict[str, str] = {}
        for column, field in self._layout(tuple(values)).fields:
            if field in found or not (text := single_line(values[column], MAX_VALUE_LENGTH + 1)):
                continue
            if len(text) > MAX_VALUE_LENGTH:
                raise ValueError(f"{field} has more than {MAX_VALUE_LENGTH:,} characters")
            found[field] = text
        return found

    def _lay_out(self, columns: Sequence[str], twice: Sequence[str] = ()) -> Layout:
        """What is mapped goes before what is called so, and that before the spare names."""
        best: dict[str, list[str]] = {}
        for column in sorted(columns, key=self._rank):
            field = self._field(column)
            if field is not None and (field not in best or self._rank(column) == self._rank(best[field][0])):
                best.setdefault(field, []).append(column)
        troubles = [_same(field, [*named, *set(named).intersection(twice)]) for field, named in best.items()]
        fields = tuple((column, field) for field, named in best.items() for column in named)
        return Layout(fields, next(filter(None, troubles), ""))

    def _rank(self, column: str) -> int:
        key = _key(column)
        return 0 if key in self._mapping else 2 if key in self._spares else 1

    def _field(self, column: str) -> str | None:
        key = _key(column)
        return self._mapping.get(key) or self._names.get(key)


def _same(field: str, columns: Sequence[str]) -> str:
    if len(columns) < 2:
        return ""
    first, second, *_ = (f"{single_line(column, 40)!r}" for column in columns)
    if first == second:
        return f"two columns are called {first}; take one out, or give it another name"
    return f"{first} and {second} both say {field}; take one out, or map the right one: COLUMN={field}"


def columns_of(noun: str) -> Mapping[str, Column]:
    """The columns of a noun, or UnknownNoun."""
    if noun not in COLUMNS:
        raise UnknownNoun(f"{noun[:60]!r} is none of {', '.join(COLUMNS)}.")
    return COLUMNS[noun]


def read_mapping(written: Iterable[str]) -> dict[str, str]:
    """What `COLUMN=FIELD` says, each; WrongMapping for one that says nothing."""
    mapping = {}
    for pair in written:
        column, parted, field = pair.rpartition("=")
        if not (parted and column.strip() and field.strip()):
            raise WrongMapping(f"{pair[:60]!r} is not COLUMN=FIELD.")
        mapping[column.strip()] = field.strip().lower()
    return mapping


def _key(name: str) -> str:
    """Capitals, accents, blanks, underscores and hyphens do not matter."""
    return " ".join(fold(name[:200]).replace("_", " ").replace("-", " ").split())
