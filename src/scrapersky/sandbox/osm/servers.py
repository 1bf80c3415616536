"""Fakes of Nominatim and Overpass: response formats, usage policies and errors."""

import math
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from scrapersky.sandbox.osm.element import FIRST_ID, element, kind_of, tags_of
from scrapersky.sandbox.osm.overpass_filters import Statement
from scrapersky.sandbox.osm.overpass_query import ParseError, Query, parse
from scrapersky.sandbox.server.fault_injection import FaultInjector
from scrapersky.sandbox.server.response import Request, Response, json_response
from scrapersky.sandbox.world.business import Business, Location
from scrapersky.sandbox.world.cities import City, cities, countries
from scrapersky.sandbox.world.slugs import slug
from scrapersky.sandbox.world.spatial_index import Map
from scrapersky.sandbox.world.trades import trades

LICENCE = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"
# User agents that identify nobody: none, or the default of an HTTP library.
LIBRARIES = re.compile(
    r"$|python-(?:requests|httpx|urllib)|python/\S{1,20} aiohttp|curl/|wget/|go-http-client|java/|okhttp|axios/|node",
    re.IGNORECASE,
)
FORMATS = ("xml", "json", "jsonv2", "geojson", "geocodejson")
BASE_TIME = "2026-11-15T08:00:00Z"
COPYRIGHT = "The data included in this document is from www.openstreetmap.org. The data is made available under ODbL."


def _html(status: int, text: str) -> Response:
    page = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<html><head><title>OSM3S Response</title></head><body>\n'
        "<p>The data included in this document is from www.openstreetmap.org.</p>\n"
        f'<p><strong style="color:#FF0000">Error</strong>: {text}</p>\n</body></html>\n'
    )
    return Response(status, page.encode(), "text/html; charset=utf-8")


def _blocked(status: int) -> Response:
    page = (
        "<html><head><title>Access blocked</title></head><body><h1>Access blocked</h1><p>You have been blocked because "
        "you have violated the usage policy of OSM's Nominatim geocoding service.</p></body></html>"
    )
    return Response(status, page.encode(), "text/html; charset=utf-8")


NOMINATIM_FAULTS: dict[str, Callable[[], Response]] = {
    "blocked": lambda: _blocked(403),
    "too_many": lambda: _blocked(429),
    "broken": lambda: _html(500, "Internal error"),
}


class FakeNominatim:
    """Knows the cities of the sandbox and nothing else; wants `min_seconds` between two questions, if any."""

    def __init__(self, min_seconds: float = 0, now: Callable[[], float] = time.monotonic) -> None:
        self.calls = 0
        self.min_seconds = min_seconds
        self._now = now
        self._asked_at = -math.inf
        self._faults = FaultInjector(NOMINATIM_FAULTS)

    def fail(self, kind: str, times: int = 1) -> None:
        """Let the next calls fail in this way."""
        self._faults.order(kind, times)

    def answer(self, request: Request, path: str) -> Response:
        """Respond as Nominatim: clients without an identification or above the rate are blocked."""
        self.calls += 1
        is_hasty = self._now() - self._asked_at < self.min_seconds
        self._asked_at = self._now()
        fault = self._faults.next()
        if fault is not None:
            return NOMINATIM_FAULTS[fault]()
        if LIBRARIES.match(request.headers.get("user-agent", "")):
            return _blocked(403)
        if is_hasty:
            return _blocked(429)
        asked = {name: values[0] for name, values in parse_qs(request.query).items()}
        if path.rstrip("/") == "/status":
            return json_response({"status": 0, "message": "OK"})
        if path.rstrip("/") == "/reverse":
            return json_response({"error": "Unable to geocode"})
        if path.rstrip("/") not in ("/search", "/search.php"):
            return _html(404, "Not found")
        return self._search(asked)

    def _search(self, asked: dict[str, str]) -> Response:
        form = asked.get("format", "jsonv2")
        if form not in FORMATS:
            message = f"Parameter 'format' must be one of: {', '.join(FORMATS)}"
            return json_response({"error": {"code": 400, "message": message}}, 400)
        text = asked.get("q") or ", ".join(asked[key] for key in ("city", "county", "country") if key in asked)
        if not text:
            return json_response({"error": {"code": 400, "message": "Nothing to search for."}}, 400)
        codes = [code.upper() for code in asked.get("countrycodes", "").split(",") if code]
        found = [city for city in cities().values() if _is_named(city, text) and (not codes or city.country in codes)]
        limit = int(asked["limit"]) if asked.get("limit", "").isdecimal() else 10
        shown = [_place(city, form, asked.get("addressdetails") == "1") for city in found[: min(limit, 40)]]
        return json_response(shown)


def _is_named(city: City, text: str) -> bool:
    """Check that the first part of the text is the city's name, in its language or in English."""
    return slug(text.partition(",")[0]) in (slug(city.name), slug(city.english))


