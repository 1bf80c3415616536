"""Contacts: the people one can write to. Write, change, delete, merge them; see who is there twice."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel, Field, StringConstraints, create_model
from starlette.responses import JSONResponse

from scrapersky.actions import merge_contacts as contact_merges
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.line.curation import (
    CURATION_RESPONSES,
    CurateIds,
    CurateMatching,
    CurationResult,
    IdempotencyKey,
    curate,
)
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import Cursor, Limit, RequestModel, ResultPage, Text, Timestamp
from scrapersky.api.schemas.listing import (
    ByUpdate,
    CuratedSummary,
    Detail,
    Flag,
    Listing,
    ListQuery,
    RowId,
    list_page,
    row_detail,
    storable_text,
)
from scrapersky.api.schemas.selection import Selection
from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import Curation, Status, Verdict
from scrapersky.extract.results import EmailKind
from scrapersky.store.contacts import edit as contact_edits
from scrapersky.store.listing.resources import CONTACTS

router = APIRouter(prefix="/contacts", tags=["contacts"], responses=problems(422, 503))

EMAIL = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9][A-Za-z0-9-]{0,62}(\.[A-Za-z0-9][A-Za-z0-9-]{0,62}){1,4}$"
Email = Annotated[str, StringConstraints(pattern=EMAIL, to_lower=True, max_length=254)]
Phone = Annotated[str, StringConstraints(pattern=r"^\+[1-9][0-9]{6,14}$")]

ANY_TAG = "*"  # whatever it is by now, as long as it is there


class ContactFilter(RequestModel):
    """Which contacts are meant; nothing set means all of yours."""

    curation_status: Curation | None = Field(None, description="only with this decision")
    contact_verification_status: Status | None = Field(None, description="only in this state of the queue")
    verdict: Verdict | None = Field(None, description="only those of which a letter would fare so")
    suppressed: Flag | None = Field(None, description="with somebody never to be written to, or without")
    search_id: UUID | None = Field(None, description="only of this search")
    domain_id: UUID | None = Field(None, description="only of this domain")
    business_id: UUID | None = Field(None, description="only of this business")
    page_id: UUID | None = Field(None, description="only found on this page")
    has_email: Flag | None = Field(None, description="with an email address, or without")
    has_phone: Flag | None = Field(None, description="with a phone number, or without")
    has_name: Flag | None = Field(None, description="with a person's name, or without")
    email_kind: EmailKind | None = Field(None, description="only addresses of this kind")
    email: Text | None = Field(None, description="how the email address begins, in small letters")
    text: Text | None = Field(None, description="how the name begins")


ContactDecision = Selection[CurateIds, CurateMatching[ContactFilter]]


class ContactQuery(ContactFilter, ListQuery):
    """Which contacts, in which order."""

    sort: ByUpdate = "-updated_at"


class ContactOwners(CuratedSummary):
    """The rows that a contact belongs to."""

    domain_id: UUID | None
    page_id: UUID | None
    business_id: UUID | None
    merged_into_id: UUID | None = Field(description="the contact that stands for this one")


# The types of the fields of core.contact_fields, in responses and in requests.
RESPONSE_TYPES: dict[str, Any] = {"profiles": dict[str, Any] | None}
REQUEST_TYPES: dict[str, Any] = {"text": Text, "email": Email, "phone": Phone}

_listed: dict[str, Any] = {
    each.name: RESPONSE_TYPES.get(each.kind, str | None) for each in CONTACT_FIELDS if each.is_listed
}
_editable: dict[str, Any] = {
    each.name: (REQUEST_TYPES[each.kind] | None, Field(None, description=each.edit_note))
    for each in CONTACT_FIELDS
    if each.is_editable
}
ListedFields = create_model("ListedFields", __base__=ContactOwners, **_listed)
EditableFields = create_model("EditableFields", __base__=RequestModel, **_editable)


class ContactSummary(ListedFields):
    """An address, a number, a person."""

    source_url: str | None
    confidence: float | None = Field(description="how sure it is that this belongs to the business, 0 to 1")
    contact_verification_status: Status
    verdict: Verdict | None = Field(description="whether a letter would arrive; empty before it is verified")
    suppressed_at: datetime | None = Field(description="since when it is not to be written to")


class ContactDetail(ContactSummary, Detail):
    """All that is known about a contact."""

    identity: str = Field(description="by what a later run knows it again")
    snippet: str | None
    found_by: str | None
    verification: dict[str, Any] | None = Field(description="the verdict's reasons, mail hosts and labels")


class NewContact(EditableFields):
    """A contact somebody writes down; at least an email address, a name, a number or an address."""

    domain_id: UUID | None = None
    page_id: UUID | None = None
    business_id: UUID | None = None
    auto_queue: Flag = Field(False, description="verify its address at once")


class ContactChange(EditableFields):
    """The facts to write anew; those not given stay, null empties one."""

    updated_at: Timestamp | None = Field(None, description="as you read it: 409 if somebody was faster")


class MergeContacts(RequestModel):
    """Two contacts that are one."""

    keep: UUID = Field(description="stays, filled up from the other")
    merge: UUID = Field(description="is archived, and points to the one that stays")


class Duplicates(BaseModel):
    """Contacts with the same address or number."""

    value: str
    contacts: int = Field(description="how many; the first 50 are named")
    domains: int = Field(description="on how many domains")
    items: list[ContactSummary]


class BadETag(ScraperSkyError):
    """If-Match is not the ETag of a contact."""

    status_code = 422
    fields = ("header.if-match",)


@router.get("", summary="Contacts, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_contacts(
    query: Annotated[ContactQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[ContactSummary]:
    """Your own, filtered and sorted; `text` is how the name begins, `email` how the address begins."""
    return await list_page(application, actor, CONTACTS, ContactSummary, query)


@router.post(
    "", status_code=201, summary="Write a contact down", responses=problems(400, 409), openapi_extra=requires(CURATOR)
)
async def create_contact(
    body: NewContact, application: CurrentApplication, actor: CurrentActor, response: Response
) -> ContactSummary:
    """409 with its id if the domain has this contact already."""
    async with application.database.session(actor.tenant_id) as session:
        written = body.model_dump(exclude_none=True, exclude={"auto_queue"})
        made = await contact_edits.create(session, actor, written, body.auto_queue)
        contact = ContactSummary.model_validate(made)
    response.headers["Location"] = f"/api/v3/contacts/{contact.id}"
    return contact


@router.get(
    "/duplicates", summary="Contacts that are there twice", responses=problems(400), openapi_extra=requires(VIEWER)
)
async def list_duplicate_contacts(
    application: CurrentApplication,
    actor: CurrentActor,
    by: Annotated[Literal["email", "phone"], Query(description="what they share")] = "email",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[Duplicates]:
    """The same email address or phone number, across domains; archived ones do not count."""
    here = f"duplicates/{by}"
    after = cursors.decode(cursor, here, storable_text)[0] if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        groups = await contact_edits.duplicates(session, actor.tenant_id, by, after=after, limit=limit + 1)
        wanted = [contact_id for group in groups[:limit] for contact_id in group.ids]
        found = await contact_edits.by_ids(session, actor.tenant_id, wanted)
    shown = [
        Duplicates(
            value=group.value,
            contacts=group.contacts,
            domains=group.domains,
            items=[ContactSummary.model_validate(found[contact_id]) for contact_id in group.ids],
        )
        for group in groups[:limit]
    ]
    return ResultPage(items=shown, next_cursor=cursors.encode(here, [shown[-1].value]) if len(groups) > limit else None)


@router.post("/merge", summary="Make one of two", responses=problems(400, 404), openapi_extra=requires(CURATOR))
async def merge_contacts(body: MergeContacts, application: CurrentApplication, actor: CurrentActor) -> ContactSummary:
    """What the kept one lacks is taken from the other; its curation stands unless nobody has decided about it."""
    async with application.database.session(actor.tenant_id) as session:
        return ContactSummary.model_validate(await contact_merges.merge(session, actor, body.keep, body.merge))


@router.post(
    "/curation",
    summary="Decide about contacts",
    response_model=CurationResult,
    responses=CURATION_RESPONSES,
    openapi_extra=requires(CURATOR),
)
async def curate_contacts(
    body: ContactDecision, application: CurrentApplication, actor: CurrentActor, key: IdempotencyKey = None
) -> JSONResponse:
    """Selected queues the verification of those that never had it; any other word takes waiting ones back."""
    return await curate(application, actor, CONTACTS, body, key)


@router.get("/{id}", summary="One contact", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_contact(
    row_id: RowId, application: CurrentApplication, actor: CurrentActor, response: Response
) -> ContactDetail:
    """With its queues, and the rows before it on the line. The ETag is for If-Match."""
    contact = ContactDetail.model_validate(await row_detail(application, actor, CONTACTS, row_id))
    response.headers["ETag"] = _tag(contact.updated_at)
    return contact


@router.patch("/{id}", summary="Change a contact", responses=problems(400, 404, 409), openapi_extra=requires(CURATOR))
async def change_contact(
    row_id: RowId,
    body: ContactChange,
    application: CurrentApplication,
    actor: CurrentActor,
    response: Response,
    if_match: Annotated[str | None, Header(max_length=100, description="the ETag as you read it")] = None,
) -> ContactSummary:
    """With If-Match or `updated_at`, 409 if somebody has changed it meanwhile; 409, too, if it was merged away."""
    seen = _seen(if_match) if if_match and if_match.strip() != ANY_TAG else body.updated_at
    changes = body.model_dump(exclude_unset=True, exclude={"updated_at"})
    async with application.database.session(actor.tenant_id) as session:
        contact = ContactSummary.model_validate(await contact_edits.change(session, actor, row_id, changes, seen))
    response.headers["ETag"] = _tag(contact.updated_at)
    return contact


@router.delete(
    "/{id}", status_code=204, summary="Delete a contact", responses=problems(404), openapi_extra=requires(CURATOR)
)
async def delete_contact(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> None:
    """For good, with those merged into it; a later run may find it again. Archived is how to keep it away."""
    async with application.database.session(actor.tenant_id) as session:
        await contact_edits.remove(session, actor, row_id)


def _tag(moment: datetime) -> str:
    return f'"{moment.isoformat()}"'


def _seen(tag: str) -> datetime:
    try:
        found = datetime.fromisoformat(tag.strip().removeprefix("W/").strip('"'))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise BadETag("Use the ETag of the contact as you read it, with its quotes.")
    return found
