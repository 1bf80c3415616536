"""Saved views: the filters and the sort of a list under a name, for yourself or for everybody of the tenant."""

from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import parse_qsl
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, ValidationError

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, CurrentUser, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.line import resources
from scrapersky.api.line.contacts import CONTACTS
from scrapersky.api.schemas.fields import MAX_PAGE, Flag, RequestModel, RowId
from scrapersky.api.schemas.listing import Summary
from scrapersky.core.errors import NotAuthorized, ScraperSkyError
from scrapersky.core.text_rules import Name, Text
from scrapersky.store.listing import saved_views

VIEWED = {api.resource.name: api for api in (*resources.RESOURCES, CONTACTS)}
if TYPE_CHECKING:
    Noun = str
else:
    Noun = Literal[tuple(VIEWED)]
NOT_KEPT = ("cursor", "before", "limit", "count")  # of a query: the place in a list is not part of a view

router = APIRouter(prefix="/views", tags=["views"], route_class=ListRoute)


class BadView(ScraperSkyError):
    """The list has no such filter or value."""

    status_code = 422
    fields = ("query",)


class NewView(RequestModel):
    """A list as you want to see it again."""

    noun: Noun = Field(description="the list", examples=["contacts"])
    name: Name = Field(description="the name; a view of yours with this name is replaced", examples=["To write"])
    query: Text | Literal[""] = Field(
        description="the filters and the sort, as in the URL of the list",
        examples=["curation_status=New&verdict=deliverable&sort=name"],
    )
    shared: Flag = Field(False, description="whether everybody of the tenant sees it; needs the role curator")


class ViewSummary(Summary):
    """A saved view."""

    noun: str = Field(description="the list", examples=["contacts"])
    name: str = Field(description="the name", examples=["To write"])
    query: str = Field(
        description="the filters and the sort, as in the URL of the list",
        examples=["curation_status=New&verdict=deliverable&sort=name"],
    )
    shared: bool = Field(description="whether everybody of the tenant sees it", examples=[True])
    user_id: UUID = Field(description="the person who saved it")


class ViewList(BaseModel):
    """Your views, and those that are shared."""

    items: list[ViewSummary] = Field(max_length=MAX_PAGE, description="by list and name; at most 200")


@router.get("", summary="Saved views", **requires(VIEWER))
async def list_views(
    application: CurrentApplication,
    actor: CurrentActor,
    user_id: CurrentUser,
    noun: Annotated[Noun | None, Query(description="only views of this list")] = None,
) -> ViewList:
    """Return your views and those that somebody shares with the tenant."""
    async with application.database.session(actor.tenant_id) as session:
        found = await saved_views.seen_by(session, actor, user_id, noun, MAX_PAGE)
        return ViewList(items=[ViewSummary.model_validate(view) for view in found])


@router.post("", status_code=201, summary="Save a view", **requires(VIEWER, 400, 409))
async def save_view(
    body: NewView, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> ViewSummary:
    """Save a view. 422 if the list has no such filter or value; 403 if it is to be shared and you are no curator."""
    _check(VIEWED[body.noun], body.query)
    if body.shared and not actor.covers(CURATOR):
        raise NotAuthorized(f"Views for all need the role {CURATOR}; yours is {actor.role}.")
    async with application.database.session(actor.tenant_id) as session:
        view = await saved_views.save(session, actor, user_id, body.noun, body.name, body.query, body.shared)
        return ViewSummary.model_validate(view)


@router.delete("/{id}", status_code=204, summary="Delete a view", **requires(VIEWER, 404))
async def delete_view(
    row_id: RowId, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> None:
    """Delete a view of yours; a curator may also delete one that somebody shares."""
    async with application.database.session(actor.tenant_id) as session:
        await saved_views.remove(session, actor, user_id, row_id, of_others=actor.covers(CURATOR))


def _check(api: Any, query: str) -> None:
    """Read the query as the list does. Raises BadView."""
    values: dict[str, Any] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name in NOT_KEPT or (name != "sort" and name not in api.resource.filters):
            raise BadView(f"{name[:60]!a} is no filter of {api.resource.name}.")
        several = name in api.resource.filters and api.resource.filters[name].several
        values[name] = [*values.get(name, ()), value] if several else value
    try:
        api.query.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadView(f"{first['loc'][0]}: {first['msg'].removeprefix('Value error, ')}.") from None