def _place(city: City, form: str, details: bool) -> dict[str, Any]:
    """Render a city as jsonv2: coordinates as strings, the box as south, north, west, east."""
    box, country = city.box, countries()[city.country]
    shown: dict[str, Any] = {
        "place_id": city.relation + 1_000_000,
        "licence": LICENCE,
        "osm_type": "relation",
        "osm_id": city.relation,
        "lat": f"{(box.south + box.north) / 2:.7f}",
        "lon": f"{(box.west + box.east) / 2:.7f}",
        "category" if form == "jsonv2" else "class": "boundary",
        "type": "administrative",
        "place_rank": 16,
        "importance": 0.75,
        "addresstype": "city",
        "name": city.name,
        "display_name": f"{city.name}, {country.name}",
        "boundingbox": [f"{side:.7f}" for side in (box.south, box.north, box.west, box.east)],
    }
    if details:
        shown["address"] = {"city": city.name, "country": country.name, "country_code": country.code.lower()}
    return shown


OVERPASS_FAULTS: dict[str, Callable[[], Response]] = {
    "rate_limited": lambda: _html(
        429,
        "runtime error: open64: 0 Success /osm3s_osm_base Dispatcher_Client::request_read_and_idx::rate_limited. "
        "Please check /api/status for the quota of your IP address.",
    ),
    "busy": lambda: _html(
        504,
        "runtime error: open64: 0 Success /osm3s_osm_base Dispatcher_Client::request_read_and_idx::timeout. "
        "The server is probably too busy to handle your request.",
    ),
    "timeout": lambda: _elements([], 'runtime error: Query timed out in "query" at line 4 after 2 seconds.'),
    "memory": lambda: _elements(
        [], 'runtime error: Query run out of memory in "query" at line 4 using about 1024 MB of RAM.'
    ),
}


class FakeOverpass:
    """Answers queries over the businesses of a world."""

    def __init__(self, places: Map) -> None:
        self.calls = 0
        self._map = places
        self._faults = FaultInjector(OVERPASS_FAULTS)

    def fail(self, kind: str, times: int = 1) -> None:
        """Let the next calls fail in this way."""
        self._faults.order(kind, times)

    def answer(self, request: Request, path: str) -> Response:
        """Respond as Overpass."""
        if path.rstrip("/") == "/api/status":
            return Response(200, _status().encode(), "text/plain; charset=utf-8")
        if path.rstrip("/") != "/api/interpreter":
            return _html(404, "Not found")
        self.calls += 1
        fault = self._faults.next()
        if fault is not None:
            return OVERPASS_FAULTS[fault]()
        try:
            return self._run(parse(_text_of(request)))
        except ParseError as error:
            return _html(400, str(error))

    def _run(self, query: Query) -> Response:
        found: dict[int, tuple[Business, dict[str, str]]] = {}
        for statement in query.statements:
            for business in self._candidates(statement):
                if business.number not in found:
                    tags = tags_of(business)
                    if all(one.passes(tags) for one in statement.tags):
                        found[business.number] = (business, tags)
        if "count" in query.out:
            return _elements([_count([kind_of(number) for number in found])])
        chosen = sorted(found.items())[: query.limit]
        return _elements([element(business, tags, query.out) for _, (business, tags) in chosen])

    def _candidates(self, statement: Statement) -> list[Business]:
        """Return the businesses of the right kind and place; other trades are skipped before they are generated."""
        keys = {trade.osm_key for trade in trades().values()}
        asked = [(tag.key, tag.value) for tag in statement.tags if tag.operator == "=" and tag.key in keys]

        def wanted(seat: Location) -> bool:
            if kind_of(seat.number) not in statement.kinds:
                return False
            if statement.ids and FIRST_ID + seat.number not in statement.ids:
                return False
            if any(pair != (seat.trade.osm_key, seat.trade.osm_value) for pair in asked):
                return False
            return statement.holds(seat.latitude, seat.longitude)

        return self._map.within(statement.boxes[0] if statement.boxes else None, wanted)


def _text_of(request: Request) -> str:
    """Return the query from the form, from the URL, or from the whole body."""
    body = request.body.decode("utf-8", "replace")
    for source in (body, request.query):
        found = parse_qs(source).get("data") if source.startswith("data=") or "&data=" in source else None
        if found:
            return found[0]
    if not body.strip():
        raise ParseError("line 1: parse error: an empty query is not allowed")
    return body


def _elements(elements: list[dict[str, Any]], remark: str | None = None) -> Response:
    answer: dict[str, Any] = {
        "version": 0.6,
        "generator": "Overpass API 0.7.62.1 084b4234",
        "osm3s": {"timestamp_osm_base": BASE_TIME, "copyright": COPYRIGHT},
        "elements": elements,
    }
    return json_response(answer | ({"remark": remark} if remark else {}))


def _count(kinds: list[str]) -> dict[str, Any]:
    numbers = {f"{kind}s": str(kinds.count(kind)) for kind in ("node", "way", "relation")}
    return {"type": "count", "id": 0, "tags": {**numbers, "total": str(len(kinds))}}


def _status() -> str:
    return (
        "Connected as: 2130706433\nCurrent time: 2026-11-15T08:00:00Z\nRate limit: 2\n2 slots available now.\n"
        "Currently running queries (pid, space limit, time limit, start time):\n"
    )
