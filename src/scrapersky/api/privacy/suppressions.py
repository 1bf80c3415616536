"""Suppressions: addresses, domains and numbers that must not be contacted."""

import asyncio
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CURATOR, OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.line.contacts import ContactFilter
from scrapersky.api.resources.models import set_filters
from scrapersky.api.resources.routes import ApiResource, add_get_route, add_list_route, empty_router
from scrapersky.api.schemas.fields import Count, Ids, RequestModel, RowId, RowProblem
from scrapersky.api.schemas.listing import Summary
from scrapersky.api.schemas.selection import Selection
from scrapersky.core.errors import NotAuthorized
from scrapersky.core.text_rules import Text
from scrapersky.store.listing import paginate
from scrapersky.store.listing.resources import CONTACTS, SUPPRESSIONS
from scrapersky.store.privacy import suppressions
from scrapersky.store.privacy.contact_points import ContactPoint, parse_points

MAX_VALUES = 1_000  # of one request; imports may have more

Value = Annotated[str, StringConstraints(max_length=500)]
Values = Annotated[
    list[Value],
    Field(
        min_length=1,
        max_length=MAX_VALUES,
        description="email addresses, domains and phone numbers, in any order",
        examples=[["anna@molar.example", "molar.example", "09 123 4567"]],
    ),
]
Country = Annotated[str, StringConstraints(pattern="^[A-Za-z]{2}$")]


class SuppressionSummary(Summary):
    """An address, a domain, a number or a person that must not be contacted."""

    kind: str = Field(description="email, domain, phone, or person after an erasure by name", examples=["email"])
    value: str | None = Field(
        description="empty after an erasure: only the hash is kept", examples=["anna@molar.example"]
    )
    value_hash: str = Field(
        description="SHA-256 of the value in lower case",
        examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    )
    reason: str | None = Field(description="the reason, as a person wrote it", examples=["asked us"])
    origin: str = Field(description="what caused it: person, import, erasure or destination", examples=["person"])
    created_by: UUID | None = Field(
        description="the user who added it; empty for an import by command or an unsubscription at a destination"
    )


class NewSuppressions(RequestModel):
    """Values to suppress."""

    values: Values
    reason: Text | None = Field(
        None, description="why they must not be contacted; stored with each", examples=["asked us"]
    )
    country: Country | None = Field(
        None, description="the country of national phone numbers, two letters", examples=["FI"]
    )


class SuppressionsAdded(BaseModel):
    """The result of adding suppressions."""

    added: Count = Field(description="an internationalized domain counts twice: it has two spellings", examples=[2])
    already: Count = Field(description="were suppressed before", examples=[0])
    contacts: Count = Field(description="contacts that became suppressed", examples=[1])
    failed: Count = Field(description="values that are not valid", examples=[1])
    errors: list[RowProblem] = Field(
        max_length=MAX_VALUES, description="the values that are not valid, by their position from 1"
    )


class SuppressionCheck(RequestModel):
    """Values to check."""

    values: Values
    country: Country | None = Field(
        None, description="the country of national phone numbers, two letters", examples=["FI"]
    )


class CheckedValue(BaseModel):
    """One value that was checked."""

    value: str = Field(description="the value as it was sent", examples=["anna@molar.example"])
    suppressed: bool | None = Field(description="empty if the value is not valid")
    by: SuppressionSummary | None = Field(description="the suppression of the value itself or of its domain")
    message: str | None = Field(
        description="why the value is not valid", examples=["'molar' has no domain that can be registered"]
    )


class SuppressionChecks(BaseModel):
    """The result for each value, in the order of the request."""

    items: list[CheckedValue] = Field(max_length=MAX_VALUES, description="one result for each value")


class _SuppressContacts(RequestModel):
    kinds: Annotated[list[Literal["email", "phone"]], Field(min_length=1, max_length=2)] = Field(
        ["email", "phone"], description="which of the contact points are suppressed"
    )
    reason: Text | None = Field(
        None, description="why they must not be contacted; stored with each suppression", examples=["asked us"]
    )


class SuppressIds(_SuppressContacts):
    """Suppress the contact points of some contacts."""

    ids: Ids = Field(description="the contacts to suppress")
    preview: Literal[False] = Field(False, description="a preview needs a filter")


class SuppressMatching(_SuppressContacts):
    """Suppress the contact points of all contacts that match; `{}` matches all contacts of your tenant."""

    filter: ContactFilter = Field(description="which contacts to suppress")
    preview: bool = Field(False, strict=True, description="only count the contacts")


