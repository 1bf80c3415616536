"""Fakes of Nominatim and Overpass: response formats, usage policies and errors."""

import math
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from scrapersky.extract.countries import country_code
from scrapersky.sandbox.osm.element import FIRST_ID, element, kind_of, tags_of
from scrapersky.sandbox.osm.overpass_filters import Statement
from scrapersky.sandbox.osm.overpass_query import ParseError, Query, box_of, parse
from scrapersky.sandbox.server.fault_injection import FaultInjector
from scrapersky.sandbox.server.response import Request, Response, json_response
from scrapersky.sandbox.world.business import Business, Location
from scrapersky.sandbox.world.cities import City, cities, countries
from scrapersky.sandbox.world.data_files import table
from scrapersky.sandbox.world.slugs import slug
from scrapersky.sandbox.world.spatial_index import Map
from scrapersky.sandbox.world.trades import trades

LICENCE = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"
# User agents that identify nobody: none, or the default of an HTTP library.
LIBRARIES = re.compile(
    r"$|python-(?:requests|httpx|urllib)|python/\S{1,20} aiohttp|curl/|wget/|go-http-client|java/|okhttp|axios/|node",
    re.IGNORECASE,
)
STRUCTURED = ("street", "city", "county", "state", "country", "postalcode")
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
    """Knows the cities of the sandbox and some other places; refuses requests less than `min_seconds` apart."""

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
            return _reverse(asked)
        if path.rstrip("/") not in ("/search", "/search.php"):
            return _html(404, "Not found")
        return self._search(asked)

    def _search(self, asked: dict[str, str]) -> Response:
        form = asked.get("format", "jsonv2")
        if form not in FORMATS:
            message = f"Parameter 'format' must be one of: {', '.join(FORMATS)}"
            return json_response({"error": {"code": 400, "message": message}}, 400)
        if asked.get("q") and any(key in asked for key in STRUCTURED):
            message = "Structured query parameters cannot be used together with 'q' parameter."
            return json_response({"error": {"code": 400, "message": message}}, 400)
        text = asked.get("q") or ", ".join(
            asked[key] for key in ("postalcode", "city", "county", "country") if key in asked
        )
        if not text:
            return json_response({"error": {"code": 400, "message": "Nothing to search for."}}, 400)
        codes = [code.upper() for code in asked.get("countrycodes", "").split(",") if code]
        named = _postcodes(asked) if "postalcode" in asked else _named_places(text)
        found = [place for place in named if not codes or place["address"]["country_code"].upper() in codes]
        limit = int(asked["limit"]) if asked.get("limit", "").isdecimal() else 10
        shown = [_shown(place, form, asked.get("addressdetails") == "1") for place in found[: min(limit, 40)]]
        return json_response(shown)


def _named_places(text: str) -> list[dict[str, Any]]:
    """Return the places whose name is the first part of the text and whose address has the other parts."""
    name, *parts = (slug(part) for part in text.split(","))
    found = [_city_place(city) for city in cities().values() if name in (slug(city.name), slug(city.english))]
    found += [_other_place(place) for place in table("places")["places"] if name == slug(place["name"])]
    return [place for place in found if all(_is_part(part, place["address"]) for part in parts)]


def _is_part(part: str, address: dict[str, str]) -> bool:
    """Check that an address has this part; a country in English, too."""
    return part in map(slug, address.values()) or (country_code(part) or "").lower() == address["country_code"]


def _postcodes(asked: dict[str, str]) -> list[dict[str, Any]]:
    """Return the postcode in every country that writes such ones: a place without an object on the map."""
    code, country = asked["postalcode"].replace(" ", ""), slug(asked.get("country", ""))
    found = []
    for city in cities().values():
        pattern = "".join(r"\d" if letter == "#" else re.escape(letter) for letter in city.postcode if letter != " ")
        if re.fullmatch(pattern, code) and (not country or _is_part(country, _city_place(city)["address"])):
            place = _city_place(city)
            for key in ("osm_type", "osm_id"):
                del place[key]
            place |= {"category": "place", "type": "postcode", "addresstype": "postcode", "name": asked["postalcode"]}
            place |= {"place_rank": 21, "importance": 0.12}
            place["display_name"] = f"{asked['postalcode']}, {place['display_name']}"
            place["address"] = {"postcode": asked["postalcode"], **place["address"]}
            found.append(place)
    return found


def _reverse(asked: dict[str, str]) -> Response:
    """Respond with the city at a point; elsewhere with nothing."""
    try:
        point = float(asked["lat"]), float(asked["lon"])
    except (KeyError, ValueError):
        return json_response({"error": {"code": 400, "message": "Parameter 'lat' must be a number."}}, 400)
    found = [_city_place(city) for city in cities().values() if city.box.holds(*point)]
    if not found:
        return json_response({"error": "Unable to geocode"})
    return json_response(_shown(found[0], asked.get("format", "jsonv2"), True))


def _city_place(city: City) -> dict[str, Any]:
    """Build the answer for a city: coordinates as strings, the box as south, north, west, east."""
    box, country = city.box, countries()[city.country]
    return {
        "place_id": city.relation + 1_000_000,
        "licence": LICENCE,
        "osm_type": "relation",
        "osm_id": city.relation,
        "lat": f"{(box.south + box.north) / 2:.7f}",
        "lon": f"{(box.west + box.east) / 2:.7f}",
        "category": "boundary",
        "type": "administrative",
        "place_rank": 16,
        "importance": 0.75,
        "addresstype": "city",
        "name": city.name,
        "display_name": f"{city.name}, {country.name}",
        "boundingbox": [f"{side:.7f}" for side in (box.south, box.north, box.west, box.east)],
        "address": {"city": city.name, "country": country.name, "country_code": country.code.lower()},
    }


def _other_place(place: dict[str, Any]) -> dict[str, Any]:
    """Build the answer for a place that is on the map, but has no business."""
    box = box_of(place)
    edges = (box.south, box.north, box.west, box.east)
    parts = [place[part] for part in ("name", "county", "state", "country") if part in place]
    address = {place["kind"]: place["name"], **{part: place[part] for part in ("county", "state") if part in place}}
    return {
        "place_id": place["relation"] + 1_000_000,
        "licence": LICENCE,
        "osm_type": "relation",
        "osm_id": place["relation"],
        "lat": f"{place['latitude']:.7f}",
        "lon": f"{place['longitude']:.7f}",
        "category": "boundary",
        "type": "administrative",
        "place_rank": 16,
        "importance": place["importance"],
        "addresstype": place["kind"],
        "name": place["name"],
        "display_name": ", ".join(parts),
        "boundingbox": [f"{side:.7f}" for side in edges],
        "address": {**address, "country": place["country"], "country_code": place["code"]},
    }


def _shown(place: dict[str, Any], form: str, details: bool) -> dict[str, Any]:
    """Return a place as the format names its fields, with its address if that was asked for."""
    shown = {("class" if key == "category" and form == "json" else key): value for key, value in place.items()}
    return shown if details else {key: value for key, value in shown.items() if key != "address"}


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
