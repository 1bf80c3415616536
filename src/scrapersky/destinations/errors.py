"""How a delivery ends: with a receipt, or with an error named by what is to be done about it."""

# NotDelivered
# ├── TryLater             the destination did not take it now; the try counts
# │   └── TooMany          it only asked for patience; the try does not count
# ├── ContactRefused       it will never take this contact; its neighbours may fare better
# └── DestinationClosed    it takes nothing at all until somebody does something

from dataclasses import dataclass
from datetime import timedelta

from scrapersky.core.errors import Hopeless, ScraperSkyError, TryAgain

MAX_WAIT = timedelta(hours=6)  # of what a destination may ask for


@dataclass(frozen=True, slots=True)
class Receipt:
    """It was taken; what the destination calls the contact, where it says so."""

    external_id: str | None = None


class NotDelivered(ScraperSkyError):
    """The contact was not delivered."""


class TryLater(NotDelivered, TryAgain):
    """The destination did not take the contact this time."""

    is_counted = False  # a request for many that failed is one failure, though each of them is told

    def __init__(self, why: str, after: timedelta | None = None) -> None:
        super().__init__(why)
        self.after = None if after is None else min(max(after, timedelta(0)), MAX_WAIT)


class Throttled(TryLater):
    """The destination asks for patience."""

    costs = False


class ContactRefused(NotDelivered, Hopeless):
    """The destination does not take this contact."""


class DestinationClosed(NotDelivered, Hopeless):
    """The destination takes nothing any more."""
