"""A list of web sites one already has: read from a file as people write such files, and known by what is in it."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Self

from scrapersky.actions.imports.columns import Fields
from scrapersky.core.errors import BadRequest
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.tabular.rows import DELIMITERS, Form, UnusableTable, read_lines, read_table

NAMED = 3  # sites that stand in the name of a list
# Where a column of a list is looked up: `name` is the business where there is a column for its web site.
COLUMNS = (("places", "website"), ("domains", "domain"))

Cells = tuple[int, list[str], str]  # the number of a line, what may be a web site in it, why it cannot be read


class NoSuchList(BadRequest):
    """The list of web sites cannot be used."""


@dataclass(frozen=True)
class Sites:
    """Every web site of a list once, by name, and the lines that are none."""

    found: tuple[CompanyDomain, ...]
    refused: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path) -> Self:
        """The sites of a file; NoSuchList if there are none."""
        found: dict[str, CompanyDomain] = {}
        refused: list[str] = []
        try:
            for number, cells, trouble in _cells(file):
                try:
                    site = _site(cells, trouble)
                    found.setdefault(site.name, site)
                except InvalidWebsite as error:
                    refused.append(f"line {number}: {error}")
        except OSError as error:
            raise NoSuchList(f"{file} cannot be read: {error.strerror}.") from None
        except UnusableTable as error:
            raise NoSuchList(f"{file} cannot be read: {error}") from None
        if not found:
            raise NoSuchList(f"{file} has no web site in it; write one a line, such as example.com.")
        return cls(tuple(found[name] for name in sorted(found)), tuple(refused))

    @property
    def name(self) -> str:
        """The same sites have the same name, whatever the file is called and in whatever order they stand."""
        names = [site.name for site in self.found]
        shown = ", ".join(site.unicode_name for site in self.found[:NAMED]) + (", …" if len(names) > NAMED else "")
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
        return f"{len(names)} web site{'s' * (len(names) != 1)} ({shown}; {digest})"


def _cells(file: Path) -> Iterator[Cells]:
    """By the names of the columns where the first line has them, else whatever stands in each line."""
    with file.open("rb") as stream:
        form: Form = "jsonl" if file.suffix.lower() in (".jsonl", ".ndjson") else "csv"
        columns = _columns(stream, form)
        stream.seek(0)
        for noun, field in COLUMNS:
            fields = Fields(noun)
            if any(field in fields.of({column: "x"}) for column in columns):
                for row in read_table(stream, form):
                    yield row.line, [fields.of(row.values).get(field, "")], row.trouble
                return
        for line in read_lines(stream):
            if line.text.strip() or line.trouble:
                yield line.number, _split(line.text), line.trouble


def _columns(stream: BinaryIO, form: Form) -> list[str]:
    """What the first line names, or the first object."""
    if form == "jsonl":
        return [name for row in islice(read_table(stream, form), 1) for name in row.values]
    return _split(next((line.text for line in read_lines(stream) if line.text.strip()), ""))


def _split(line: str) -> list[str]:
    """The cells of a line; a lone apostrophe or quote is no reason to lose it."""
    delimiter = max(DELIMITERS, key=line.count)
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _site(cells: Iterable[str], trouble: str) -> CompanyDomain:
    """The first web site of a line; NoWebAddress with what is wrong with it, or with its first cell."""
    if trouble:
        raise InvalidWebsite(trouble)
    why = InvalidWebsite("There is none.")
    for place, cell in enumerate(cells):
        try:
            where = parse_website(cell)
            if isinstance(where, CompanyDomain):
                return where
            why = InvalidWebsite(f"a page on {where.platform} is nobody's own web site")
            break
        except InvalidWebsite as error:
            why = error if not place else why
    raise why
