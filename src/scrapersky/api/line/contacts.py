"""Contacts: list, create, change, delete, merge; find duplicates."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from fastapi import Header, Query, Response
from pydantic import BaseModel, Field, StringConstraints, create_model, model_validator

from scrapersky.actions import merge_contacts as contact_merges
from scrapersky.actions import split_contact as contact_splits
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.resources.history import add_history_route
from scrapersky.api.resources.routes import add_curation_route, add_list_route, curated_resource, empty_router
from scrapersky.api.resources.rows import row_detail
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import PREFIX, Count, Cursor, Flag, Limit, RequestModel, ResultPage, RowId, Timestamp
from scrapersky.api.schemas.listing import CuratedSummary, Summary
from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.text_rules import Text
from scrapersky.store.contacts import edit as contact_edits
from scrapersky.store.contacts.value_sources import value_sources
from scrapersky.store.listing.resources import CONTACTS as RESOURCE

EMAIL = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9][A-Za-z0-9-]{0,62}(\.[A-Za-z0-9][A-Za-z0-9-]{0,62}){1,4}$"
Email = Annotated[str, StringConstraints(pattern=EMAIL, to_lower=True, max_length=254)]
Phone = Annotated[str, StringConstraints(pattern=r"^\+[1-9][0-9]{6,14}$")]

ANY_ETAG = "*"  # If-Match: any version of an existing contact
LISTED_FIELDS = " ".join(each.name for each in CONTACT_FIELDS if each.is_listed)
REQUEST_TYPES: dict[str, Any] = {"text": Text, "email": Email, "phone": Phone}  # of the kinds of contact fields

CONTACTS = curated_resource(
    RESOURCE,
    "contact",
    "An email address, a phone number or a person.",
    summary=f"domain_id page_id business_id merged_into_id {LISTED_FIELDS} source_url confidence "
    "contact_verification_status verdict suppressed_at",
    detail="identity snippet found_by verification seen_at",
    curation="Selected queues the verification of contacts that were never verified; "
    "any other status withdraws queued work.",
)


class ValueSource(BaseModel):
    """Where a value was found."""

    url: str | None = Field(
        None,
        description="the page, or the provider's page; empty for what a person wrote",
        examples=["https://molar.fi/team"],
    )
    snippet: str | None = Field(None, description="the text around it", examples=["Eva Virtanen, CEO"])
    found_by: str | None = Field(
        None, description="how it was found; “written by hand” for what a person wrote", examples=["card"]
    )
    confidence: float | None = Field(None, description="0 to 1", examples=[0.9])


class ContactSources(BaseModel):
    """The sources of the values of a contact."""

    sources: dict[str, ValueSource] = Field(
        description="the source of each value, by field",
        examples=[{"title": {"url": "https://molar.fi/imprint", "snippet": "Eva Virtanen, CEO", "found_by": "card"}}],
    )

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, columns: dict[str, Any]) -> dict[str, Any]:
        return {**columns, "sources": value_sources(columns)}


if TYPE_CHECKING:
    ContactFilter = RequestModel
    ContactSummary = CuratedSummary
    ContactDetail = CuratedSummary
else:
    ContactFilter, ContactSummary = CONTACTS.filter, CONTACTS.summary
    ContactDetail = create_model(
        "ContactDetail", __base__=(CONTACTS.detail, ContactSources), __doc__="All columns of a contact."
    )

_editable: dict[str, Any] = {
    each.name: (
        REQUEST_TYPES[each.kind] | None,
        Field(None, description=each.edit_note or each.meaning, examples=[each.example]),
    )
    for each in CONTACT_FIELDS
    if each.is_editable
}
EditableFields = create_model("EditableFields", __base__=RequestModel, **_editable)


class NewContact(EditableFields):
    """A new contact; it needs an email address, a name, a number or an address."""

    domain_id: UUID | None = Field(
        None, description="the domain it belongs to; if left out, that of its page or of its email address"
    )
    page_id: UUID | None = Field(None, description="the page on which it was found")
    business_id: UUID | None = Field(None, description="the business it belongs to, where the domain has several")
    auto_queue: Flag = Field(False, description="queue the verification of its email address")


class ContactChange(EditableFields):
    """The facts to change; facts that are not given stay, null clears a fact."""

    updated_at: Timestamp | None = Field(None, description="as you read it: 409 if the contact was changed since")


class MergeContacts(RequestModel):
    """Two contacts of the same person."""

    keep: UUID = Field(description="the contact that stays; empty facts are filled from the other")
    merge: UUID = Field(description="the contact that is archived and refers to the one that stays")


class Duplicates(BaseModel):
    """Contacts with the same address or number."""

    value: str = Field(
        description="the email address or the phone number that they share", examples=["info@kallio-dental.example"]
    )
    contacts: Count = Field(description="the number of contacts; the first 50 are shown", examples=[2])
    domains: Count = Field(description="the number of their domains")
    items: list[ContactSummary] = Field(max_length=50, description="the contacts")


class BadETag(ScraperSkyError):
    """If-Match is not the ETag of a contact."""

    status_code = 422
    fields = ("header.if-match",)


router = empty_router(CONTACTS)
add_list_route(router, CONTACTS)


@router.post("", status_code=201, summary="Create a contact", **requires(CURATOR, 400, 409))
async def create_contact(
    body: NewContact, application: CurrentApplication, actor: CurrentActor, response: Response
) -> ContactSummary:
    """Create a contact. 409 with its id if the domain has this contact already."""
    async with application.database.session(actor.tenant_id) as session:
        facts = body.model_dump(exclude_none=True, exclude={"auto_queue"})
        created = await contact_edits.create(session, actor, facts, body.auto_queue)
        contact = ContactSummary.model_validate(created)
    response.headers["Location"] = f"{PREFIX}/contacts/{contact.id}"
    return contact


@router.get("/duplicates", summary="Duplicate contacts", **requires(VIEWER, 400))
async def list_duplicate_contacts(
    application: CurrentApplication,
    actor: CurrentActor,
    by: Annotated[Literal["email", "phone"], Query(description="the fact that duplicates share")] = "email",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[Duplicates]:
    """List contacts with the same email address or phone number, across domains; archived contacts do not count."""
    name = f"duplicates/{by}"
    after = application.cursors.decode(cursor, name, cursors.storable_text)[0] if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        groups = await contact_edits.duplicates(session, actor.tenant_id, by, after=after, limit=limit + 1)
        ids = [contact_id for group in groups[:limit] for contact_id in group.ids]
        found = await contact_edits.by_ids(session, actor.tenant_id, ids)
    return application.cursors.page_of(
        groups,
        limit,
        name,
        lambda group: [group.value],
        lambda group: Duplicates(
            value=group.value,
            contacts=group.contacts,
            domains=group.domains,
            items=[ContactSummary.model_validate(found[contact_id]) for contact_id in group.ids],
        ),
    )


@router.post("/merge", summary="Merge two contacts", **requires(CURATOR, 400, 404))
async def merge_contacts(body: MergeContacts, application: CurrentApplication, actor: CurrentActor) -> ContactSummary:
    """Merge two contacts. The kept contact's curation status stays, unless it is New: then the other's is taken."""
    async with application.database.session(actor.tenant_id) as session:
        return ContactSummary.model_validate(await contact_merges.merge(session, actor, body.keep, body.merge))


add_curation_route(router, CONTACTS)


add_history_route(router, RESOURCE, "contact")


@router.get("/{id}", summary="One contact", response_model=ContactDetail, **requires(VIEWER, 404))
async def get_contact(
    row_id: RowId, application: CurrentApplication, actor: CurrentActor, response: Response
) -> Summary:
    """Return the contact with its queues and the rows before it in the pipeline. The ETag is for If-Match."""
    contact = await row_detail(application, actor, RESOURCE, ContactDetail, row_id, CONTACTS.complete)
    response.headers["ETag"] = _etag(contact.updated_at)
    return contact


@router.patch("/{id}", summary="Change a contact", **requires(CURATOR, 400, 404, 409))
async def change_contact(
    row_id: RowId,
    body: ContactChange,
    application: CurrentApplication,
    actor: CurrentActor,
    response: Response,
    if_match: Annotated[
        str | None,
        Header(max_length=100, description="the ETag as you read it", examples=['"2026-11-15T12:00:00+00:00"']),
    ] = None,
) -> ContactSummary:
    """Change a contact. 409 if it was changed after the given ETag or `updated_at`, or was merged into another."""
    seen = _parse_etag(if_match) if if_match and if_match.strip() != ANY_ETAG else body.updated_at
    changes = body.model_dump(exclude_unset=True, exclude={"updated_at"})
    async with application.database.session(actor.tenant_id) as session:
        contact = ContactSummary.model_validate(await contact_edits.change(session, actor, row_id, changes, seen))
    response.headers["ETag"] = _etag(contact.updated_at)
    return contact


@router.post("/{id}/split", summary="Split a contact", **requires(CURATOR, 400, 404, 409, 422))
async def split_contact(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> list[ContactSummary]:
    """Split a contact that was put together from several pages: what the page of its address gives, and the rest.

    Both parts keep the name, and pages read later do not merge them. 422 if there is nothing to split.
    """
    async with application.database.session(actor.tenant_id) as session:
        parts = await contact_splits.split(session, actor, row_id)
        return [ContactSummary.model_validate(part) for part in parts]


@router.delete("/{id}", status_code=204, summary="Delete a contact", **requires(CURATOR, 404))
async def delete_contact(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> None:
    """Delete a contact and those merged into it. A later run may find it again; archive it to prevent that."""
    async with application.database.session(actor.tenant_id) as session:
        await contact_edits.remove(session, actor, row_id)


def _etag(moment: datetime) -> str:
    return f'"{moment.isoformat()}"'


def _parse_etag(etag: str) -> datetime:
    try:
        found = datetime.fromisoformat(etag.strip().removeprefix("W/").strip('"'))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise BadETag("Send the ETag of the contact as you read it, with its quotes.")
    return found
