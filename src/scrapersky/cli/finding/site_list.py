"""A list of web sites from a file: one per line, or a table with a column for them and columns of the user's own."""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Self

from scrapersky.actions.imports.column_mapping import ColumnMapping
from scrapersky.core.errors import BadRequest
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.tabular.lines import UnusableTable, read_entries, read_lines
from scrapersky.extract.tabular.rows import DELIMITERS, TableRow, read_json, read_table
from scrapersky.extract.tabular.workbook import read_workbook
from scrapersky.extract.text import single_line

NAMED = 3  # sites that are listed in the name of a list
SHOWN = 80  # characters of a rejected value
FIRST_ROWS = 50  # of a workbook or of objects, whose columns are looked at
BETWEEN = "; "  # the values of several lines of one site
# The imports whose column names are recognised, in this order: in a list of places, `name` is the business.
COLUMNS = (("places", "website"), ("domains", "domain"))


class BadSiteList(BadRequest):
    """The list of web sites cannot be used."""


@dataclass(frozen=True)
class ListedLine:
    """A line of a list: the cells that may be a web site, all cells by column, why it cannot be read."""

    number: int
    sites: list[str]
    values: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    text: str = ""  # as it was written, if it cannot be read


@dataclass(frozen=True)
class SiteList:
    """The distinct web sites of a file, ordered by name, the rejected lines, and the columns of a table."""

    found: tuple[CompanyDomain, ...]
    rejected: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # of the table, in their order; none of a list without names of columns
    cells: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of a site, by its name and the column

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a file. Raises BadSiteList if it cannot be read or has no web site."""
        found: dict[str, CompanyDomain] = {}
        cells: dict[str, dict[str, str]] = {}
        columns: dict[str, None] = {}
        rejected: list[str] = []
        try:
            for line in _lines(file):
                columns |= dict.fromkeys(line.values)
                try:
                    site = _site(line)
                except InvalidWebsite as error:
                    rejected.append(_rejection(line, error))
                    continue
                found.setdefault(site.name, site)
                _add(cells.setdefault(site.name, {}), line.values)
        except OSError as error:
            raise BadSiteList(f"{file} cannot be read: {error.strerror or error}.") from None
        except UnusableTable as error:
            raise BadSiteList(f"{file} cannot be read: {error}") from None
        if not found:
            first = f" The first of its lines, {rejected[0]}" if rejected else ""
            raise BadSiteList(f"{file} contains no web site; write one per line, such as example.com.{first}")
        return cls(tuple(found[name] for name in sorted(found)), tuple(rejected), tuple(columns), cells)

    @property
    def name(self) -> str:
        """A name that depends on the sites alone: a file with the same sites in another order is the same search."""
        names = [site.name for site in self.found]
        shown = ", ".join(site.unicode_name for site in self.found[:NAMED]) + (", …" if len(names) > NAMED else "")
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
        return f"{len(names)} web site{'s' * (len(names) != 1)} ({shown}; {digest})"


def _lines(file: Path) -> Iterator[ListedLine]:
    """Read the column of web sites if the first line names one, else all cells of each line."""
    suffix = file.suffix.lower()
    with file.open("rb") as opened, TemporaryFile() as copy:
        stream = opened if opened.seekable() else copy
        if stream is copy:  # a pipe is read once: <(grep fi sites.txt)
            shutil.copyfileobj(opened, copy)
            copy.seek(0)
        columns = _columns(stream, suffix)
        stream.seek(0)
        for resource, site in COLUMNS:
            mapping = ColumnMapping(resource)
            if site in mapping.fields_of(columns).values():
                for row in _rows(stream, suffix):
                    found = mapping.values_of(row.values).get(site, "")
                    yield ListedLine(row.line, [found], row.values, row.error, row.text)
                return
        if suffix in (".xlsx", ".json"):
            raise UnusableTable(f"No column is named website, url or domain; there are {', '.join(columns) or 'none'}.")
        for line in read_entries(stream):
            yield ListedLine(line.number, _split(line.text), error=line.error)


def _rows(stream: BinaryIO, suffix: str) -> Iterator[TableRow]:
    if suffix == ".xlsx":
        return read_workbook(stream)
    if suffix == ".json":
        return read_json(stream)
    return read_table(stream, "jsonl" if suffix in (".jsonl", ".ndjson") else "csv")


def _columns(stream: BinaryIO, suffix: str) -> list[str]:
    """Return the cells of the first line, or the columns of the first rows of a workbook or of objects."""
    if suffix in (".xlsx", ".json", ".jsonl", ".ndjson"):
        first = islice(_rows(stream, suffix), FIRST_ROWS)
        return list(dict.fromkeys(column for row in first for column in row.values))
    return _split(next((line.text for line in read_lines(stream) if line.text.strip()), ""))


def _split(line: str) -> list[str]:
    """Split a line into cells without CSV quoting: an unbalanced quote must not swallow the following lines."""
    delimiter = max(DELIMITERS, key=line.count)
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _site(line: ListedLine) -> CompanyDomain:
    """Return the first web site of a line. Raises InvalidWebsite with the problem of the line or of its first cell."""
    if line.error:
        raise InvalidWebsite(f"It {line.error}.")
    error = InvalidWebsite("It is empty.")
    for position, cell in enumerate(line.sites):
        try:
            website = parse_website(cell)
        except InvalidWebsite as invalid:
            error = error if position else invalid
            continue
        if isinstance(website, CompanyDomain):
            return website
        raise InvalidWebsite(f"A page on {website.platform} is not a web site of its own.")
    raise error


def _rejection(line: ListedLine, error: InvalidWebsite) -> str:
    """Return the number of a line, its value or, if it has none, its other cells, and why it is not used."""
    words = next(filter(None, (*line.sites, line.text, ", ".join(filter(None, line.values.values())))), "")
    shown = f" {single_line(words, SHOWN)!r}:" if words else ""
    return f"line {line.number}:{shown} {error}"


def _add(known: dict[str, str], values: Mapping[str, str]) -> None:
    """Add the cells of a line of the same site: different values of a column are all kept."""
    for column, value in values.items():
        if value and value not in (before := known.get(column, "")).split(BETWEEN):
            known[column] = f"{before}{BETWEEN}{value}" if before else value
