"""Leads over HTTP: typed rows page by page, or a file as the commands write it; of a search, or of several as one."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import StreamingResponse

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.downloads import stream_written_file
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.line.lead_rows import ROW_MODELS, LeadFilterQuery, LeadPage, set_lead_filters
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import MAX_PAGE, RowId
from scrapersky.api.schemas.files import file_responses
from scrapersky.core.vocabularies import JobFunction
from scrapersky.extract.phones.spelling import PhoneFormat
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads import read as leads
from scrapersky.store.leads.columns import BUSINESS_COLUMNS, CONTACT_COLUMNS, EXAMPLES
from scrapersky.store.leads.exported import recorded_leads
from scrapersky.store.leads.read import LeadQuery, Per, Position, chosen_columns, parse_sort, preferred_functions
from scrapersky.store.leads.statements import PARTS
from scrapersky.store.listing import export as exports
from scrapersky.store.listing import paginate
from scrapersky.store.listing.columns import ColumnMeaning
from scrapersky.store.listing.resources import CAMPAIGNS, SEARCHES

FileFormat = Literal["csv", "tsv", "json", "jsonl", "xlsx", "parquet"]

# Returns the searches whose leads a row has. Raises NotFound for a row of another tenant.
SearchesOf = Callable[[AsyncSession, UUID, UUID], Awaitable[tuple[UUID, ...]]]

FILE_COLUMNS = {
    f"per={per}": {name: ColumnMeaning(meaning, EXAMPLES.get(name)) for name, meaning in columns.items()}
    for per, columns in (("business", BUSINESS_COLUMNS), ("contact", CONTACT_COLUMNS))
}
_FUNCTION = f"({'|'.join(JobFunction)})"
_NAMES = "[a-z_]+"
LeadFormat = Annotated[FileFormat, Path(description="the file format")]


class LeadSelection(LeadFilterQuery):
    """Which leads a request asks for."""

    per: Per = Field("business", description="one row per business with its best contacts, or one row per contact")
    prefer: str | None = Field(
        None,
        max_length=200,
        # Described and not enforced: the error of `preferred_functions` names the choices.
        json_schema_extra={"pattern": f"^{_FUNCTION}(,{_FUNCTION}){{0,{len(JobFunction) - 1}}}$"},
        description=(
            "functions whose contacts are the best of a business, comma separated, the most preferred first: "
            f"{', '.join(JobFunction)}; those of the setting SCRAPERSKY_PREFERRED_FUNCTIONS if left out"
        ),
        examples=["marketing,it"],
    )

    def query(self, application: WebApplication, searches: tuple[UUID, ...], sort: str | None = None) -> LeadQuery:
        """Return what the statements need. Raises BadRequest for an unknown function or sort key."""
        preferred = preferred_functions(self.prefer, application.settings.preferred_functions)
        return LeadQuery(searches, self.per, preferred, set_lead_filters(self), parse_sort(self.per, sort))


class LeadListQuery(LeadSelection):
    """The query of a list of leads."""

    cursor: str | None = Field(
        None,
        min_length=1,
        max_length=500,
        description="`next_cursor` of the previous page; opaque",
        examples=["Yq0cE3vR7b5sSYspob7oDQ"],
    )
    limit: int = Field(50, ge=1, le=MAX_PAGE, description="the maximum of items")


class LeadFileQuery(LeadSelection):
    """The query of a file of leads."""

    columns: str | None = Field(
        None,
        max_length=2_000,
        json_schema_extra={"pattern": f"^{_NAMES}(,{_NAMES})*$"},
        description="the columns of the file in their order, comma separated; all if left out",
        examples=["business,email,city"],
    )
    sort: str | None = Field(
        None,
        max_length=500,
        json_schema_extra={"pattern": f"^-?{_NAMES}(,-?{_NAMES})*$"},
        description="columns to sort by, comma separated; `-` sorts in descending order; an unknown one lists all",
        examples=["-rating,city"],
    )
    phone_format: PhoneFormat | None = Field(
        None, description="how phone numbers are written; international in csv, tsv and xlsx if left out, else e164"
    )


async def _one_search(session: AsyncSession, tenant_id: UUID, search_id: UUID) -> tuple[UUID, ...]:
    await paginate.get(session, SEARCHES, tenant_id, search_id)
    return (search_id,)


async def _one_campaign(session: AsyncSession, tenant_id: UUID, campaign_id: UUID) -> tuple[UUID, ...]:
    await paginate.get(session, CAMPAIGNS, tenant_id, campaign_id)
    return (campaign_id,)


async def send_leads(
    application: WebApplication,
    actor: Actor,
    subject: str,
    searches: tuple[UUID, ...],
    ending: FileFormat,
    query: LeadFileQuery,
) -> StreamingResponse:
    """Stream the leads of these searches as a file; the audit records who took them, as `subject`."""
    columns = chosen_columns(query.per, query.columns)
    wanted = query.query(application, searches, query.sort)
    async with application.database.session(actor.tenant_id) as session:
        await exports.note(session, actor, subject, {"per": query.per, **wanted.filters}, ending)
    rows = application.downloads.rows(
        actor.tenant_id, lambda session: recorded_leads(session, wanted, f"{subject}.{ending}")
    )
    return await stream_written_file("leads", ending, columns, rows, query.phone_format)


def lead_routes(name: str, noun: str, searches_of: SearchesOf, suffix: str = "") -> APIRouter:
    """Build the routes of leads of a resource: `GET /{name}/{id}/results` and `/{name}/{id}/leads.{ending}`.

    `suffix` makes the names of the routes unique.
    """
    router = APIRouter(prefix=f"/{name}", tags=[name], route_class=ListRoute)

    async def list_results(
        row_id: RowId, query: Annotated[LeadListQuery, Query()], application: CurrentApplication, actor: CurrentActor
    ) -> LeadPage:
        """List leads with the columns of a lead file and the ids of their rows, in the order they were found. No row
        occurs twice."""
        selection = query.query(application, ())
        key = f"results/{name}/{row_id}/{query.per}"
        after = Position()
        if query.cursor:
            after = Position(*application.cursors.decode(query.cursor, key, _part(query.per), UUID, UUID))
        async with application.database.session(actor.tenant_id) as session:
            wanted = replace(selection, searches=await searches_of(session, actor.tenant_id, row_id))
            found = await leads.page(session, wanted, query.per, after, query.limit + 1)
        page = application.cursors.page_of(
            found,
            query.limit,
            key,
            lambda lead: [lead[1].part, str(lead[1].key), str(lead[1].subkey)],
            lambda lead: ROW_MODELS[query.per].model_validate(lead[0]),
        )
        return LeadPage(items=page.items, next_cursor=page.next_cursor)

    async def download_leads(
        row_id: RowId,
        ending: LeadFormat,
        query: Annotated[LeadFileQuery, Query()],
        application: CurrentApplication,
        actor: CurrentActor,
    ) -> StreamingResponse:
        """Stream the leads as the file that `scrapersky find` and `scrapersky export leads` write."""
        async with application.database.session(actor.tenant_id) as session:
            searches = await searches_of(session, actor.tenant_id, row_id)
        return await send_leads(application, actor, f"leads of {noun} {row_id}", searches, ending, query)

    router.add_api_route(
        "/{id}/results",
        list_results,
        methods=["GET"],
        name=f"list_results{suffix}",
        summary=f"The results of a {noun}",
        **requires(VIEWER, 400, 404, 422),
    )
    router.add_api_route(
        "/{id}/leads.{ending}",
        download_leads,
        methods=["GET"],
        name=f"download_leads{suffix}",
        summary=f"A file of leads of a {noun}",
        response_class=StreamingResponse,
        **requires(VIEWER, 404, 422, responses=file_responses(FILE_COLUMNS, *get_args(FileFormat))),
    )
    return router


router = lead_routes("searches", "search", _one_search)
campaign_router = lead_routes("campaigns", "campaign", _one_campaign, "_of_campaign")


def _part(per: Per) -> Callable[[Any], int]:
    """Return a cursor parser for the number of a part of this list."""

    def parse(part: Any) -> int:
        found = cursors.integer(part)
        if not 0 <= found < PARTS[per]:
            raise ValueError("not a part of this list")
        return found

    return parse
