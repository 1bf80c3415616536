"""Find rows of every resource by how their name begins; the providers of places."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, TypeAdapter, WithJsonSchema

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas.fields import PREFIX, RequestModel, ResponseModel
from scrapersky.api.schemas.listing import Related
from scrapersky.core.text_rules import Text
from scrapersky.providers.registry import DECLARATIONS
from scrapersky.store.listing import find
from scrapersky.store.listing.resources import RESOURCES

router = APIRouter(tags=["find"], route_class=ListRoute)

# The schema of a required parameter is that of its type: the example belongs to it.
Beginning = Annotated[Text, WithJsonSchema({**TypeAdapter(Text).json_schema(), "examples": ["kallio"]})]


class FindQuery(RequestModel):
    """What to find."""

    text: Beginning = Field(description="how the name, the email address or the URL begins; case is ignored")


class FoundRow(Related):
    """A row that was found."""

    detail: str | None = Field(
        None,
        description="what tells it apart from others of its name: the address, the city and web site, or the email "
        "address, position and domain",
        examples=["Helsinki · https://kallio-dental.example"],
    )


class FoundRows(ResponseModel):
    """The first rows of one resource."""

    resource: str = Field(description="the resource", examples=["businesses"])
    items: list[FoundRow] = Field(max_length=find.SHOWN, description="the first five rows")


class FindResult(ResponseModel):
    """Rows of all resources whose name begins with the text."""

    items: list[FoundRows] = Field(
        max_length=len(RESOURCES), description="in the order of the pipeline; only resources with a row"
    )


class ProviderSummary(ResponseModel):
    """A source of places."""

    name: str = Field(description="the name in searches", examples=["google"])
    label: str = Field(description="the name for people", examples=["Google Places"])
    is_configured: bool = Field(description="whether searches can use it", examples=[True])
    setting: str | None = Field(
        description="the setting that it needs; empty if none", examples=["GOOGLE_MAPS_API_KEY"]
    )
    needs_area: bool = Field(description="whether a search needs an area", examples=[True])
    cost: str = Field(description="what it costs, in words", examples=["nothing"])
    data: str = Field(description="which data it has", examples=["names, addresses, numbers, web sites"])
    attribution: str = Field(description="the licence of its data", examples=["© OpenStreetMap contributors, ODbL"])


class ProviderList(ResponseModel):
    """The sources of places."""

    items: list[ProviderSummary] = Field(max_length=len(DECLARATIONS), description="the default provider first")


@router.get("/find", summary="Find rows by how their name begins", **requires(VIEWER))
async def find_rows(
    query: Annotated[FindQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> FindResult:
    """Return up to five rows of each resource: by name, of pages and sitemaps by URL, of contacts also by email."""
    async with application.database.session(actor.tenant_id) as session:
        found = await find.by_beginning(session, actor.tenant_id, query.text)
    return FindResult(
        items=[
            FoundRows(
                resource=name,
                items=[
                    FoundRow(id=row.id, name=row.name, link=f"{PREFIX}/{name}/{row.id}", detail=row.detail)
                    for row in found[name]
                ],
            )
            for name in RESOURCES
            if found.get(name)
        ]
    )


@router.get("/providers", summary="The providers of places", **requires(VIEWER))
async def list_providers(application: CurrentApplication, actor: CurrentActor) -> ProviderList:
    """Return every provider, also those whose setting has no value."""
    return ProviderList(
        items=[
            ProviderSummary(
                name=declared.name,
                label=declared.label,
                is_configured=declared.name in application.providers,
                setting=declared.setting_name,
                needs_area=declared.needs_area,
                cost=declared.cost,
                data=declared.data,
                attribution=declared.attribution,
            )
            for declared in DECLARATIONS
        ]
    )
