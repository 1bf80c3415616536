"""The way out: one request through the guarded client, no redirect followed, every trouble of the network the same."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from scrapersky.crawl.errors import FetchError
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.retry_after import retry_after
from scrapersky.destinations.errors import MAX_WAIT, TryLater

SECONDS = 15.0  # for one request, whatever the receiver does
ANSWER_BYTES = 1_000_000  # of a CRM's answer; of a web hook's none is read
# One sentence for a wrong name, a closed port, a private address and a silent server: nobody shall learn from us
# what is behind an address.
UNREACHABLE = "The destination cannot be reached."

# The client, opened by the first question.
ClientSource = Callable[[], Awaitable[Client]]


@dataclass(frozen=True)
class HttpResult:
    """A status and, for whoever asked for it, a body. The body stays in this room."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """2xx."""
        return 200 <= self.status < 300

    @property
    def json(self) -> dict[str, Any]:
        """The body as a JSON object; an empty one where it is none."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def retry_after(self) -> timedelta | None:
        """How long the destination asks us to wait, within reason."""
        return retry_after(self.headers.get("Retry-After"), MAX_WAIT)


class HttpSender:
    """Sends requests to destinations. Every status is an answer; no answer is TryLater."""

    def __init__(self, client: ClientSource, seconds: float = SECONDS) -> None:
        self._client = client
        self._seconds = seconds

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        read_answer: bool = True,
    ) -> HttpResult:
        """The answer; without `read_answer` only its status and headers."""
        client, page = await self._client(), None
        try:
            most = ANSWER_BYTES if read_answer else 0
            page = await client.request(method, url, headers=headers, body=body, max_bytes=most, seconds=self._seconds)
        except FetchError:
            pass  # raised below, so that it drags no exception along: that one knows the address and the headers
        if page is None:
            raise TryLater(UNREACHABLE)
        return HttpResult(page.status, page.headers, page.body)


def as_json(value: Any) -> bytes:
    """A body."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
