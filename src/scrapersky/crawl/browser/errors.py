"""What ends a visit of the browser without a page."""

from scrapersky.core.errors import ScraperSkyError


class BrowserFailed(ScraperSkyError):
    """The browser could not read the page; the message is the end of the sentence "a browser …"."""
