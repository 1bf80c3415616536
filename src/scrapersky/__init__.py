"""scrapersky turns a search into people you can write to."""

__version__ = "0.1.0"
