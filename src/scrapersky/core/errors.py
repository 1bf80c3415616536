"""The error classes: each has a sentence and a status code; the message names the case and the cure."""

# ScraperSkyError
# ├── BadSetting            a setting is wrong: the start stops
# ├── BadRequest       400  the request cannot be understood
# │   └── UnknownName  404  nothing has this name
# ├── AccessRefused         the client may not do this; the response has headers that help
# │   ├── NotAuthenticated  401  no valid token or key
# │   ├── NotAuthorized     403  the role or scope does not allow it
# │   └── RateLimited       429  too many requests
# ├── Conflict         409  the request does not fit the current state
# ├── BadGateway       502  a service of others refuses what this needs
# ├── Unavailable      503  something needed does not respond
# └── errors that decide the outcome of a row:
#     ├── Retryable         queued again, not before `after`
#     │   └── ConnectionLost  the database is unavailable; the attempt does not count
#     ├── Permanent         a dead letter at once
#     └── NothingToDo       skipped with the reason

import math
from collections.abc import Mapping
from datetime import timedelta

from scrapersky.core.vocabularies import WaitsFor


class OutputClosed(Exception):
    """The reader of standard output has ended; no OSError, which would stand for a lost connection."""


class ScraperSkyError(Exception):
    """Something went wrong."""

    status_code = 500
    fields: tuple[str, ...] = ()  # the fields of the request that are wrong
    # Whether many of these open the breaker of a workflow: the fault is ours, or that of a service all rows share.
    # False: it is the outcome of one row, such as a site that does not respond, and says nothing about other rows.
    opens_breaker = True
    reason_code: str | None = None  # the reason as a word of a vocabulary, where the workflow has a column for it

    @property
    def title(self) -> str:
        """The sentence of the class, the same for every case."""
        return (type(self).__doc__ or "").strip().splitlines()[0]


class BadSetting(ScraperSkyError):
    """A setting has a value that cannot work."""


class BadRequest(ScraperSkyError):
    """The request cannot be understood."""

    status_code = 400


class UnknownName(BadRequest):
    """Nothing has this name."""

    status_code = 404


class AccessRefused(ScraperSkyError):
    """The client may not do this."""

    status_code = 403
    headers: Mapping[str, str] = {}  # of the response


class NotAuthenticated(AccessRefused):
    """Authentication is required: the request has no valid token or API key."""

    status_code = 401
    headers = {"WWW-Authenticate": 'Bearer realm="scrapersky"'}  # noqa: RUF012 - never written to


class NotAuthorized(AccessRefused):
    """Your role does not allow this."""


class RateLimited(AccessRefused):
    """Too many requests."""

    status_code = 429

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(max(1, math.ceil(wait)))}


class Conflict(ScraperSkyError):
    """The request does not fit the current state."""

    status_code = 409


class BadGateway(ScraperSkyError):
    """A service of others refuses a request that this needs; the message says why."""

    status_code = 502


class Unavailable(ScraperSkyError):
    """A service that this needs does not respond at the moment."""

    status_code = 503


class Retryable(ScraperSkyError):
    """A retry may succeed."""

    status_code = 503
    after: timedelta | None = None  # the minimum wait before the retry
    counts = True  # whether the attempt counts against max_attempts
    waits_for: WaitsFor | None = None  # what ends the wait sooner


class ConnectionLost(Retryable):
    """The database is unavailable or busy."""

    after = timedelta(seconds=1)
    counts = False
    opens_breaker = False


class Permanent(ScraperSkyError):
    """A retry cannot succeed."""


class NothingToDo(ScraperSkyError):
    """There is nothing to do."""
