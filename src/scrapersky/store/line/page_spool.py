"""Pages between reading a list and storing it: kept on disk once they are many, so that memory does not grow."""

import json
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

BYTES_IN_MEMORY = 262_144  # most lists are short: no file is made for them


class PageRow(NamedTuple):
    """A page as a list names it, with the kind its address tells."""

    url: str
    kind: str
    score: float
    reason: str
    last_modified: str | None


class Spool:
    """A line for each page, in the order in which they came."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(BYTES_IN_MEMORY)  # noqa: SIM115 - lives as long as the spool does
        self.count = 0

    def add(self, page: PageRow) -> None:
        """Append one."""
        self._file.write(json.dumps(page).encode() + b"\n")
        self.count += 1

    def __iter__(self) -> Iterator[PageRow]:
        self._file.seek(0)
        return (PageRow(*json.loads(line)) for line in self._file)
