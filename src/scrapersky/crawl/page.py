"""The response to a fetch: its metadata, and the whole page with its decoded text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from scrapersky.core import clock
from scrapersky.extract.document.charset import Decoded, EncodedPage, decode


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirect: the URL that was requested and the status of its response."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of an earlier response; a conditional request sends them."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, kw_only=True)
class ResponseHead:
    """The metadata of a response: `url` was requested, `final_url` is where the redirects ended."""

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    redirects: tuple[Redirect, ...]
    fetched_at: datetime

    @property
    def etag(self) -> str | None:
        """The ETag header, if there is one."""
        return self.headers.get("ETag")

    @property
    def validators(self) -> Validators:
        """The validators for the next request."""
        return Validators(self.etag, self.headers.get("Last-Modified"))

    @property
    def not_modified(self) -> bool:
        """True if the site responded 304 to the validators that were sent."""
        return self.status == 304

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters; empty if there is none."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True, kw_only=True)
class FetchedPage(ResponseHead):
    """A response with its whole body."""

    body: bytes = field(repr=False)
    seconds: float
    raw_bytes: int
    truncated: bool = False

    @property
    def encoded(self) -> EncodedPage:
        """The body and its type, for a parser process that decodes it."""
        return EncodedPage(self.body, self.headers.get("Content-Type", ""))

    @cached_property
    def _decoded(self) -> Decoded:
        return decode(self.body, self.headers.get("Content-Type", ""))

    @property
    def text(self) -> str:
        """The body as text without surrogates; undecodable bytes are U+FFFD. Decoding takes time: only small bodies."""
        return self._decoded.text

    @property
    def charset(self) -> str:
        """The WHATWG name of the encoding of the text."""
        return self._decoded.charset


def empty_page(url: str, status: int) -> FetchedPage:
    """Build a response without a body, to be kept under a key."""
    return FetchedPage(
        url=url,
        final_url=url,
        status=status,
        headers={},
        redirects=(),
        fetched_at=clock.now(),
        body=b"",
        seconds=0.0,
        raw_bytes=0,
    )
