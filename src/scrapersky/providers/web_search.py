"""Web searches for the site of a business: SearXNG at a URL, or Brave with a key. Off unless a setting names one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol
from urllib.parse import urlencode

from scrapersky.core.settings import Settings
from scrapersky.providers.base import ProviderBusy, ProviderFailed, ProviderNotReached, ProviderRefused
from scrapersky.providers.call_budget import MICROS_PER_CENT, CallBudget
from scrapersky.providers.http_api import Api, ApiResponse, ClientSource

MAX_RESULTS = 10
MAX_QUERY = 300
BUSY = timedelta(seconds=30)
SECONDS = 20.0


class WebSearch(Protocol):
    """Returns the addresses that a web search finds; every call is booked before it is made."""

    @property
    def name(self) -> str:
        """The name under which its calls are booked."""

    async def find(self, query: str, country: str | None, budget: CallBudget) -> list[str]:
        """Return the addresses, the best first."""


@dataclass(frozen=True)
class SearchService:
    """A service with its price, and how it is asked: the same for all that return JSON with results."""

    name: str
    api: Api
    path: str
    parameters: Mapping[str, str]
    result_keys: tuple[str, ...]  # where the list of results is in the JSON
    cure: str  # what to do if the service refuses
    micros: int = 0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    country_parameter: str = ""

    async def find(self, query: str, country: str | None, budget: CallBudget) -> list[str]:
        """Book the call, make it, and return the addresses; a call that was not sent or was refused is refunded."""
        await budget.charge(self.micros)
        try:
            response = await self.api.send("GET", self._path(query, country), headers=self.headers)
        except (ProviderNotReached, ProviderRefused):
            await budget.refund()
            raise
        if response.status != 200:
            await budget.refund()
            raise self._error(response)
        await budget.confirm()
        return self._addresses(response)

    def _path(self, query: str, country: str | None) -> str:
        asked = {"q": query[:MAX_QUERY], **self.parameters}
        if country and self.country_parameter:
            asked[self.country_parameter] = country
        return f"{self.path}?{urlencode(asked)}"

    def _error(self, response: ApiResponse) -> ProviderBusy | ProviderRefused | ProviderFailed:
        if response.status == 429:
            return ProviderBusy(f"{self.api.service} accepts no more requests now.", BUSY)
        if response.status in (400, 401, 402, 403, 404, 422):
            return ProviderRefused(f"{self.api.service} answers {response.status}: {self.cure}")
        return ProviderFailed(f"{self.api.service} answers {response.status}.")

    def _addresses(self, response: ApiResponse) -> list[str]:
        found: Any = response.json
        for key in self.result_keys:
            found = found.get(key) if isinstance(found, dict) else None
        if not isinstance(found, list):
            raise ProviderRefused(f"{self.api.service} does not answer with JSON results: {self.cure}")
        urls = (one.get("url") for one in found[:MAX_RESULTS] if isinstance(one, dict))
        return [url for url in urls if isinstance(url, str)]


def web_search_of(settings: Settings, client: ClientSource) -> WebSearch | None:
    """Build the web search that the settings name: SearXNG before Brave; None if they name none."""
    if settings.site_search_searxng_url:
        return SearchService(
            "searxng",
            Api(
                client,
                settings.site_search_searxng_url,
                service="SearXNG",
                setting="SITE_SEARCH_SEARXNG_URL",
                seconds=SECONDS,
            ),
            "/search",
            {"format": "json", "categories": "general"},
            ("results",),
            "check SITE_SEARCH_SEARXNG_URL, and that `json` is one of `search.formats` in its settings.yml.",
        )
    if settings.site_search_brave_api_key:
        return SearchService(
            "brave",
            Api(
                client,
                settings.site_search_brave_url,
                service="Brave Search",
                setting="SITE_SEARCH_BRAVE_URL",
                seconds=SECONDS,
            ),
            "/res/v1/web/search",
            {"count": str(MAX_RESULTS)},
            ("web", "results"),
            "check SITE_SEARCH_BRAVE_API_KEY and its plan.",
            round(settings.site_search_brave_cents_per_call * MICROS_PER_CENT),
            {
                "X-Subscription-Token": settings.site_search_brave_api_key.get_secret_value(),
                "Accept": "application/json",
            },
            "country",
        )
    return None
