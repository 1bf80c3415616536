"""What the browser has taken for a row: the number of its visits, their time and bytes, and what came of the last."""

from typing import Any

from scrapersky.crawl.browser.browser import BrowserVisit


def add_cost(stored: dict[str, Any] | None, drawn: BrowserVisit | None) -> dict[str, Any] | None:
    """Return the cost of all visits, with this one if there was one."""
    if drawn is None:
        return stored
    before = stored or {"visits": 0, "seconds": 0, "requests": 0, "bytes": 0}
    return {
        "visits": before["visits"] + 1,
        "seconds": round(before["seconds"] + drawn.seconds, 3),
        "requests": before["requests"] + drawn.requests,
        "bytes": before["bytes"] + drawn.bytes,
        "result": drawn.result,
    }
