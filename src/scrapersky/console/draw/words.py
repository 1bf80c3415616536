"""Values in words: times, numbers, durations, links to pages of crawled sites."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

MAX_SHOWN = 300  # characters of a text in a grid
WEB = ("http", "https")


def when(moment: datetime | None) -> Markup | str:
    """Return a `<time>`: the day and time in UTC, which a module turns into “2 min ago”."""
    if moment is None:
        return "–"
    exact = moment.astimezone(UTC)
    text = f"{exact.day} {exact:%b %H:%M}" if exact.year == datetime.now(UTC).year else f"{exact.day} {exact:%b %Y}"
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        exact.strftime("%Y-%m-%dT%H:%M:%SZ"), exact.strftime("%Y-%m-%d %H:%M:%S"), text
    )


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
