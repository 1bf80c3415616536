"""The Places API (New) over plain HTTP: two calls, a mask on each, the key in a header and nowhere else."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.area import Box
from scrapersky.providers.base import Meter, ProviderBusy, ProviderFailed, ProviderRefused
from scrapersky.providers.cooldown import Cooldown, Cooldowns, InMemoryCooldowns
from scrapersky.providers.detail_budget import DetailBudget
from scrapersky.providers.google import prices as google_prices
from scrapersky.providers.google.errors import QuotaUsedUp, error_of
from scrapersky.providers.http_api import Api, ApiResponse

PAGE_SIZE = 20
MAX_RESULTS_PER_QUERY = 60
_PLACE_ID = re.compile(r"[A-Za-z0-9_-]{1,300}")

GooglePlace = Mapping[str, Any]


@dataclass(frozen=True)
class TextQuery:
    """A text search without its page: every page of one question must be asked for in the same words."""

    text: str
    box: Box | None = None
    language: str | None = None
    country: str | None = None

    def body(self, page_token: str | None) -> dict[str, Any]:
        """The question as JSON."""
        asked: dict[str, Any] = {"textQuery": self.text, "pageSize": PAGE_SIZE}
        # Plumbers and cleaners who go to their customers have no place on the map, but a phone.
        asked["includePureServiceAreaBusinesses"] = True
        asked |= {"languageCode": self.language} if self.language else {}
        asked |= {"regionCode": self.country.upper()} if self.country else {}
        asked |= {"locationRestriction": {"rectangle": _rectangle(self.box)}} if self.box else {}
        asked |= {"pageToken": page_token} if page_token else {}
        return asked


@dataclass(frozen=True)
class PageOfPlaces:
    """One answer, and the token of the next if there is more."""

    places: tuple[GooglePlace, ...]
    next_token: str | None


class GoogleApi:
    """Asks, pays and names what went wrong."""

    def __init__(self, api: Api, key: SecretStr, rests: Cooldowns | None = None) -> None:
        self._api = api
        self._key = key
        self._rests = rests or InMemoryCooldowns()

    async def search(
        self, question: TextQuery, fields: tuple[str, ...], meter: Meter, page_token: str | None = None
    ) -> PageOfPlaces:
        """One page. The meter is charged before the call is made."""
        await self._keep_rest("search")
        price = google_prices.cents("search", fields)
        meter.charge(price)
        mask = ",".join([*(f"places.{field}" for field in fields), "nextPageToken"])
        body = json.dumps(question.body(page_token)).encode()
        try:
            answer = await self._ask("POST", "/v1/places:searchText", mask, body)
            found = await self._success(answer, "search", paging=page_token is not None)
        except ScraperSkyError:
            meter.refund(price)
            raise
        places = found.get("places", [])  # no result at all is an empty object
        token = found.get("nextPageToken")
        return PageOfPlaces(tuple(place for place in places if _has_id(place)), str(token) if token else None)

    async def details(self, place_id: str, fields: tuple[str, ...], purse: DetailBudget) -> GooglePlace:
        """One place by its id. The purse pays before the call is made."""
        if not _PLACE_ID.fullmatch(place_id):
            raise ProviderRefused(f"{place_id[:40]!r} is no id of a Google place.")
        await self._keep_rest("details")
        await purse.take(google_prices.cents("details", fields))
        try:
            answer = await self._ask("GET", f"/v1/places/{place_id}", ",".join(fields), None)
            place = await self._success(answer, "details")
        except ScraperSkyError:
            await purse.give_back()
            raise
        if not _has_id(place):
            raise ProviderFailed("Google answers 200 without a place.")
        return place

    async def _ask(self, method: str, path: str, mask: str, body: bytes | None) -> ApiResponse:
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "X-Goog-Api-Key": self._key.get_secret_value(),
            "X-Goog-FieldMask": mask,
        }
        return await self._api.ask(method, path, headers=headers, body=body)

    async def _success(self, answer: ApiResponse, method: google_prices.Method, *, paging: bool = False) -> GooglePlace:
        if answer.status != 200:
            error = error_of(answer, paging=paging)
            if isinstance(error, QuotaUsedUp):
                await self._rests.begin(self._rest_of(method), Cooldown(error.after, str(error)))
            raise error
        found = answer.json
        if not isinstance(found, dict) or not isinstance(found.get("places", []), list):
            raise ProviderFailed("Google answers 200 with something that is no list of places.")
        return found

    async def _keep_rest(self, method: google_prices.Method) -> None:
        """Ask nothing while a quota is used up, whichever worker was told so."""
        rest = await self._rests.left(self._rest_of(method))
        if rest is not None:
            raise ProviderBusy(rest.reason, rest.after)

    def _rest_of(self, method: google_prices.Method) -> str:
        """Each method has a quota of its own, and each project: a new key does not wait for the old one."""
        project = hashlib.sha256(self._key.get_secret_value().encode()).hexdigest()[:12]
        return f"google_places {method} {project}"


def _has_id(place: Any) -> bool:
    return isinstance(place, dict) and bool(_PLACE_ID.fullmatch(str(place.get("id", ""))))


def _rectangle(box: Box) -> dict[str, dict[str, float]]:
    return {
        "low": {"latitude": box.south, "longitude": box.west},
        "high": {"latitude": box.north, "longitude": box.east},
    }
