"""Leads of a search: typed rows page by page, or a file as the commands write it."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import BeforeValidator, Field, create_model
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import StreamingResponse

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.downloads import stream_written_file
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import MAX_PAGE, Cursor, Limit, ResponseModel, ResultPage, RowId
from scrapersky.api.schemas.files import file_responses
from scrapersky.core.vocabularies import HiddenReason, JobFunction
from scrapersky.extract.phones.spelling import PhoneFormat
from scrapersky.store.leads import read as leads
from scrapersky.store.leads.columns import BUSINESS_COLUMNS, BUSINESS_IDS, CONTACT_COLUMNS, CONTACT_IDS, EXAMPLES
from scrapersky.store.leads.read import Per, Position, preferred_functions
from scrapersky.store.leads.statements import PAGES
from scrapersky.store.listing import export as exports
from scrapersky.store.listing import paginate
from scrapersky.store.listing.columns import ColumnMeaning
from scrapersky.store.listing.resources import SEARCHES

FILE_SECONDS = 300  # of the statement of a file, which sorts all leads of the search

router = APIRouter(prefix="/searches", tags=["searches"], route_class=ListRoute)


def _list_of(separator: str) -> Any:
    """Return the type of a column of a file that holds several values."""

    def split(value: object) -> object:
        return value.split(separator) if isinstance(value, str) and value else value or []

    return Annotated[list[str], BeforeValidator(split)]


LISTS = {
    "other_emails": " ",
    "other_phones": "; ",
    "socials": " ",
}  # columns of several values, and what separates them
# The types of columns that are no optional text.
_TYPES: dict[str, Any] = {
    **{column: _list_of(separator) for column, separator in LISTS.items()},
    "rating": float | None,
    "confidence": float | None,
    "found_at": date | None,
    "hidden": HiddenReason | None,
}


def _row_model(name: str, per: str, about: str, ids: Mapping[str, str], columns: Mapping[str, str]) -> Any:
    """Build the model of a row: the ids, then the columns of a file."""
    fields: dict[str, Any] = {"per": (Literal[per], Field(per, description="what one row is"))}
    fields |= {column: (UUID | None, Field(description=meaning)) for column, meaning in ids.items()}
    fields |= {
        column: (_TYPES.get(column, str | None), _described(column, meaning)) for column, meaning in columns.items()
    }
    return create_model(name, __base__=ResponseModel, __doc__=about, **fields)


def _described(column: str, meaning: str) -> Any:
    example = EXAMPLES.get(column)
    examples = [[example] if column in LISTS else example] if example else None
    return Field(description=meaning, examples=examples)


BusinessLead = _row_model(
    "BusinessLead", "business", "A business with its best contacts.", BUSINESS_IDS, BUSINESS_COLUMNS
)
ContactLead = _row_model("ContactLead", "contact", "A contact of a search.", CONTACT_IDS, CONTACT_COLUMNS)
_MODELS: dict[Per, Any] = {"business": BusinessLead, "contact": ContactLead}


class LeadPage(ResultPage[Any]):
    """One page of leads."""

    items: list[Annotated[BusinessLead | ContactLead, Field(discriminator="per")]] = Field(  # type: ignore[valid-type]
        max_length=MAX_PAGE, description="the leads of this page"
    )


FILE_COLUMNS = {
    f"per={per}": {name: ColumnMeaning(meaning, EXAMPLES.get(name)) for name, meaning in columns.items()}
    for per, columns in (("business", BUSINESS_COLUMNS), ("contact", CONTACT_COLUMNS))
}
PerRow = Annotated[Per, Query(description="one row per business with its best contacts, or one row per contact")]
_FUNCTION = f"({'|'.join(JobFunction)})"
Preferred = Annotated[
    str | None,
    Query(
        max_length=200,
        # Described and not enforced: the error of `preferred_functions` names the choices.
        json_schema_extra={"pattern": f"^{_FUNCTION}(,{_FUNCTION}){{0,{len(JobFunction) - 1}}}$"},
        description=(
            "functions whose contacts are the best of a business, comma separated, the most preferred first: "
            f"{', '.join(JobFunction)}; those of the setting SCRAPERSKY_PREFERRED_FUNCTIONS if left out"
        ),
        examples=["marketing,it"],
    ),
]
LeadFormat = Annotated[Literal["csv", "jsonl", "xlsx"], Path(description="the file format")]


@router.get("/{id}/results", summary="The results of a search", **requires(VIEWER, 400, 404, 422))
async def list_results(
    row_id: RowId,
    application: CurrentApplication,
    actor: CurrentActor,
    per: PerRow = "business",
    prefer: Preferred = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> LeadPage:
    """List leads with the columns of a lead file and the ids of their rows, in the order they were found. No row
    occurs twice."""
    preferred = preferred_functions(prefer, application.settings.preferred_functions)
    name = f"results/{row_id}/{per}"
    after = Position(*application.cursors.decode(cursor, name, _part(per), UUID, UUID)) if cursor else Position()
    async with application.database.session(actor.tenant_id) as session:
        await paginate.get(session, SEARCHES, actor.tenant_id, row_id)
        found = await leads.page(session, row_id, per, after, limit + 1, preferred)
    page = application.cursors.page_of(
        found,
        limit,
        name,
        lambda lead: [lead[1].part, str(lead[1].key), str(lead[1].subkey)],
        lambda lead: _MODELS[per].model_validate(lead[0]),
    )
    return LeadPage(items=page.items, next_cursor=page.next_cursor)


@router.get(
    "/{id}/leads.{ending}",
    summary="A file of leads",
    response_class=StreamingResponse,
    **requires(VIEWER, 404, 422, responses=file_responses(FILE_COLUMNS, "csv", "jsonl", "xlsx")),
)
async def download_leads(
    row_id: RowId,
    ending: LeadFormat,
    application: CurrentApplication,
    actor: CurrentActor,
    per: PerRow = "business",
    prefer: Preferred = None,
    phone_format: Annotated[
        PhoneFormat | None,
        Query(description="how phone numbers are written; e164 in jsonl and international in csv and xlsx if left out"),
    ] = None,
) -> StreamingResponse:
    """Stream the leads as the file that `scrapersky find` and `scrapersky export leads` write."""
    preferred = preferred_functions(prefer, application.settings.preferred_functions)
    async with application.database.session(actor.tenant_id) as session:
        await paginate.get(session, SEARCHES, actor.tenant_id, row_id)
        await exports.note(session, actor, f"leads of search {row_id}", {"per": per}, ending)
    rows = application.downloads.rows(actor.tenant_id, lambda session: _leads(session, row_id, per, preferred))
    return await stream_written_file("leads", ending, list(leads.columns_of(per)), rows, phone_format)


async def _leads(
    session: AsyncSession, search_id: UUID, per: Per, preferred: Sequence[JobFunction]
) -> AsyncGenerator[dict[str, Any]]:
    await session.execute(text("SELECT set_config('statement_timeout', :limit, true)"), {"limit": f"{FILE_SECONDS}s"})
    async with aclosing(leads.leads(session, search_id, per, preferred)) as rows:
        async for row in rows:
            yield row


def _part(per: Per) -> Callable[[Any], int]:
    """Return a cursor parser for the number of a part of this list."""

    def parse(part: Any) -> int:
        found = cursors.integer(part)
        if not 0 <= found < len(PAGES[per]):
            raise ValueError("not a part of this list")
        return found

    return parse
