"""Arguments that need parsing or a prompt: ids of rows, passwords and other secrets."""

import getpass
import sys
from collections.abc import Iterable
from uuid import UUID

from scrapersky.core.errors import BadRequest


class BadId(BadRequest):
    """An id is invalid."""


class BadPassword(BadRequest):
    """The password is not acceptable."""


def parse_ids(words: Iterable[str] | None) -> list[UUID]:
    """Return the ids. Raises BadId for the first word that is not an id."""
    ids = []
    for word in words or ():
        try:
            ids.append(UUID(word))
        except ValueError:
            raise BadId(f"{word!r} does not look like 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa.") from None
    return ids


def prompt_password(name: str) -> str:
    """Read a new password: twice without echo on a terminal, else one line of standard input. Raises BadPassword."""
    from scrapersky.core.secrets.passwords import MAX_LENGTH, MIN_LENGTH

    given = prompt_secret(f"Password for {name}: ", MAX_LENGTH)
    if sys.stdin.isatty() and getpass.getpass("Repeat it: ") != given:
        raise BadPassword("The two passwords differ.")
    if not MIN_LENGTH <= len(given) <= MAX_LENGTH or not given.isprintable():
        raise BadPassword(f"It needs {MIN_LENGTH} to {MAX_LENGTH:,} printable characters.")
    return given


def prompt_secret(prompt: str, max_length: int) -> str:
    """Read a secret without echo on a terminal, else one line of standard input. Other users can read arguments."""
    if sys.stdin.isatty():
        return getpass.getpass(prompt)
    return sys.stdin.readline(max_length + 2).rstrip("\r\n")
