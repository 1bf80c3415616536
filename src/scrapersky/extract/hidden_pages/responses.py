"""Responses that tell by status, headers and the beginning of their body that a site hides from a plain reader."""

from collections.abc import Mapping
from functools import cache

from scrapersky.core.vocabularies import HiddenReason
from scrapersky.extract.hidden_pages.words import has_any, phrases
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table

BODY_STATUSES = frozenset({403, 429, 503})  # of which the beginning of the body is read
REFUSING_STATUSES = frozenset({403, 405, 406, 429})
MAX_MAINTENANCE_BODY = 20_000  # characters; a page that announces maintenance is short


def asks_for_bot_check(headers: Mapping[str, str]) -> bool:
    """Return whether a header says that the response is a bot check, whatever its status."""
    return _has_value(headers, "headers")


def hidden_by_response(status: int, headers: Mapping[str, str], body: bytes = b"") -> HiddenReason | None:
    """Return why a response without success hides the site; None for an ordinary error."""
    if status == 401:
        return HiddenReason.LOGIN
    if asks_for_bot_check(headers) or (status in REFUSING_STATUSES and _has_value(headers, "refusing_headers")):
        return HiddenReason.BOT_CHECK
    if status not in BODY_STATUSES or not body:
        return None
    html = body.decode("utf-8", "replace")
    if has_bot_check_mark(html.lower()) or has_any(fold(html), phrases("bot_check", "sentences.phrases")):
        return HiddenReason.BOT_CHECK
    is_maintenance = status == 503 and len(html) <= MAX_MAINTENANCE_BODY
    if is_maintenance and has_any(fold(html), phrases("unfinished", "phrases")):
        return HiddenReason.UNFINISHED
    return None


def has_bot_check_mark(html: str) -> bool:
    """Return whether the HTML, in lower case, has a part that is on bot checks only."""
    return any(mark in html for mark in _marks("marks"))


def has_weak_bot_check_mark(html: str) -> bool:
    """Return whether the HTML, in lower case, has a part of a bot check that ordinary pages may have, too."""
    return any(mark in html for mark in _marks("weak_marks"))


@cache
def _marks(key: str) -> tuple[str, ...]:
    return tuple(mark.lower() for mark in load_table("hidden")["bot_check"][key])


def _has_value(headers: Mapping[str, str], key: str) -> bool:
    """Return whether one of the headers has one of the values that mean a bot check."""
    for name, values in load_table("hidden")["bot_check"][key].items():
        given = headers.get(name)
        if given is not None and any(given.strip().lower().startswith(value) for value in values):
            return True
    return False
