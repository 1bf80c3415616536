"""The Places API (New) over HTTP: text search and details, each with a field mask; the key is sent in a header only."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from scrapersky.providers.areas.geometry import Box
from scrapersky.providers.base import (
    Meter,
    PlaceNotFound,
    ProviderBusy,
    ProviderFailed,
    ProviderNotReached,
    ProviderRefused,
)
from scrapersky.providers.call_budget import CallBudget, CallMethod
from scrapersky.providers.cooldown import Cooldown, Cooldowns, InMemoryCooldowns
from scrapersky.providers.google.errors import QuotaUsedUp, error_of
from scrapersky.providers.google.place import NAME
from scrapersky.providers.google.prices import call_micros
from scrapersky.providers.http_api import Api, ApiResponse

PAGE_SIZE = 20
MAX_RESULTS_PER_QUERY = 60
_PLACE_ID = re.compile(r"[A-Za-z0-9_-]{1,300}")

GooglePlace = Mapping[str, Any]


@dataclass(frozen=True)
class GoogleQuery:
    """A text search without its page token: all pages of one search must be requested with the same query."""

    text: str
    box: Box | None = None
    language: str | None = None
    country: str | None = None

    def body(self, page_token: str | None) -> dict[str, Any]:
        """Return the query as JSON."""
        query: dict[str, Any] = {"textQuery": self.text, "pageSize": PAGE_SIZE}
        # Plumbers and cleaners who only visit their customers have no address on the map, but a phone.
        query["includePureServiceAreaBusinesses"] = True
        query |= {"languageCode": self.language} if self.language else {}
        query |= {"regionCode": self.country.upper()} if self.country else {}
        query |= {"locationRestriction": {"rectangle": _rectangle(self.box)}} if self.box else {}
        query |= {"pageToken": page_token} if page_token else {}
        return query

    def within(self, text: str, box: Box) -> "GoogleQuery":
        """Return a query for this text in a box."""
        return GoogleQuery(text, box, self.language, self.country)


@dataclass(frozen=True)
class PageOfPlaces:
    """One page of results, and the token of the next page if there is one."""

    places: tuple[GooglePlace, ...]
    next_token: str | None


class GoogleApi:
    """Sends requests, charges their price and maps their errors."""

    def __init__(self, api: Api, key: SecretStr, cooldowns: Cooldowns | None = None) -> None:
        self._api = api
        self._key = key
        self._cooldowns = cooldowns or InMemoryCooldowns()

    async def search(
        self, query: GoogleQuery, fields: tuple[str, ...], meter: Meter, page_token: str | None = None
    ) -> PageOfPlaces:
        """Return one page. The call is booked before it is made."""
        await self._check_cooldown("search")
        price = call_micros("search", fields)
        await meter.pay(price)
        mask = ",".join([*(f"places.{field}" for field in fields), "nextPageToken"])
        body = json.dumps(query.body(page_token)).encode()
        try:
            response = await self._send("POST", "/v1/places:searchText", mask, body)
        except (ProviderNotReached, ProviderRefused):  # not sent; without a response it stays booked
            await meter.refund(price)
            raise
        await (meter.budget.confirm() if response.status == 200 else meter.refund(price))
        found = await self._success(response, "search", paging=page_token is not None)
        places = found.get("places", [])  # without results the response is an empty object
        token = found.get("nextPageToken")
        return PageOfPlaces(tuple(place for place in places if _has_id(place)), str(token) if token else None)

    async def details(self, place_id: str, fields: tuple[str, ...], budget: CallBudget) -> GooglePlace:
        """Return one place by its id. The call is booked before it is made."""
        if not _PLACE_ID.fullmatch(place_id):
            raise PlaceNotFound(f"{place_id[:40]!r} is not the id of a Google place.")
        await self._check_cooldown("details")
        await budget.charge(call_micros("details", fields))
        try:
            response = await self._send("GET", f"/v1/places/{place_id}", ",".join(fields), None)
        except (ProviderNotReached, ProviderRefused):
            await budget.refund()
            raise
        await (budget.confirm() if response.status == 200 else budget.refund())
        place = await self._success(response, "details")
        if not _has_id(place):
            raise ProviderFailed("Google answers 200 without a place.")
        return place

    async def _send(self, method: str, path: str, mask: str, body: bytes | None) -> ApiResponse:
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "X-Goog-Api-Key": self._key.get_secret_value(),
            "X-Goog-FieldMask": mask,
        }
        return await self._api.send(method, path, headers=headers, body=body)

    async def _success(self, response: ApiResponse, method: CallMethod, *, paging: bool = False) -> GooglePlace:
        if response.status != 200:
            error = error_of(response, paging=paging)
            if isinstance(error, QuotaUsedUp):
                await self._cooldowns.start(self._cooldown_name(method), Cooldown(error.after, str(error)))
            raise error
        found = response.json
        if not isinstance(found, dict) or not isinstance(found.get("places", []), list):
            raise ProviderFailed("Google answers 200 with something that is not a list of places.")
        return found

    async def _check_cooldown(self, method: CallMethod) -> None:
        """Raise ProviderBusy while a quota is used up, also if another worker used it up."""
        cooldown = await self._cooldowns.remaining(self._cooldown_name(method))
        if cooldown is not None:
            raise ProviderBusy(cooldown.reason, cooldown.after)

    def _cooldown_name(self, method: CallMethod) -> str:
        """Return the name of the cooldown: each method and each project (by its key) has a quota of its own."""
        project = hashlib.sha256(self._key.get_secret_value().encode()).hexdigest()[:12]
        return f"{NAME} {method} {project}"


def _has_id(place: Any) -> bool:
    return isinstance(place, dict) and bool(_PLACE_ID.fullmatch(str(place.get("id", ""))))


def _rectangle(box: Box) -> dict[str, dict[str, float]]:
    return {
        "low": {"latitude": box.south, "longitude": box.west},
        "high": {"latitude": box.north, "longitude": box.east},
    }
