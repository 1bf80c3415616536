"""The records of a business at several providers: list them, join two businesses, split a record off."""

from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.businesses import join as groups
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas.fields import RequestModel, ResponseModel, RowId, Timestamp
from scrapersky.core.vocabularies import JoinedBy
from scrapersky.extract.matching.groups import MAX_RECORDS
from scrapersky.models import LocalBusiness
from scrapersky.store.line import business_sources

router = APIRouter(prefix="/businesses", tags=["businesses"], route_class=ListRoute)


class BusinessSource(ResponseModel):
    """What one provider knows about a business."""

    id: UUID = Field(description="the id of the record; `GET /businesses/{id}` has all its columns")
    is_shown: bool = Field(description="lists show this record, with the values of all of them in lead files")
    provider: str | None = Field(description="the provider; empty: its place was deleted", examples=["osm"])
    provider_id: str | None = Field(description="the id of the place there", examples=["node/2398471"])
    licence: str | None = Field(description="the licence of the data", examples=["ODbL 1.0"])
    expires_at: Timestamp | None = Field(description="when the terms of the provider require to delete its values")
    name: str = Field(description="the name of the business", examples=["Kallio Dental"])
    address: str | None = Field(description="the postal address", examples=["Fleminginkatu 7, 00530 Helsinki"])
    phone: str | None = Field(description="the phone number", examples=["+358401234567"])
    website: str | None = Field(description="the web site", examples=["https://kallio-dental.example/"])
    same_reason: str | None = Field(
        description="why it is the same business; empty for the record that was stored first",
        examples=["almost the same name, 12 m apart"],
    )
    same_confidence: float | None = Field(description="how sure that is, 0 to 1", examples=[0.99])
    same_by: JoinedBy | None = Field(description="what decided it")


class BusinessSources(BaseModel):
    """The records of a business."""

    items: list[BusinessSource] = Field(max_length=MAX_RECORDS, description="the one that is shown first")


class JoinRequest(RequestModel):
    """Two businesses that are one."""

    business: UUID = Field(description="the id of a business, or of one of its records")
    other: UUID = Field(description="the id of the other one")


@router.get("/{id}/sources", summary="Records of a business", **requires(VIEWER, 404))
async def list_business_sources(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> BusinessSources:
    """List the records of all providers that are this business, each with the reason; the id may be that of any."""
    async with application.database.session(actor.tenant_id) as session:
        return await _sources(session, await groups.records_of(session, actor, row_id))


@router.post("/join", summary="Join two businesses", **requires(CURATOR, 400, 404, 422))
async def join_businesses(body: JoinRequest, application: CurrentApplication, actor: CurrentActor) -> BusinessSources:
    """Make two businesses one, with all their records. 422 if they are one already."""
    async with application.database.session(actor.tenant_id) as session:
        return await _sources(session, await groups.join(session, actor, body.business, body.other))


@router.post("/{id}/split", summary="Split a record off", **requires(CURATOR, 400, 404, 422))
async def split_business(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> BusinessSources:
    """Make this record a business of its own; no later search joins it with the others. They stay together."""
    async with application.database.session(actor.tenant_id) as session:
        return await _sources(session, await groups.split(session, actor, row_id))


async def _sources(session: AsyncSession, records: list[LocalBusiness]) -> BusinessSources:
    found = await business_sources.sources(session, [one.id for one in records])
    return BusinessSources(items=[BusinessSource.model_validate(one) for one in found])
