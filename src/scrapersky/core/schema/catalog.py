"""The catalog of the schema: what the migrations made, in lines that can be compared, and its fingerprint."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, text

QUERY = text((Path(__file__).parent / "catalog.sql").read_text(encoding="utf-8"))
FILE_NAME = "catalog.txt"  # in the folder of the migrations
HEADER = "-- The schema of revision {revision}, written by `make schema` for the check at the start. Do not edit.\n"
MAX_NAMED = 5
AFTER_TYPE = re.compile(" not null| generated| identity| default ")


@dataclass(frozen=True)
class SchemaCatalog:
    """The lines of the schema of one revision, such as `table contact: column email text`."""

    revision: str
    lines: frozenset[str]

    @classmethod
    def read(cls, folder: Path) -> "SchemaCatalog":
        """Read the catalog that was written for the newest revision."""
        header, *lines = (folder / FILE_NAME).read_text(encoding="utf-8").splitlines()
        return cls(header.split()[5].rstrip(","), frozenset(lines))

    @property
    def text(self) -> str:
        """The content of the file."""
        return HEADER.format(revision=self.revision) + "".join(f"{line}\n" for line in sorted(self.lines))

    @property
    def objects(self) -> list[str]:
        """The tables, indexes, sequences and functions; a database may have others beside them."""
        return sorted({line.partition(": ")[0] for line in self.lines})

    @property
    def fingerprint(self) -> str:
        """The hash of all lines, as the query computes it."""
        return sha256("\n".join(sorted(self.lines)).encode()).hexdigest()

    def differences(self, connection: Connection) -> list[str]:
        """Return what the database has otherwise, as sentences; one query if there is nothing."""
        values = {"objects": self.objects, "fingerprint": self.fingerprint}
        found: str | None = connection.scalar(QUERY, values)
        return _compare(self.lines, frozenset(found.splitlines())) if found is not None else []

    def missing_columns(self, connection: Connection) -> list[str]:
        """Return the columns that a newer schema lacks or has with another type."""
        return sorted(columns_of(self.lines) - columns_of(read_lines(connection)))


def columns_of(lines: Iterable[str]) -> set[str]:
    """Return the columns with their types, such as `table contact: column email text`."""
    return {AFTER_TYPE.split(line)[0] for line in lines if ": column " in line}


def read_lines(connection: Connection) -> frozenset[str]:
    """Return the lines of everything in the schema of the connection."""
    return frozenset((connection.scalar(QUERY, {"objects": None, "fingerprint": ""}) or "").splitlines())


def name_some(differences: list[str]) -> str:
    """Return the first differences as one text, and how many more there are."""
    more = len(differences) - MAX_NAMED
    return "; ".join(differences[:MAX_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _compare(expected: Iterable[str], found: Iterable[str]) -> list[str]:
    missing, unexpected = set(expected) - set(found), set(found) - set(expected)
    return [*(f"missing: {line}" for line in sorted(missing)), *(f"unexpected: {line}" for line in sorted(unexpected))]
