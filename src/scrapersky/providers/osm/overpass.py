"""Overpass: queries in Overpass QL, and the service that runs them, one query at a time."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from scrapersky.providers.areas.area import Area
from scrapersky.providers.areas.geometry import Box, Circle
from scrapersky.providers.base import ProviderBusy, ProviderFailed, ProviderRefused, QueryRefused
from scrapersky.providers.http_api import Api, ApiResponse
from scrapersky.providers.response_cache import InMemoryResponseCache, ResponseCache
from scrapersky.providers.throttle import Throttle

POLICY = "https://dev.overpass-api.de/overpass-doc/en/preface/commons.html"
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
CACHE_TTL = timedelta(hours=1)
MIN_WAIT, DEFAULT_WAIT, MAX_WAIT = timedelta(seconds=5), timedelta(minutes=1), timedelta(minutes=10)
_SLOT = re.compile(r"^Slot available after: .{1,40}?, in (-?\d{1,6}) seconds", re.MULTILINE)
_FREE = re.compile(r"^[1-9]\d{0,5} slots? available now", re.MULTILINE)
_ERROR = re.compile(r"</strong>:\s{0,20}([^<\n]{1,200})")

TIMEOUT_SECONDS = 60
MEMORY_BYTES = 134_217_728
# Excludes streets, stops and benches from a search by name.
BUSINESS_KEYS = "^(shop|craft|office|amenity|healthcare|tourism|leisure)$"
FIRST_AREA = 3_600_000_000  # plus the id of the relation of its border is the id of an area
_ELEMENT = re.compile(r"(node|way|relation)/([1-9][0-9]{0,18})")
_HEAD = f"[out:json][timeout:{TIMEOUT_SECONDS}][maxsize:{MEMORY_BYTES}];"

Element = Mapping[str, Any]


class TooLarge(ProviderFailed):
    """The query needs more time or memory than the server gives; for a smaller area it may not."""

    opens_breaker = False


class Overpass:
    """Sends one query at a time, and caches the results."""

    def __init__(
        self, api: Api, throttle: Throttle, cache: ResponseCache | None = None, *, ttl: timedelta = CACHE_TTL
    ) -> None:
        self._api = api
        self._throttle = throttle
        self._cache = cache or InMemoryResponseCache()
        self._ttl = ttl

    async def elements(self, query: str) -> list[Element]:
        """Return the elements that a query finds; a result with a remark is incomplete and counts as failed."""

        async def send() -> list[Element]:
            return await self._send(query)

        return await self._throttle.cached(self._cache, f"{self._api.base_url}\n{query}", self._ttl, send)

    async def _send(self, query: str) -> list[Element]:
        body = urlencode({"data": query}).encode()
        response = await self._api.send("POST", "/interpreter", headers=FORM, body=body)
        if response.status in (429, 504):
            why = "has no free slot for us" if response.status == 429 else "is too busy"
            raise ProviderBusy(f"Overpass {why} (it answers {response.status}).", await self._wait())
        return _elements(response, self._api.setting)

    async def _wait(self) -> timedelta:
        """Return when the server has a slot for us again, by its status page."""
        try:
            status = await self._api.send("GET", "/status", headers={"Accept": "text/plain"})
        except ProviderFailed:
            return DEFAULT_WAIT
        slots = [int(seconds) for seconds in _SLOT.findall(status.text)]
        if _FREE.search(status.text):
            return MIN_WAIT
        return min(max(timedelta(seconds=min(slots) + 1), MIN_WAIT), MAX_WAIT) if slots else DEFAULT_WAIT


def _elements(response: ApiResponse, setting: str) -> list[Element]:
    status = response.status
    if status == 400:
        reason = _ERROR.search(response.text)
        raise QueryRefused(f"Overpass does not accept the query: {reason[1] if reason else 'no reason given'}")
    if status >= 500:
        raise ProviderFailed(f"Overpass answers {status}.")
    found = response.json
    if status != 200 or not isinstance(found, dict):
        if response.is_html:
            raise ProviderRefused(
                f"Overpass does not serve us (it answers {status} with a page). Read its rules at {POLICY}, set "
                f"CRAWL_CONTACT_URL, or use another server with {setting}."
            )
        raise ProviderFailed(f"Overpass answers {status} with something that is not a list of elements.")
    if found.get("remark"):
        remark = " ".join(str(found["remark"]).split())[:200]
        raise TooLarge(f"Overpass gave up: {remark} A smaller area or a lower limit helps.")
    elements = found.get("elements")
    return [element for element in elements if isinstance(element, dict)] if isinstance(elements, list) else []


def query_by_tags(tags: tuple[str, ...], area: Area, limit: int, tile: Box | None = None) -> str:
    """Return the query for elements with a name and selector of these tags ("craft=plumber", or "craft" alone)."""
    return _within(area, [f'["name"]{_tag_filter(tag)}' for tag in tags], limit, tile)


def query_by_name(text: str, area: Area, limit: int, tile: Box | None = None) -> str:
    """Return the query for businesses whose name contains the text, in any case."""
    return _within(area, [f'["name"~{_quoted(re.escape(text))},i][~{_quoted(BUSINESS_KEYS)}~"."]'], limit, tile)


def query_by_id(provider_id: str) -> str | None:
    """Return the query for selector element, such as node/123; None if the id has another form."""
    match = _ELEMENT.fullmatch(provider_id)
    return f"{_HEAD}\n{match[1]}({match[2]});\nout center tags;" if match else None


def _within(area: Area, filters: list[str], limit: int, tile: Box | None) -> str:
    # The box in addition to the border saves the server a search through the whole country.
    border = "" if area.relation is None else "(area.a)"
    if isinstance(area.shape, Circle):
        border = f"(around:{area.shape.radius_metres:.1f},{area.shape.latitude:.7f},{area.shape.longitude:.7f})"
    lines = [_HEAD] if area.relation is None else [_HEAD, f"area({FIRST_AREA + area.relation})->.a;"]
    # In halves: not every Overpass server accepts a box across the antimeridian.
    boxes = (tile or area.box).halves()
    parts = " ".join(f"nwr{border}{selector}{_box(box)};" for selector in filters for box in boxes)
    return "\n".join([*lines, f"( {parts} );", f"out center tags qt {limit};"])


def _box(box: Box) -> str:
    return f"({box.south:.7f},{box.west:.7f},{box.north:.7f},{box.east:.7f})"


def _tag_filter(tag: str) -> str:
    key, equals, value = tag.partition("=")
    return f"[{_quoted(key)}={_quoted(value)}]" if equals else f"[{_quoted(key)}]"


def _quoted(text: str) -> str:
    """Return a quoted and escaped string of Overpass QL."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
