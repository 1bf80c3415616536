"""Exports: every row of a noun that matches, streamed as a file."""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from starlette.responses import StreamingResponse

from scrapersky.api.access import VIEWER, CurrentActor, may
from scrapersky.api.businesses import BusinessFilter
from scrapersky.api.contacts import ContactFilter
from scrapersky.api.domains import DomainFilter
from scrapersky.api.fields import Asked
from scrapersky.api.lists import given
from scrapersky.api.office import Given, Office
from scrapersky.api.pages import PageFilter
from scrapersky.api.places import PlaceFilter
from scrapersky.api.problems import answers
from scrapersky.api.sitemaps import SitemapFilter
from scrapersky.core import clock
from scrapersky.destinations.lead_file import safe_cell
from scrapersky.store import exports
from scrapersky.store.audit import Actor
from scrapersky.store.exports import EXPORTED
from scrapersky.store.lists import Filters
from scrapersky.store.nouns import Noun

ROWS_AT_ONCE = 200
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}

FILTERS: Mapping[str, type[Asked]] = {
    "places": PlaceFilter,
    "businesses": BusinessFilter,
    "domains": DomainFilter,
    "sitemaps": SitemapFilter,
    "pages": PageFilter,
    "contacts": ContactFilter,
}

Ending = Annotated[Literal["csv", "jsonl"], Path(description="the kind of file")]

router = APIRouter(prefix="/exports", tags=["exports"], responses=answers(422, 503))


def _export_of(noun: Noun, filter_kind: type[Asked]) -> Callable[..., Any]:
    async def export(
        query: Annotated[filter_kind, Query()],  # type: ignore[valid-type]
        office: Given,
        actor: CurrentActor,
        ending: Ending,
    ) -> StreamingResponse:
        chunks = _chunks(office, actor, noun, given(query, noun), ending)
        first = await anext(chunks)  # a database that is away is a problem document, not half a file
        name = f"{noun.name}-{clock.now():%Y-%m-%d}.{ending}"
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return StreamingResponse(_after(first, chunks), media_type=TYPES[ending], headers=headers)

    return export


async def _after(first: str, chunks: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for chunk in chunks:
        yield chunk


async def _chunks(office: Office, actor: Actor, noun: Noun, filters: Filters, ending: str) -> AsyncIterator[str]:
    """The file in pieces: its head when the cursor stands, then some rows at once."""
    columns, lines = exports.columns_of(noun), list[str]()
    async with office.database.session(actor.tenant_id) as session:
        found = exports.rows(session, noun, actor.tenant_id, filters, flat=ending == "csv")
        head = "\ufeff" + _csv(columns) if ending == "csv" else ""  # the mark makes spreadsheets read UTF-8
        async for row in found:
            lines.append(_csv(map(safe_cell, row.values())) if ending == "csv" else _json(row))
            if len(lines) >= ROWS_AT_ONCE:
                yield head + "".join(lines)
                head = ""
                lines.clear()
        yield head + "".join(lines)


def _csv(cells: Any) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


for _name, _filter in FILTERS.items():
    router.add_api_route(
        f"/{_name}.{{ending}}",
        _export_of(EXPORTED[_name], _filter),
        methods=["GET"],
        name=f"export_{_name}",
        summary=f"A file of {_name}",
        openapi_extra=may(VIEWER),
        description="Every row that matches, the oldest first, streamed. In CSV no cell can run as a formula.",
        response_class=StreamingResponse,
        responses={200: {"description": "The file", "content": {"text/csv": {}, "application/x-ndjson": {}}}},
    )
