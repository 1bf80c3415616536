"""Suppressions: whom never to write to again. Add, look up, take back; also all ways to some contacts."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, StringConstraints

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.line.contacts import ContactFilter
from scrapersky.api.schemas.fields import Ids, RequestModel, Text
from scrapersky.api.schemas.listing import ByUpdate, Listing, ListQuery, RowId, Summary, list_page, set_filters
from scrapersky.api.schemas.selection import Selection
from scrapersky.api.transfer.imports import RowProblem
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import CONTACTS, SUPPRESSIONS
from scrapersky.store.privacy import suppressions
from scrapersky.store.privacy.contact_points import ContactPoint, parse_points

MAX_VALUES = 1_000  # of one request; files may have more

router = APIRouter(prefix="/suppressions", tags=["suppressions"], responses=problems(422, 503))

Value = Annotated[str, StringConstraints(max_length=500)]
Values = Annotated[
    list[Value],
    Field(min_length=1, max_length=MAX_VALUES, description="email addresses, domains, phone numbers; in any order"),
]
Origin = Literal["person", "import", "erasure", "destination"]
Country = Annotated[str, StringConstraints(pattern="^[A-Za-z]{2}$")]


class SuppressionFilter(RequestModel):
    """Which suppressions are meant; nothing set means all of yours."""

    kind: Literal["email", "domain", "phone", "person"] | None = Field(None, description="only of this kind")
    origin: Origin | None = Field(None, description="how it came")
    text: Text | None = Field(None, description="how the value begins, in small letters")


class SuppressionQuery(SuppressionFilter, ListQuery):
    """Which suppressions, in which order."""

    sort: ByUpdate = "-updated_at"


class SuppressionSummary(Summary):
    """An address, a domain or a number that nobody writes to."""

    kind: str = Field(description="email, domain, phone; person after an erasure by name")
    value: str | None = Field(description="empty after an erasure: only the hash is left")
    value_hash: str = Field(description="SHA-256 of the value in small letters")
    reason: str | None
    origin: str = Field(description="who wanted it: person, import, erasure, destination")
    created_by: UUID | None


class NewSuppressions(RequestModel):
    """Values nobody is to write to again."""

    values: Values
    reason: Text | None = None
    country: Country | None = Field(None, description="country of national phone numbers, two letters")


class SuppressionsAdded(BaseModel):
    """What became of the values."""

    added: int = Field(description="a domain with foreign letters counts twice: it has two spellings")
    already: int = Field(description="suppressed before")
    contacts: int = Field(description="contacts that are marked now")
    failed: int
    errors: list[RowProblem] = Field(description="the values that were not understood, by their place from 1")


class SuppressionCheck(RequestModel):
    """Values to look up."""

    values: Values
    country: Country | None = Field(None, description="country of national phone numbers, two letters")


class CheckedValue(BaseModel):
    """One value that was looked up."""

    value: str
    suppressed: bool | None = Field(description="empty if the value was not understood")
    by: SuppressionSummary | None = Field(description="what suppresses it: itself, or a domain it is under")
    message: str | None = Field(description="why it was not understood")


class SuppressionChecks(BaseModel):
    """The answer for each value, in the order of the request."""

    items: list[CheckedValue]


class _SuppressContacts(RequestModel):
    kinds: Annotated[list[Literal["email", "phone"]], Field(min_length=1, max_length=2)] = Field(
        ["email", "phone"], description="which of their ways are suppressed"
    )
    reason: Text | None = None


class SuppressIds(_SuppressContacts):
    """All ways to some contacts."""

    ids: Ids
    preview: Literal[False] = False


class SuppressMatching(_SuppressContacts):
    """All ways to all contacts that match; `{}` is all of yours."""

    filter: ContactFilter
    preview: bool = Field(False, strict=True, description="only count them")


SuppressContacts = Selection[SuppressIds, SuppressMatching]


class ContactsSuppressed(BaseModel):
    """What became of the contacts."""

    matched: int | None = Field(description="how many are meant, counted up to 10,000; only in a preview")
    more: bool | None = Field(description="more than that are meant; only in a preview")
    added: int = Field(description="addresses and numbers that are suppressed now")
    already: int = Field(description="suppressed before")
    contacts: int = Field(description="contacts that are marked now, others with the same address too")


@router.get("", summary="Suppressions, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_suppressions(
    query: Annotated[SuppressionQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[SuppressionSummary]:
    """Your own; `text` is how the value begins."""
    return await list_page(application, actor, SUPPRESSIONS, SuppressionSummary, query)


@router.post("", summary="Suppress", responses=problems(400), openapi_extra=requires(CURATOR))
async def add_suppressions(
    body: NewSuppressions, application: CurrentApplication, actor: CurrentActor
) -> SuppressionsAdded:
    """A value that is not understood costs no other. Twice is like once."""
    ways, wrong = _read(body.values, body.country)
    async with application.database.session(actor.tenant_id) as session:
        done = await suppressions.suppress(
            session, actor, [way for found in ways.values() for way in found], reason=body.reason
        )
    return SuppressionsAdded(
        added=done.added, already=done.known, contacts=done.contacts, failed=len(wrong), errors=list(wrong.values())
    )


@router.post("/check", summary="Who is suppressed?", responses=problems(400), openapi_extra=requires(VIEWER))
async def check_suppressions(
    body: SuppressionCheck, application: CurrentApplication, actor: CurrentActor
) -> SuppressionChecks:
    """Also those whose address was erased: their hash is compared."""
    ways, wrong = _read(body.values, body.country)
    async with application.database.session(actor.tenant_id) as session:
        known = await suppressions.known(session, actor.tenant_id, [way for found in ways.values() for way in found])
    items = []
    for place, value in enumerate(body.values, 1):
        by = next((known[way] for way in ways.get(place, ()) if way in known), None)
        items.append(
            CheckedValue(
                value=value,
                suppressed=None if place in wrong else by is not None,
                by=SuppressionSummary.model_validate(by) if by else None,
                message=wrong[place].message if place in wrong else None,
            )
        )
    return SuppressionChecks(items=items)


@router.post("/contacts", summary="Suppress contacts", responses=problems(400), openapi_extra=requires(CURATOR))
async def suppress_contacts(
    body: SuppressContacts, application: CurrentApplication, actor: CurrentActor
) -> ContactsSuppressed:
    """By ids or by filter, in one transaction however many; other contacts with the same ways are marked, too."""
    async with application.database.session(actor.tenant_id) as session:
        if isinstance(body, SuppressMatching) and body.preview:
            count = await lists.count(session, CONTACTS, actor.tenant_id, set_filters(body.filter, CONTACTS))
            return ContactsSuppressed(matched=count.total, more=count.more, added=0, already=0, contacts=0)
        chosen = body.ids if isinstance(body, SuppressIds) else set_filters(body.filter, CONTACTS)
        done = await suppressions.suppress_contacts(session, actor, chosen, body.kinds, body.reason)
    return ContactsSuppressed(matched=None, more=None, added=done.added, already=done.known, contacts=done.contacts)


@router.get("/{id}", summary="One suppression", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_suppression(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> SuppressionSummary:
    """With its reason, and who wanted it."""
    async with application.database.session(actor.tenant_id) as session:
        return SuppressionSummary.model_validate(await lists.get(session, SUPPRESSIONS, actor.tenant_id, row_id))


@router.delete(
    "/{id}",
    status_code=204,
    summary="Let them be written to again",
    responses=problems(404),
    openapi_extra=requires(OPERATOR),
)
async def delete_suppression(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> None:
    """In every spelling. Contacts that nothing else suppresses are free; somebody who was erased may be found again."""
    async with application.database.session(actor.tenant_id) as session:
        await suppressions.remove(session, actor, row_id)


def _read(values: list[str], country: str | None) -> tuple[dict[int, tuple[ContactPoint, ...]], dict[int, RowProblem]]:
    """The ways of each value by its place, and what is wrong with the others."""
    ways, wrong = dict[int, tuple[ContactPoint, ...]](), dict[int, RowProblem]()
    for place, value in enumerate(values, 1):
        try:
            ways[place] = parse_points(value, country or "")
        except ValueError as error:
            wrong[place] = RowProblem(line=place, message=str(error))
    return ways, wrong
