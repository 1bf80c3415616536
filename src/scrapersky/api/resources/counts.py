"""The route that counts the rows of a resource by the values of a field."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field, create_model

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.resources.models import filter_query, set_filters
from scrapersky.api.schemas.fields import Count, ResponseModel
from scrapersky.store.listing import counts
from scrapersky.store.listing.resources import Resource


class CountOfValue(ResponseModel):
    """The rows with one value."""

    value: str | bool = Field(description="the value", examples=["Selected"])
    rows: Count = Field(description="the number of rows, counted up to 10,000", examples=[311])
    more: bool = Field(description="there are more rows than counted", examples=[False])


class CountsByValue(ResponseModel):
    """The rows of a resource, counted by the values of one field."""

    by: str = Field(description="the field", examples=["curation_status"])
    items: list[CountOfValue] = Field(max_length=100, description="each value of the vocabulary, in its order")


def add_counts_route(router: APIRouter, resource: Resource) -> None:
    """Add `GET /counts`: how many rows have each value of a field with a vocabulary."""
    fields = tuple(counts.countable(resource))
    if not fields:
        return
    by: Any = (Literal[fields], Field(description="the field whose values are counted", examples=[fields[0]]))
    query_type = create_model(f"{resource.name.capitalize()}Counts", __base__=filter_query(resource), by=by)

    async def count_rows(
        query: Annotated[query_type, Query()],
        application: CurrentApplication,
        actor: CurrentActor,
    ) -> CountsByValue:
        given: Any = query
        filters = set_filters(given, resource)
        async with application.database.session(actor.tenant_id) as session:
            unmerged = not resource.lists_merged
            found = await counts.by_value(session, resource, actor.tenant_id, given.by, filters, unmerged=unmerged)
        return CountsByValue(by=given.by, items=[CountOfValue.model_validate(each) for each in found])

    router.add_api_route(
        "/counts",
        count_rows,
        methods=["GET"],
        name=f"count_{resource.name}",
        summary=f"{resource.name.capitalize()} by the values of a field",
        description="The filters are those of the list; a filter by the counted field itself is ignored.",
        response_model=CountsByValue,
        **requires(VIEWER),
    )
