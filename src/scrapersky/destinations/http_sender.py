"""HTTP requests to destinations: through the guarded client, without redirects, with one error for all failures."""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from scrapersky.crawl.errors import FetchError
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.retry_after import retry_after
from scrapersky.destinations.errors import MAX_WAIT, TryLater

TIMEOUT_SECONDS = 15.0  # of one request
MAX_RESPONSE_BYTES = 1_000_000
# One sentence for an unknown name, a closed port, a private address and a silent server: the error must not reveal
# what is behind an address.
PRIVATE_RECEIVERS = "A receiver in your own network has to be in DESTINATION_ALLOWED_PRIVATE_NETWORKS."
UNREACHABLE = f"The destination cannot be reached. {PRIVATE_RECEIVERS}"

# Returns the client; the first call opens it.
ClientSource = Callable[[], Awaitable[Client]]


@dataclass(frozen=True)
class HttpResult:
    """The response of a destination. Its body is never shown or stored."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def json(self) -> dict[str, Any]:
        """The body as a JSON object; empty if the body is not one."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def retry_after(self) -> timedelta | None:
        """The wait that the destination requests, MAX_WAIT at most."""
        return retry_after(self.headers.get("Retry-After"), MAX_WAIT)


class HttpSender:
    """Sends requests to destinations."""

    def __init__(self, client: ClientSource, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._client = client
        self._timeout_seconds = timeout_seconds

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        read_body: bool = True,
    ) -> HttpResult:
        """Return the response with any status, without its body unless `read_body`. Raise TryLater if there is none.

        The error has no cause: the exception of the client knows the address and the headers.
        """
        client, page = await self._client(), None
        max_bytes = MAX_RESPONSE_BYTES if read_body else 0
        if body is not None:
            headers = {"Content-Type": "application/json", **headers}
        with suppress(FetchError):
            page = await client.request(
                method, url, headers=headers, body=body, max_bytes=max_bytes, seconds=self._timeout_seconds
            )
        if page is None:
            raise TryLater(UNREACHABLE)
        return HttpResult(page.status, page.headers, page.body)


def as_json(value: Any) -> bytes:
    """Encode a value as the body of a request."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
