"""Sends requests to the HTTP API of a provider through the guarded client."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scrapersky.crawl.errors import BlockedByPolicy, FetchError, ProxiesCoolingDown
from scrapersky.crawl.http.client import Client
from scrapersky.providers.base import NoProxyWorks, ProviderFailed, ProviderNotReached, ProviderRefused

# Returns the client, opened by the first request.
ClientSource = Callable[[], Awaitable[Client]]


@dataclass(frozen=True)
class ApiResponse:
    """A response of any status."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def is_html(self) -> bool:
        """True for an HTML page, which is never the result of an API."""
        return "html" in self.headers.get("Content-Type", "").lower() or self.text.lstrip()[:1] == "<"

    @property
    def json(self) -> Any:
        """The body as JSON; None if it is not JSON."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None


class Api:
    """One service at one base URL. `setting` is named in errors about the URL itself."""

    def __init__(self, client: ClientSource, base_url: str, *, service: str, setting: str, seconds: float = 60) -> None:
        self.base_url = base_url.rstrip("/")
        self.service = service
        self.setting = setting
        self._client = client
        self._seconds = seconds

    async def send(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> ApiResponse:
        """Return the response with any status; raise ProviderFailed or ProviderRefused if there is none."""
        client = await self._client()
        try:
            page = await client.request(method, self.base_url + path, headers=headers, body=body, seconds=self._seconds)
        except FetchError as error:
            page, failure = None, self._failure(error)
        if page is None:
            # Raised here, without the FetchError as its context: that exception refers to the headers with the key.
            raise failure
        return ApiResponse(page.status, page.headers, page.body.decode("utf-8", "replace"))

    def _failure(self, error: FetchError) -> ProviderFailed | ProviderRefused:
        if isinstance(error, BlockedByPolicy):
            return ProviderRefused(
                f"{self.service} at {self.base_url} is not requested: {error.reason} Change {self.setting}, or allow "
                "its port with CRAWL_ALLOWED_PORTS and its address with CRAWL_ALLOWED_PRIVATE_NETWORKS."
            )
        if isinstance(error, ProxiesCoolingDown):
            return NoProxyWorks(f"{self.service} does not answer: {error.reason}", error.after)
        failed = ProviderFailed if error.is_sent else ProviderNotReached
        return failed(f"{self.service} does not answer: {error.reason}")
