"""Asking for a password: without echo from a person, one line from a script; never as an argument, which others see."""

import getpass
import sys

from scrapersky.core.errors import BadRequest
from scrapersky.core.passwords import MAX_LENGTH, MIN_LENGTH


class BadPassword(BadRequest):
    """The password does not do."""


def ask_password(name: str) -> str:
    """A new password for somebody, twice the same from a terminal."""
    if sys.stdin.isatty():
        given = getpass.getpass(f"Password for {name}: ")
        if getpass.getpass("Once more: ") != given:
            raise BadPassword("The two are not the same.")
    else:
        given = sys.stdin.readline(MAX_LENGTH + 2).rstrip("\r\n")
    if not MIN_LENGTH <= len(given) <= MAX_LENGTH or not given.isprintable():
        raise BadPassword(f"It needs {MIN_LENGTH} to {MAX_LENGTH:,} characters that can be printed.")
    return given
