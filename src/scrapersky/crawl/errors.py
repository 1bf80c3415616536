"""How a fetch ends: with a page, or with an error named by what is to be done about it."""

# FetchError (a ScraperSkyError)
# ├── RetryLater        try again, not before `after` when it is given
# │   └── TooSoon       only manners forbid it now: waiting costs nothing
# │       └── VisitOver this visit has had its requests; what it has so far is all of it
# ├── GiveUp            trying again would end the same way
# ├── Gone              there is nothing at this address any more
# └── BlockedByPolicy   we do not fetch this: private address, port, scheme, robots.txt

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from scrapersky.core.errors import Hopeless, NothingThere, ScraperSkyError, TryAgain
from scrapersky.crawl.http.charset import Decoded, decode


@dataclass(frozen=True, slots=True)
class Hop:
    """One redirect: the address that was asked and the status that sent us on."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Known:
    """What we remember of an earlier fetch, so that the site may answer "not modified"."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True)
class Page:
    """What came back: `url` was asked for, `final_url` answered."""

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    redirects: tuple[Hop, ...]
    fetched_at: datetime
    seconds: float
    raw_bytes: int
    cut: bool = False

    @property
    def etag(self) -> str | None:
        """The validator to send next time, if the site gave one."""
        return self.headers.get("ETag")

    @property
    def last_modified(self) -> str | None:
        """The date to send next time, if the site gave one."""
        return self.headers.get("Last-Modified")

    @property
    def known(self) -> Known:
        """Both validators, as the next fetch wants them."""
        return Known(self.etag, self.last_modified)

    @property
    def not_modified(self) -> bool:
        """True when the site says that nothing changed since the fetch we told it about."""
        return self.status == 304

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters; empty when the site gave none."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @cached_property
    def _decoded(self) -> Decoded:
        return decode(self.body, self.headers.get("Content-Type", ""))

    @property
    def text(self) -> str:
        """The body as text: never a lone surrogate; what cannot be read is U+FFFD."""
        return self._decoded.text

    @property
    def charset(self) -> str:
        """The WHATWG name of the encoding the text was read with."""
        return self._decoded.charset


class FetchError(ScraperSkyError):
    """The page could not be fetched."""

    def __init__(
        self,
        reason: str,
        *,
        url: str = "",
        status: int | None = None,
        redirects: tuple[Hop, ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.url = url
        self.status = status
        self.redirects = redirects
        self.headers = headers or {}


class RetryLater(FetchError, TryAgain):
    """The page cannot be had now."""

    status_code = 503

    def __init__(
        self,
        reason: str,
        *,
        after: timedelta | None = None,
        url: str = "",
        status: int | None = None,
        redirects: tuple[Hop, ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reason, url=url, status=status, redirects=redirects, headers=headers)
        self.after = after


class TooSoon(RetryLater):
    """The host has had enough visits for the moment."""

    costs = False


class VisitOver(TooSoon):
    """The visit has had all the requests that one visit may have."""


class GiveUp(FetchError, Hopeless):
    """The page cannot be had, and trying again would not help."""

    status_code = 502


class Gone(FetchError, NothingThere):
    """There is nothing at this address."""

    status_code = 404


class BlockedByPolicy(FetchError, NothingThere):
    """This address is not fetched."""

    status_code = 422
