"""Redaction of log values: secrets, email addresses, and characters that could forge a line."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from pydantic import SecretStr

from scrapersky.core.settings import Settings

MASK = "********"
MIN_SECRET_LENGTH = 6  # a shorter secret would mask ordinary words
MAX_VALUE_LENGTH = 20_000  # characters of one value that are kept
MAX_DEPTH = 6  # levels of a nested value

SECRET_NAMES = re.compile(r"authorization|cookie|passw|secret|token|api_?key|credential|database_url", re.IGNORECASE)
# The name of a secret, a separator and its value; also in JSON, in a query and in a header.
NAMED_SECRET = re.compile(
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
# Control characters, line and paragraph separators, and characters that change the text direction.
FORGING = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
FORGING_IN_A_STACK = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

Mask = Callable[[str], str]


def redactor(settings: Settings) -> Mask:
    """Return a function that masks secrets in text: those of the settings by value, others by their form."""
    secrets = sorted(_secrets(settings), key=len, reverse=True)
    known = re.compile("|".join(map(re.escape, secrets))) if secrets else None

    def mask(text: str) -> str:
        text = text[:MAX_VALUE_LENGTH]
        if known is not None:
            text = known.sub(MASK, text)
        text = IN_URL.sub(rf"\1{MASK}@", text)
        text = BEARER.sub(rf"\1{MASK}", text)
        text = NAMED_SECRET.sub(rf"\1{MASK}", text)
        return SHAPED.sub(MASK, text)

    return mask


def shorten_addresses(text: str) -> str:
    """Shorten email addresses to a…@example.com: the host stays visible, the person does not."""
    return EMAIL.sub(r"\1…@\2", text) if "@" in text else text


def escape_forging(text: str, *, is_stack: bool = False) -> str:
    """Escape characters that could start, colour or reverse a line; a stack trace keeps its line breaks."""
    return (FORGING_IN_A_STACK if is_stack else FORGING).sub(lambda found: ascii(found[0])[1:-1], text)


def map_texts(value: Any, change: Mask, depth: int = 0) -> Any:
    """Apply `change` to every text in a value; the value of a key that names a secret is masked entirely."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, bytes):
        return change(value[:MAX_VALUE_LENGTH].decode(errors="replace"))
    if depth >= MAX_DEPTH or value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {name: _member(str(name), held, change, depth) for name, held in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [map_texts(held, change, depth + 1) for held in value]
    return change(str(value))  # a UUID, a path, an error: its text


def _member(name: str, value: Any, change: Mask, depth: int) -> Any:
    if SECRET_NAMES.search(name) and isinstance(value, str | bytes | SecretStr) and value:
        return MASK
    return map_texts(value, change, depth + 1)


def _secrets(settings: Settings) -> Iterable[str]:
    """Return each secret, the password in it if it is a URL, and both in URL encoding."""
    found: set[str] = set()
    for name in type(settings).model_fields:
        held = getattr(settings, name)
        if isinstance(held, SecretStr):
            value = held.get_secret_value()
            found |= {value, *_passwords(value)}
    return {
        text
        for secret in found
        for text in (secret, quote(secret, safe=""), unquote(secret))
        if len(text) >= MIN_SECRET_LENGTH
    }


def _passwords(url: str) -> Iterable[str]:
    try:
        return {word for word in (urlsplit(url).password,) if word}
    except ValueError:
        return ()
