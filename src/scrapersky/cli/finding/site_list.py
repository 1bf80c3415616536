"""A list of web sites from a file: one per line, or a table with a column for them."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Self

from scrapersky.actions.imports.column_mapping import ColumnMapping
from scrapersky.core.errors import BadRequest
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.tabular.lines import UnusableTable, read_lines
from scrapersky.extract.tabular.rows import DELIMITERS, Form, read_table

NAMED = 3  # sites that are listed in the name of a list
# The imports whose column names are recognised, in this order: in a list of places, `name` is the business.
COLUMNS = (("places", "website"), ("domains", "domain"))

Cells = tuple[int, list[str], str]  # line number, cells that may be a web site, why the line cannot be read


class BadSiteList(BadRequest):
    """The list of web sites cannot be used."""


@dataclass(frozen=True)
class SiteList:
    """The distinct web sites of a file, ordered by name, and the rejected lines."""

    found: tuple[CompanyDomain, ...]
    rejected: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a file. Raises BadSiteList if it cannot be read or has no web site."""
        found: dict[str, CompanyDomain] = {}
        rejected: list[str] = []
        try:
            for number, cells, problem in _cells(file):
                try:
                    site = _site(cells, problem)
                    found.setdefault(site.name, site)
                except InvalidWebsite as error:
                    rejected.append(f"line {number}: {error}")
        except OSError as error:
            raise BadSiteList(f"{file} cannot be read: {error.strerror}.") from None
        except UnusableTable as error:
            raise BadSiteList(f"{file} cannot be read: {error}") from None
        if not found:
            raise BadSiteList(f"{file} contains no web site; write one per line, such as example.com.")
        return cls(tuple(found[name] for name in sorted(found)), tuple(rejected))

    @property
    def name(self) -> str:
        """A name that depends on the sites alone: a file with the same sites in another order is the same search."""
        names = [site.name for site in self.found]
        shown = ", ".join(site.unicode_name for site in self.found[:NAMED]) + (", …" if len(names) > NAMED else "")
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
        return f"{len(names)} web site{'s' * (len(names) != 1)} ({shown}; {digest})"


def _cells(file: Path) -> Iterator[Cells]:
    """Read the column of web sites if the first line names one, else all cells of each line."""
    with file.open("rb") as stream:
        form: Form = "jsonl" if file.suffix.lower() in (".jsonl", ".ndjson") else "csv"
        columns = _columns(stream, form)
        stream.seek(0)
        for resource, field in COLUMNS:
            fields = ColumnMapping(resource)
            if any(field in fields.values_of({column: "x"}) for column in columns):
                for row in read_table(stream, form):
                    yield row.line, [fields.values_of(row.values).get(field, "")], row.error
                return
        for line in read_lines(stream):
            if line.text.strip() or line.error:
                yield line.number, _split(line.text), line.error


def _columns(stream: BinaryIO, form: Form) -> list[str]:
    """Return the cells of the first line, or the keys of the first object."""
    if form == "jsonl":
        return [name for row in islice(read_table(stream, form), 1) for name in row.values]
    return _split(next((line.text for line in read_lines(stream) if line.text.strip()), ""))


def _split(line: str) -> list[str]:
    """Split a line into cells without CSV quoting: an unbalanced quote must not swallow the following lines."""
    delimiter = max(DELIMITERS, key=line.count)
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _site(cells: Iterable[str], problem: str) -> CompanyDomain:
    """Return the first web site of a line. Raises InvalidWebsite with the problem of the line or of its first cell."""
    if problem:
        raise InvalidWebsite(problem)
    error = InvalidWebsite("It is empty.")
    for position, cell in enumerate(cells):
        try:
            website = parse_website(cell)
        except InvalidWebsite as invalid:
            error = error if position else invalid
            continue
        if isinstance(website, CompanyDomain):
            return website
        raise InvalidWebsite(f"a page on {website.platform} is not a web site of its own")
    raise error
