"""How a delivery ends: with a receipt, or with an error named by what is to be done about it."""

# NotDelivered
# ├── TryLater             not accepted this time; the attempt counts
# │   └── Throttled        the destination limits the rate; the attempt does not count
# ├── ContactRefused       this contact will never be accepted; others can be
# └── DestinationClosed    nothing is accepted until a person changes something

from dataclasses import dataclass
from datetime import timedelta

from scrapersky.core.errors import Permanent, Retryable, ScraperSkyError

MAX_WAIT = timedelta(hours=6)  # a destination can request no longer wait


@dataclass(frozen=True, slots=True)
class Receipt:
    """The contact was accepted; `external_id` is its id at the destination, if the response has one."""

    external_id: str | None = None


class NotDelivered(ScraperSkyError):
    """The contact was not delivered."""

    opens_breaker = False  # each destination has a cooldown of its own


class TryLater(NotDelivered, Retryable):
    """The destination did not accept the contact this time."""

    is_counted = False  # a failed batch raises one error for many contacts, and is one failure of the destination

    def __init__(self, why: str, after: timedelta | None = None) -> None:
        super().__init__(why)
        self.after = None if after is None else min(max(after, timedelta(0)), MAX_WAIT)


class Throttled(TryLater):
    """The destination limits the rate of requests."""

    counts = False


class ContactRefused(NotDelivered, Permanent):
    """The destination refuses this contact."""


class DestinationClosed(NotDelivered, Permanent):
    """The destination accepts nothing any more."""
