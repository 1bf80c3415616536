"""Values in words: times, numbers, durations, links to pages of crawled sites."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from scrapersky.console.language import gettext as _
from scrapersky.core.vocabularies import CAMPAIGN

MAX_SHOWN = 300  # characters of a text in a grid
WEB = ("http", "https")
_DIGEST = re.compile(r"; [0-9a-f]{12}\)$")  # in the text of a campaign, for programs
LAST_DIGITS = 6  # of a number, by which it is recognized in a text


def when(moment: datetime | None) -> Markup | str:
    """Return a `<time>`: the day and time in UTC, which a module turns into “2 min ago”."""
    if moment is None:
        return "–"
    exact = moment.astimezone(UTC)
    text = f"{exact.day} {exact:%b %H:%M}" if exact.year == datetime.now(UTC).year else f"{exact.day} {exact:%b %Y}"
    return Markup('<time datetime="{}">{}</time>').format(exact.strftime("%Y-%m-%dT%H:%M:%SZ"), text)


def number(value: float | None) -> str:
    """Return a number with its thousands separated."""
    if value is None:
        return "–"
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def duration(seconds: float | None) -> str:
    """Return a duration in its largest sensible unit."""
    if seconds is None:
        return "–"
    for limit, size, unit in ((1, 0.001, "ms"), (90, 1, "s"), (5_400, 60, "min"), (129_600, 3_600, "h")):
        if seconds < limit:
            return f"{seconds / size:,.0f} {unit}" if unit != "s" else f"{seconds:.3g} s"
    return f"{seconds / 86_400:,.0f} d"


def cut(text: Any, length: int = MAX_SHOWN) -> str:
    """Return a text that is not longer than a grid shows."""
    plain = str(text)
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"


def search_name(search: Any) -> str:
    """Return what a search or a campaign is called: the name that a person gave it, else what and where."""
    if search.name:
        return str(search.name)
    if search.provider == CAMPAIGN:
        return _DIGEST.sub(")", search.text)
    return _("%(what)s in %(where)s") % {"what": search.text, "where": search.area} if search.area else str(search.text)


def moment(text: str) -> datetime | None:
    """Return the time that a text of ours is, as JSON holds it; None for any other text."""
    try:
        found = datetime.fromisoformat(text) if "T" in text[:11] else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def web_address(url: str | None) -> str | None:
    """Return the URL if it may become a link: http or https with a host. Crawled text may hold any scheme."""
    if not url or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme.lower() in WEB and parts.hostname else None


def host_of(url: str) -> str:
    """Return the host of a URL that may become a link."""
    return urlsplit(url).hostname or ""


def path_of(url: str) -> str:
    """Return the path of a URL, which is shorter to read where the host is known."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def marked(text: str, values: Iterable[str | None]) -> Markup:
    """Return the text with every occurrence of a value marked; case and the spaces of a number are ignored."""
    drawn, end = Markup(), 0
    for first, last in sorted(span for value in values if value for span in _occurrences(text, value)):
        if first >= end:
            drawn += escape(text[end:first]) + Markup("<mark>{}</mark>").format(text[first:last])
            end = last
    return drawn + escape(text[end:])


def _occurrences(text: str, value: str) -> Iterator[tuple[int, int]]:
    if value.startswith("+") and value[1:].isdigit():
        yield from _numbers(text, value[-LAST_DIGITS:])
        return
    lower, wanted = text.lower(), value.lower()
    lower, wanted = (lower, wanted) if len(lower) == len(text) else (text, value)  # some letters grow in lower case
    place = lower.find(wanted)
    while place >= 0:
        yield place, place + len(wanted)
        place = lower.find(wanted, place + len(wanted))


def _numbers(text: str, ending: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers that end with these digits, as people write them: 09 123 4567."""
    places = [place for place, sign in enumerate(text) if sign.isdigit()]
    found = "".join(text[place] for place in places).find(ending)
    if found >= 0:
        first = places[found]
        while first and (text[first - 1].isdigit() or text[first - 1] in "+ ()-./"):
            first -= 1
        last = places[found + len(ending) - 1] + 1
        yield first + len(text[first:last]) - len(text[first:last].lstrip(" .-/)")), last