SuppressContacts = Selection[SuppressIds, SuppressMatching]


class ContactsSuppressed(BaseModel):
    """The result of suppressing contacts."""

    matched: Count | None = Field(
        description="the number of matching contacts, counted up to 10,000; only in a preview", examples=[12]
    )
    more: bool | None = Field(description="more contacts match than were counted; only in a preview", examples=[False])
    added: Count = Field(description="addresses and numbers that became suppressed", examples=[12])
    already: Count = Field(description="were suppressed before", examples=[0])
    contacts: Count = Field(
        description="contacts that are marked now, including others with the same address", examples=[14]
    )


API = ApiResource(
    SUPPRESSIONS,
    "suppression",
    SuppressionSummary,
    SuppressionSummary,
    get_description="The suppression with its reason and origin.",
)
router = empty_router(API)
add_list_route(router, API)


@router.post("", summary="Add suppressions", **requires(CURATOR, 400))
async def add_suppressions(
    body: NewSuppressions, application: CurrentApplication, actor: CurrentActor
) -> SuppressionsAdded:
    """Suppress values. A value that is not valid does not affect others; repeating the request changes nothing."""
    points, wrong = await asyncio.to_thread(_read, body.values, body.country)
    async with application.database.session(actor.tenant_id) as session:
        done = await suppressions.suppress(
            session, actor, [point for found in points.values() for point in found], reason=body.reason
        )
    return SuppressionsAdded(
        added=done.added, already=done.known, contacts=done.contacts, failed=len(wrong), errors=list(wrong.values())
    )


@router.post("/check", summary="Check values", **requires(VIEWER, 400))
async def check_suppressions(
    body: SuppressionCheck, application: CurrentApplication, actor: CurrentActor
) -> SuppressionChecks:
    """Check which values are suppressed. Erased values are found by their hash."""
    points, wrong = await asyncio.to_thread(_read, body.values, body.country)
    async with application.database.session(actor.tenant_id) as session:
        known = await suppressions.known(
            session, actor.tenant_id, [point for found in points.values() for point in found]
        )
    items = []
    for position, value in enumerate(body.values, 1):
        by = next((known[point] for point in points.get(position, ()) if point in known), None)
        items.append(
            CheckedValue(
                value=value,
                suppressed=None if position in wrong else by is not None,
                by=SuppressionSummary.model_validate(by) if by else None,
                message=wrong[position].message if position in wrong else None,
            )
        )
    return SuppressionChecks(items=items)


@router.post("/contacts", summary="Suppress contacts", **requires(CURATOR, 400))
async def suppress_contacts(
    body: SuppressContacts, application: CurrentApplication, actor: CurrentActor
) -> ContactsSuppressed:
    """Suppress contacts by ids or by filter in one transaction, and other contacts with the same contact points."""
    async with application.database.session(actor.tenant_id) as session:
        if isinstance(body, SuppressMatching) and body.preview:
            count = await paginate.count(session, CONTACTS, actor.tenant_id, set_filters(body.filter, CONTACTS))
            return ContactsSuppressed(matched=count.total, more=count.more, added=0, already=0, contacts=0)
        chosen = body.ids if isinstance(body, SuppressIds) else set_filters(body.filter, CONTACTS)
        done = await suppressions.suppress_contacts(session, actor, chosen, body.kinds, body.reason)
    return ContactsSuppressed(matched=None, more=None, added=done.added, already=done.known, contacts=done.contacts)


add_get_route(router, API)


@router.delete("/{id}", status_code=204, summary="Delete a suppression", **requires(OPERATOR, 404))
async def delete_suppression(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> None:
    """Delete the suppression in every spelling. That of an erasure needs an admin: the person may be found again."""
    async with application.database.session(actor.tenant_id) as session:
        found = await paginate.get(session, SUPPRESSIONS, actor.tenant_id, row_id)
        if found.origin == suppressions.ERASURE and not actor.covers(ADMIN):
            raise NotAuthorized("An admin has erased this person; only an admin may delete this suppression.")
        await suppressions.remove(session, actor, row_id)


def _read(values: list[str], country: str | None) -> tuple[dict[int, tuple[ContactPoint, ...]], dict[int, RowProblem]]:
    """Return the contact points of each valid value by its position, and the problems of the others."""
    points, wrong = dict[int, tuple[ContactPoint, ...]](), dict[int, RowProblem]()
    for position, value in enumerate(values, 1):
        try:
            points[position] = parse_points(value, country or "")
        except ValueError as error:
            wrong[position] = RowProblem(line=position, message=str(error))
    return points, wrong
