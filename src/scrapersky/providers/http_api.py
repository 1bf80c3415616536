"""How a provider is asked: through the guarded client, one base address, every trouble named for the provider."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scrapersky.crawl.errors import BlockedByPolicy, FetchError
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.page import FetchedPage
from scrapersky.providers.base import ProviderFailed, ProviderRefused

# The client, opened by the first question.
ClientSource = Callable[[], Awaitable[Client]]


@dataclass(frozen=True)
class ApiResponse:
    """What an API said, whatever the status."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def is_html(self) -> bool:
        """True for a page meant for people, which is never an answer."""
        return "html" in self.headers.get("Content-Type", "").lower() or self.text.lstrip()[:1] == "<"

    @property
    def json(self) -> Any:
        """The body as JSON; None when it is none."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None


class Api:
    """One service at one base address. `setting` is named when the address itself is the trouble."""

    def __init__(
        self,
        client: ClientSource,
        base_url: str,
        *,
        service: str,
        setting: str,
        seconds: float = 60,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.service = service
        self.setting = setting
        self._client = client
        self._seconds = seconds

    async def ask(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> ApiResponse:
        """The answer with whatever status it has; ProviderFailed when nobody answers."""
        client = await self._client()
        try:
            page = await client.request(method, self.base_url + path, headers=headers, body=body, seconds=self._seconds)
        except FetchError as error:
            page, trouble = None, self._trouble(error)
        if page is None:
            # Raised out here, so that it drags no exception along: that one knows the headers, and a key with them.
            raise trouble
        return _answer(page)

    def _trouble(self, error: FetchError) -> ProviderFailed | ProviderRefused:
        if isinstance(error, BlockedByPolicy):
            return ProviderRefused(
                f"{self.service} is not asked at {self.base_url}: {error.reason} Change {self.setting}, or allow its "
                "port with CRAWL_ALLOWED_PORTS and its address with CRAWL_ALLOWED_PRIVATE_NETWORKS."
            )
        return ProviderFailed(f"{self.service} does not answer: {error.reason}")


def _answer(page: FetchedPage) -> ApiResponse:
    return ApiResponse(page.status, page.headers, page.body.decode("utf-8", "replace"))
