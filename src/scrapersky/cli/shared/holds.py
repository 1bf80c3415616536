"""Sentences about workflows that claim no rows, the same in every command."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapersky.store.operations.controls import Hold


def describe_hold(hold: "Hold") -> str:
    """Describe why a workflow claims no rows, until when, and the command that ends it."""
    until = f" until {hold.until.astimezone():%H:%M:%S}" if hold.until else ""
    cure = f" `scrapersky resume {hold.workflow}` ends it now." if hold.is_resumable else ""
    return f"{hold.workflow} {hold.reason}{until}.{cure}"
