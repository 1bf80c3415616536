"""The tree of errors: a class is a sentence and a status code; what it is raised with names the case and the cure."""

# ScraperSkyError
# ├── BadSetting            a setting is wrong: the start stops
# ├── BadRequest       400  what was asked makes no sense
# │   └── UnknownName  404  there is nothing of this name
# ├── Refusal               whoever asks may not: the answer has headers that say what would help
# │   ├── NotKnown     401  nobody has said who they are, or it is not true any more
# │   ├── NotAllowed   403  known, but of another role
# │   └── TooMany      429  too often
# ├── Conflict         409  it makes sense, but not now
# ├── Unavailable      503  something we need is away
# └── what the engine does about a row whose work raises one of these:
#     ├── TryAgain          queued again, not before `after`
#     ├── Hopeless          a dead letter at once
#     └── NothingThere      skipped with the reason

import math
from collections.abc import Mapping
from datetime import timedelta


class ScraperSkyError(Exception):
    """Something went wrong."""

    status_code = 500
    fields: tuple[str, ...] = ()  # of what was asked: those that are wrong, if it is they

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
    """There is nothing of this name."""

    status_code = 404


class Refusal(ScraperSkyError):
    """Whoever asks may not do this."""

    status_code = 403
    headers: Mapping[str, str] = {}  # of the answer


class NotKnown(Refusal):
    """Say who you are: there is no valid key or token with this request."""

    status_code = 401
    headers = {"WWW-Authenticate": 'Bearer realm="scrapersky"'}  # noqa: RUF012 - never written to


class NotAllowed(Refusal):
    """Your role does not allow this."""


class TooMany(Refusal):
    """This was asked for too often."""

    status_code = 429

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(max(1, math.ceil(wait)))}


class Conflict(ScraperSkyError):
    """The request does not fit the present state."""

    status_code = 409


class Unavailable(ScraperSkyError):
    """Something this needs is away at the moment."""

    status_code = 503


class TryAgain(ScraperSkyError):
    """It may work another time."""

    status_code = 503
    after: timedelta | None = None  # not before so long
    costs = True  # whether the attempt is held against the row


class Hopeless(ScraperSkyError):
    """Trying again cannot help."""


class NothingThere(ScraperSkyError):
    """There is nothing to be had here."""
