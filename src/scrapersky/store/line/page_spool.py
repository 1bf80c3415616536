"""A buffer for the pages of a sitemap between reading and storing; it moves to disk when it gets large."""

import json
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

BYTES_IN_MEMORY = 262_144  # shorter lists, which are most, need no file


class PageRow(NamedTuple):
    """A page as a sitemap lists it, with the kind that its URL suggests."""

    url: str
    kind: str
    score: float
    reason: str
    last_modified: str | None


class Spool:
    """The pages in the order in which they were added, one line of JSON each."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(BYTES_IN_MEMORY)  # noqa: SIM115 - lives as long as the spool does
        self.count = 0

    def add(self, page: PageRow) -> None:
        """Append a page."""
        self._file.write(json.dumps(page).encode() + b"\n")
        self.count += 1

    def __iter__(self) -> Iterator[PageRow]:
        self._file.seek(0)
        return (PageRow(*json.loads(line)) for line in self._file)
