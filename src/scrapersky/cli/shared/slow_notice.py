"""Names that the finding package still imports."""

from scrapersky.cli.shared.output import notice_if_slow as said_if_slow

__all__ = ["said_if_slow"]
