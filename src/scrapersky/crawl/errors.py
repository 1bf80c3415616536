"""The errors of a fetch, named by what the caller should do."""

# FetchError (a ScraperSkyError)
# ├── RetryLater                retry, not before `after` if it is given
# │   ├── NoNetwork             our own network fails: the only one that may open a breaker
# │   ├── RefusedOnce           403: tried once more with other headers
# │   └── TooSoon               a limit of the host forbids it now: the attempt does not count
# │       ├── ProxiesCoolingDown       every proxy has failed a moment ago
# │       └── VisitLimitReached the visit has made as many requests as one visit may
# ├── PermanentFetchError       a retry would fail in the same way
# │   └── UnreadableResponse    what the site sends cannot be decompressed, is far too long, or is broken
# ├── PageNotFound              there is no page at this URL
# └── BlockedByPolicy           we do not fetch this: private address, port, scheme, robots.txt
#     └── BotCheckRequired      the site refuses robots, or asks for a proof that the visitor is human

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from scrapersky.core.errors import NothingToDo, Permanent, Retryable, ScraperSkyError
from scrapersky.core.vocabularies import HiddenReason
from scrapersky.crawl.page import Redirect


class FetchError(ScraperSkyError):
    """The page could not be fetched."""

    is_sent = True  # False: certainly not, because there was no connection
    opens_breaker = False  # one site failed; the next one may respond

    def __init__(
        self,
        reason: str,
        *,
        after: timedelta | None = None,
        url: str = "",
        status: int | None = None,
        redirects: tuple[Redirect, ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after  # only a RetryLater has one
        self.url = url
        self.status = status
        self.redirects = redirects
        self.headers = headers or {}


class RetryLater(FetchError, Retryable):
    """The page cannot be fetched now."""

    status_code = 503


class NoNetwork(RetryLater):
    """Our own network does not work, so no site can be fetched."""

    opens_breaker = True


class RefusedOnce(RetryLater):
    """The site refused the request; it is tried once more later, with other headers."""

    def __init__(self, reason: str, **details: Any) -> None:
        super().__init__(f"{reason.rstrip('.')}. It is tried once more with the headers of a browser.", **details)


class TooSoon(RetryLater):
    """The limits of the host allow no visit at the moment."""

    counts = False


class ProxiesCoolingDown(TooSoon):
    """No proxy works at the moment; nothing was sent to the site."""

    is_sent = False


class VisitLimitReached(TooSoon):
    """The visit has made all the requests that one visit may make."""


class PermanentFetchError(FetchError, Permanent):
    """The page cannot be fetched, and a retry would not help."""

    status_code = 502


class UnreadableResponse(PermanentFetchError):
    """The site responds with something that cannot be read, and would do so again."""


class PageNotFound(FetchError, NothingToDo):
    """There is no page at this URL."""

    status_code = 404


class BlockedByPolicy(FetchError, NothingToDo):
    """This URL is not fetched."""

    status_code = 422


class BotCheckRequired(BlockedByPolicy):
    """The site asks for a proof that the visitor is human."""

    reason_code = HiddenReason.BOT_CHECK

    def add(self, sentence: str) -> None:
        """Add what a browser has done, or could do."""
        self.reason = f"{self.reason} {sentence}"
        self.args = (self.reason,)
