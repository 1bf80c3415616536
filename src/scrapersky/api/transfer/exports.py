"""Exports: every row of a noun that matches, streamed as a file."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, may
from scrapersky.api.http.file_stream import FILE_ANSWER, Ending, file_of
from scrapersky.api.http.problems import answers
from scrapersky.api.line.businesses import BusinessFilter
from scrapersky.api.line.contacts import ContactFilter
from scrapersky.api.line.domains import DomainFilter
from scrapersky.api.line.pages import PageFilter
from scrapersky.api.line.places import PlaceFilter
from scrapersky.api.line.sitemaps import SitemapFilter
from scrapersky.api.privacy.suppressions import SuppressionFilter
from scrapersky.api.schemas.fields import RequestModel
from scrapersky.api.schemas.listing import given
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import export as exports
from scrapersky.store.listing.export import EXPORTED
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import Resource

FILTERS: Mapping[str, type[RequestModel]] = {
    "places": PlaceFilter,
    "businesses": BusinessFilter,
    "domains": DomainFilter,
    "sitemaps": SitemapFilter,
    "pages": PageFilter,
    "contacts": ContactFilter,
    "suppressions": SuppressionFilter,
}

router = APIRouter(prefix="/exports", tags=["exports"], responses=answers(422, 429, 503))


def _export_of(noun: Resource, filter_kind: type[RequestModel]) -> Callable[..., Any]:
    async def export(
        query: Annotated[filter_kind, Query()],  # type: ignore[valid-type]
        application: CurrentApplication,
        actor: CurrentActor,
        ending: Ending,
    ) -> StreamingResponse:
        filters = given(query, noun)
        async with application.database.session(actor.tenant_id) as session:
            await exports.note(session, actor, noun.name, filters, ending)
        rows = _rows(application, actor, noun, filters, flat=ending == "csv")
        return await file_of(noun.name, ending, exports.columns_of(noun), rows)

    return export


async def _rows(
    application: WebApplication, actor: Actor, noun: Resource, filters: Filters, *, flat: bool
) -> AsyncGenerator[dict[str, Any]]:
    async with (
        application.downloads.session(actor.tenant_id) as session,
        aclosing(exports.rows(session, noun, actor.tenant_id, filters, flat=flat)) as rows,
    ):
        async for row in rows:
            yield row


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
        responses=FILE_ANSWER,
    )
