"""The tree of errors: a class is a sentence and a status code; what it is raised with names the case and the cure."""

# ScraperSkyError
# ├── BadSetting            a setting is wrong: the start stops
# ├── BadRequest       400  what was asked makes no sense
# │   └── UnknownName  404  there is nothing of this name
# ├── Conflict         409  it makes sense, but not now
# ├── Unavailable      503  something we need is away
# └── what the engine does about a row whose work raises one of these:
#     ├── TryAgain          queued again, not before `after`
#     ├── Hopeless          a dead letter at once
#     └── NothingThere      skipped with the reason

from datetime import timedelta


class ScraperSkyError(Exception):
    """Something went wrong."""

    status_code = 500

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
