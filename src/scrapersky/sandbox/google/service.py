"""A fake of Google Places (New) over a world: masks, pages, quotas and errors as the real one has them."""

import base64
import json
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qs

from scrapersky.sandbox.google import errors
from scrapersky.sandbox.google.billing import Bill
from scrapersky.sandbox.google.errors import GoogleError
from scrapersky.sandbox.google.place import ALSO_FIELDS, Mask, is_rated, is_service_area, number_of, place, place_id
from scrapersky.sandbox.google.search import MISMATCH, fingerprint, read_body, read_box, read_size, read_text
from scrapersky.sandbox.server.fault_injection import FaultInjector
from scrapersky.sandbox.server.response import Request, Response, json_response
from scrapersky.sandbox.world.business import Business, Location
from scrapersky.sandbox.world.slugs import plain
from scrapersky.sandbox.world.spatial_index import Map

MAX_RESULTS = 60
DEFAULT_KEY = "sandbox-google-key"
FAULTS: dict[str, Callable[[str], GoogleError]] = {
    "per_minute": lambda method: errors.exhausted(method, "minute", 600),
    "per_day": lambda method: errors.exhausted(method, "day", 75_000),
    "key_invalid": lambda method: errors.key_invalid(),
    "service_disabled": lambda method: errors.disabled(),
    "billing_disabled": lambda method: errors.billing_disabled(),
    "blocked": errors.blocked,
    "internal": lambda method: errors.internal(500, "INTERNAL", "Internal error encountered."),
    "unavailable": lambda method: errors.internal(503, "UNAVAILABLE", "The service is currently unavailable."),
    "deadline": lambda method: errors.internal(504, "DEADLINE_EXCEEDED", "Deadline expired before it could complete."),
}


