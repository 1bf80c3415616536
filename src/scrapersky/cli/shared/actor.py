"""Names that the finding package still imports."""

from scrapersky.cli.shared.application import cli_actor as acting

__all__ = ["acting"]
