"""Exports: all rows of a resource that match, streamed as a file."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.downloads import FileFormat, stream_file
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.resources.models import filter_query, set_filters
from scrapersky.api.schemas.fields import RequestModel
from scrapersky.api.schemas.files import Columns, file_responses
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import export as exports
from scrapersky.store.listing.columns import ColumnMeaning, meaning_of
from scrapersky.store.listing.export import EXPORTED
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import Resource

FILTERS: Mapping[str, type[RequestModel]] = {name: filter_query(resource) for name, resource in EXPORTED.items()}

router = APIRouter(prefix="/exports", tags=["exports"])


def _columns(resource: Resource) -> Columns:
    table = resource.model.__tablename__
    return {name: meaning_of(table, name) or ColumnMeaning("", None) for name in exports.columns_of(resource)}


def _export_of(resource: Resource, filter_type: type[RequestModel]) -> Callable[..., Any]:
    async def export(
        query: Annotated[filter_type, Query()],  # type: ignore[valid-type]
        application: CurrentApplication,
        actor: CurrentActor,
        ending: FileFormat,
    ) -> StreamingResponse:
        return await export_rows(application, actor, resource, set_filters(query, resource), ending)

    return export


async def export_rows(
    application: WebApplication, actor: Actor, resource: Resource, filters: Filters, ending: str
) -> StreamingResponse:
    """Stream all rows of a resource that match, as a file; the audit records who took them."""
    async with application.database.session(actor.tenant_id) as session:
        await exports.note(session, actor, resource.name, filters, ending)
    rows = application.downloads.rows(
        actor.tenant_id,
        lambda session: exports.rows(session, resource, actor.tenant_id, filters, flat=ending == "csv"),
    )
    return await stream_file(resource.name, ending, exports.columns_of(resource), rows)


for _name, _filter in FILTERS.items():
    router.add_api_route(
        f"/{_name}.{{ending}}",
        _export_of(EXPORTED[_name], _filter),
        methods=["GET"],
        name=f"export_{_name}",
        summary=f"A file of {_name}",
        description="All rows that match, the oldest first, streamed. No cell of a CSV file can run as a formula.",
        response_class=StreamingResponse,
        **requires(VIEWER, responses=file_responses({_name: _columns(EXPORTED[_name])}, "csv", "jsonl")),
    )
