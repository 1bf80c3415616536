"""What must not be read in a log: secrets of ours and of others, people's addresses, and signs that forge a line."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from pydantic import SecretStr

from scrapersky.core.settings import Settings

MASK = "********"
SHORTEST = 6  # a shorter secret would black out ordinary words, and guards nothing
LONGEST = 20_000  # characters of one value that are looked at and kept
DEEPEST = 6  # levels of a value

SECRET_NAMES = re.compile(r"authorization|cookie|passw|secret|token|api_?key|credential|database_url", re.IGNORECASE)
# A name that says it, then a sign, then what it is; also in JSON, in a query and in a header.
SAID = re.compile(
    r"((?:authorization|cookie|password|passwd|secret|token|api[-_]?key|[?&]key)[\"']?\s{0,3}[=:]\s{0,3}[\"']?"
    r"(?:bearer\s{1,3}|basic\s{1,3})?)([^\s\"',;&}\])]{1,5000})",
    re.IGNORECASE,
)
IN_URL = re.compile(r"([a-z][a-z0-9+.-]{1,30}://[^\s/:@\"']{0,200}:)[^\s/@\"']{1,1000}@", re.IGNORECASE)
BEARER = re.compile(r"\b(bearer\s{1,3})[\w.~+/=-]{8,5000}", re.IGNORECASE)
SHAPED = re.compile(
    r"\b(?:eyJ[\w-]{5,5000}\.[\w-]{2,5000}(?:\.[\w-]{0,5000})?|AIza[\w-]{30,50}|ssk_[\w-]{8,200}|sk-[\w-]{16,200})"
)
EMAIL = re.compile(r"(?<![\w.+%-])(\w)[\w.+%-]{0,63}@([\w-]{1,63}(?:\.[\w-]{1,63}){1,6})")
# Controls, line and paragraph separators, and signs that turn the direction of what follows.
FORGING = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
FORGING_IN_A_STACK = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

Mask = Callable[[str], str]


def masker(settings: Settings) -> Mask:
    """What turns text into text without secrets: those of the settings wherever they stand, others by their looks."""
    secrets = sorted(_secrets(settings), key=len, reverse=True)
    known = re.compile("|".join(map(re.escape, secrets))) if secrets else None

    def mask(text: str) -> str:
        text = text[:LONGEST]
        if known is not None:
            text = known.sub(MASK, text)
        text = IN_URL.sub(rf"\1{MASK}@", text)
        text = BEARER.sub(rf"\1{MASK}", text)
        text = SAID.sub(rf"\1{MASK}", text)
        return SHAPED.sub(MASK, text)

    return mask


def shorten_addresses(text: str) -> str:
    """a…@example.com: enough to see whose server it was, not who."""
    return EMAIL.sub(r"\1…@\2", text) if "@" in text else text


def escape_forging(text: str, *, is_stack: bool = False) -> str:
    """Signs that would begin another line, or colour or turn this one, in letters; a stack keeps its lines."""
    return (FORGING_IN_A_STACK if is_stack else FORGING).sub(lambda found: ascii(found[0])[1:-1], text)


def everywhere(value: Any, change: Mask, depth: int = 0) -> Any:
    """The same value with every text in it changed; what a secret's name stands before is masked whole."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, bytes):
        return change(value[:LONGEST].decode(errors="replace"))
    if depth >= DEEPEST or value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {name: _member(str(name), held, change, depth) for name, held in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [everywhere(held, change, depth + 1) for held in value]
    return change(str(value))  # a UUID, a path, an error: as it would have been written


def _member(name: str, value: Any, change: Mask, depth: int) -> Any:
    if SECRET_NAMES.search(name) and isinstance(value, str | bytes | SecretStr) and value:
        return MASK
    return everywhere(value, change, depth + 1)


def _secrets(settings: Settings) -> Iterable[str]:
    """Each secret, the password in it if it is a URL, and both as they look in a URL."""
    found: set[str] = set()
    for name in type(settings).model_fields:
        held = getattr(settings, name)
        if isinstance(held, SecretStr):
            value = held.get_secret_value()
            found |= {value, *_passwords(value)}
    return {
        text for secret in found for text in (secret, quote(secret, safe=""), unquote(secret)) if len(text) >= SHORTEST
    }


def _passwords(url: str) -> Iterable[str]:
    try:
        return {word for word in (urlsplit(url).password,) if word}
    except ValueError:
        return ()