class FakeGoogle:
    """Text Search, Nearby Search and Details. `calls` counts the calls that quotas limit, by method; `bill` what they
    would cost; `asked` has every search.

    `per_minute` and `per_day` are how many calls of each method are answered before the quota is used up; there is no
    clock: `reset_minute` begins the next one.
    """

    def __init__(
        self, places: Map, key: str = DEFAULT_KEY, *, per_minute: int | None = None, per_day: int | None = None
    ) -> None:
        self.key = key
        self.calls: Counter[str] = Counter()
        self.bill = Bill()
        self.asked: list[tuple[str, bytes]] = []  # the mask and the body of each search that was answered
        self.per_minute, self.per_day = per_minute, per_day
        self._map = places
        self._seed = places.world.seed
        self._faults = FaultInjector(FAULTS)
        self._minute: Counter[str] = Counter()
        self._gone: set[str] = set()
        self._moved: dict[str, str] = {}
        self._known = (
            frozenset(place(self._seed, places.world[0], "en"))
            | ALSO_FIELDS
            | {
                *("location", "viewport", "plusCode", "websiteUri", "pureServiceAreaBusiness"),
            }
        )

    def fail(self, kind: str, times: int = 1) -> None:
        """Let the next calls fail in this way, one of FAULTS."""
        self._faults.order(kind, times)

    def reset_minute(self) -> None:
        """Reset the quota of the minute."""
        self._minute.clear()

    def forget(self, identity: str) -> None:
        """Make an id obsolete: searches omit it, and a details call returns NOT_FOUND."""
        self._gone.add(identity)

    def move(self, identity: str, to: str) -> None:
        """Mark a business as moved to another place id."""
        self._moved[identity] = to

    def answer(self, request: Request, path: str) -> Response:
        """Respond to a request; `path` begins with /v1."""
        try:
            return json_response(self._answered(request, path))
        except GoogleError as error:
            return error.answer()

    def _answered(self, request: Request, path: str) -> dict[str, Any]:
        method = {"/v1/places:searchText": "searchText", "/v1/places:searchNearby": "searchNearby"}.get(path, "details")
        if method == "details" and (request.method != "GET" or not path.startswith("/v1/places/")):
            raise GoogleError(404, "NOT_FOUND", "Requested entity was not found.")
        if method != "details" and request.method != "POST":
            raise GoogleError(404, "NOT_FOUND", "Requested entity was not found.")
        query = {name: values[0] for name, values in parse_qs(request.query).items()}
        self._admit(request, query, method)
        mask = request.headers.get("x-goog-fieldmask") or query.get("$fields") or query.get("fields") or ""
        if method == "details":
            answer = self._details(path.removeprefix("/v1/places/"), Mask(mask, self._known), query)
        else:
            self.asked.append((mask, request.body))
            search = self._search_text if method == "searchText" else self._search_nearby
            answer = search(read_body(request), Mask(mask, self._known, "places."))
        self.bill.add(method, mask)  # what was refused costs nothing
        return answer

    def _admit(self, request: Request, query: dict[str, str], method: str) -> None:
        """Check the API key, then injected faults, then the quotas."""
        key = request.headers.get("x-goog-api-key") or query.get("key")
        if not key:
            raise errors.no_key()
        if key != self.key:
            raise errors.key_invalid()
        fault = self._faults.next()
        if fault is not None:
            raise FAULTS[fault](method)
        if self.per_day is not None and self.calls[method] >= self.per_day:
            raise errors.exhausted(method, "day", self.per_day)
        if self.per_minute is not None and self._minute[method] >= self.per_minute:
            raise errors.exhausted(method, "minute", self.per_minute)
        self.calls[method] += 1
        self._minute[method] += 1

    # -- the methods ---------------------------------------------------------------------------------------------------

    def _search_text(self, asked: dict[str, Any], mask: Mask) -> dict[str, Any]:
        text = asked.get("textQuery") or ""
        if not text.strip():
            raise errors.invalid(f"Empty text_query. {MISMATCH}" if asked.get("pageToken") else "Empty text_query.")
        size, start = read_size(asked), self._start(asked)
        found = self._found(asked, text)[:MAX_RESULTS]
        shown = [mask.of(self._place(one, asked)) for one in found[start : start + size]]
        answer: dict[str, Any] = {"places": shown} if shown else {}
        if start + size < len(found) and "nextPageToken" in mask.beside:
            answer["nextPageToken"] = self._token(asked, start + size)
        return answer

    def _found(self, asked: dict[str, Any], text: str) -> list[Business]:
        query, box = read_text(text), read_box(asked)
        included = asked.get("includedType")
        least = asked.get("minRating", 0)

        def wanted(seat: Location) -> bool:
            return query.wants(seat) and included in (None, seat.trade.google)

        found = self._map.within(box, wanted)
        if query.rest:
            found = [one for one in found if all(word in plain(one.name) for word in query.rest)]
        if not asked.get("includePureServiceAreaBusinesses"):
            found = [one for one in found if not is_service_area(one)]
        found = [one for one in found if place_id(self._seed, one.number) not in self._gone]
        return [one for one in found if not least or (is_rated(one) and one.rating >= least)]

    def _search_nearby(self, asked: dict[str, Any], mask: Mask) -> dict[str, Any]:
        circle = asked.get("locationRestriction", {}).get("circle")
        if circle is None:
            raise errors.invalid("location_restriction.circle is a required field.")
        size = asked.get("maxResultCount", 20)
        if not 1 <= size <= 20:
            raise errors.invalid("max_result_count must be between 1 and 20 (inclusive).")
        types = set(asked.get("includedTypes") or asked.get("includedPrimaryTypes") or ())
        center = circle["center"]

        def wanted(seat: Location) -> bool:
            near = _metres(seat, center["latitude"], center["longitude"]) <= circle["radius"]
            return near and (not types or seat.trade.google in types)

        found = [one for one in self._map.within(None, wanted) if not is_service_area(one)]
        shown = [mask.of(self._place(one, asked)) for one in found[:size]]
        return {"places": shown} if shown else {}

    def _details(self, identity: str, mask: Mask, query: dict[str, str]) -> dict[str, Any]:
        number = number_of(identity)
        if number is None:
            raise errors.invalid(f"Not a valid Place ID: {identity}")
        world = self._map.world
        if number >= len(world) or place_id(self._seed, number) != identity or identity in self._gone:
            raise errors.not_found()
        return mask.of(self._place(world[number], query))

    def _place(self, business: Business, asked: dict[str, Any]) -> dict[str, Any]:
        shown = place(self._seed, business, asked.get("languageCode", "en"))
        to = self._moved.get(shown["id"])
        if to is None:
            return shown
        return shown | {"businessStatus": "CLOSED_PERMANENTLY", "movedPlace": f"places/{to}", "movedPlaceId": to}

    # -- pages ---------------------------------------------------------------------------------------------------------

    def _token(self, asked: dict[str, Any], start: int) -> str:
        return base64.urlsafe_b64encode(json.dumps([_digest(asked), start]).encode()).decode()

    def _start(self, asked: dict[str, Any]) -> int:
        """Return the offset of the page: 0, or that of a token of the same search."""
        token = asked.get("pageToken")
        if not token:
            return 0
        try:
            digest, start = json.loads(base64.urlsafe_b64decode(token))
        except ValueError:
            raise errors.invalid("The page token is invalid.") from None
        if digest != _digest(asked):
            raise errors.invalid(MISMATCH)
        return int(start)


def _digest(asked: dict[str, Any]) -> str:
    return blake2b(fingerprint(asked).encode(), digest_size=8).hexdigest()


def _metres(seat: Location, latitude: float, longitude: float) -> float:
    """Compute a distance on a plane, accurate enough for fifty kilometres."""
    north = (seat.latitude - latitude) * 111_195
    east = (seat.longitude - longitude) * 111_195 * 0.52  # at sixty degrees north
    return float((north**2 + east**2) ** 0.5)
