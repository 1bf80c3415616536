"""Overpass: what OpenStreetMap has in an area, one question at a time."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from scrapersky.providers.base import ProviderBusy, ProviderFailed, ProviderRefused
from scrapersky.providers.http_api import Api, ApiResponse
from scrapersky.providers.response_cache import InMemoryResponseCache, ResponseCache
from scrapersky.providers.throttle import Throttle

POLICY = "https://dev.overpass-api.de/overpass-doc/en/preface/commons.html"
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
GOOD_FOR = timedelta(hours=1)
MIN_WAIT, USUAL_WAIT, MAX_WAIT = timedelta(seconds=5), timedelta(minutes=1), timedelta(minutes=10)
_SLOT = re.compile(r"^Slot available after: .{1,40}?, in (-?\d{1,6}) seconds", re.MULTILINE)
_FREE = re.compile(r"^[1-9]\d{0,5} slots? available now", re.MULTILINE)
_ERROR = re.compile(r"</strong>:\s{0,20}([^<\n]{1,200})")

Element = Mapping[str, Any]


class Overpass:
    """Asks one question at a time, and none twice while its answer is good."""

    def __init__(
        self, api: Api, turns: Throttle, answers: ResponseCache | None = None, *, good_for: timedelta = GOOD_FOR
    ) -> None:
        self._api = api
        self._answers = answers or InMemoryResponseCache()
        self._good_for = good_for
        self._turns = turns

    async def ask(self, question: str) -> list[Element]:
        """The elements of the answer; an answer with a remark is a failure, however well it looks."""
        named = f"{self._api.base_url}\n{question}"
        found: list[Element] | None = await self._answers.find(named)
        if found is not None:
            return found
        async with self._turns.turn():
            found = await self._answers.find(named)  # of whoever had the turn before us
            if found is None:
                found = await self._ask(question)
                await self._answers.keep(named, found, self._good_for)
        return found

    async def _ask(self, question: str) -> list[Element]:
        body = urlencode({"data": question}).encode()
        answer = await self._api.ask("POST", "/interpreter", headers=FORM, body=body)
        if answer.status in (429, 504):
            why = "has no free slot for us" if answer.status == 429 else "is too busy"
            raise ProviderBusy(f"Overpass {why} (it answers {answer.status}).", await self._wait())
        return _elements(answer, self._api.setting)

    async def _wait(self) -> timedelta:
        """When the server says it has a slot for us again."""
        try:
            status = await self._api.ask("GET", "/status", headers={"Accept": "text/plain"})
        except ProviderFailed:
            return USUAL_WAIT  # it answered a moment ago, so it is only busy
        slots = [int(seconds) for seconds in _SLOT.findall(status.text)]
        if _FREE.search(status.text):
            return MIN_WAIT
        return min(max(timedelta(seconds=min(slots) + 1), MIN_WAIT), MAX_WAIT) if slots else USUAL_WAIT


def _elements(answer: ApiResponse, setting: str) -> list[Element]:
    if answer.status == 400:
        told = _ERROR.search(answer.text)
        raise ProviderRefused(f"Overpass does not understand the question: {told[1] if told else 'no reason given'}")
    if answer.status >= 500:
        raise ProviderFailed(f"Overpass answers {answer.status}.")
    found = answer.json
    if answer.status != 200 or not isinstance(found, dict):
        if answer.is_html:
            raise ProviderRefused(
                f"Overpass does not serve us (it answers {answer.status} with a page). Read its rules at {POLICY}, set "
                f"CRAWL_CONTACT_URL, or use another server with {setting}."
            )
        raise ProviderFailed(f"Overpass answers {answer.status} with something that is no list of elements.")
    if found.get("remark"):
        raise ProviderFailed(
            f"Overpass gave up: {' '.join(str(found['remark']).split())[:200]} A smaller area or a lower limit helps."
        )
    elements = found.get("elements")
    return [one for one in elements if isinstance(one, dict)] if isinstance(elements, list) else []
