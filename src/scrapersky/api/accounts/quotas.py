"""Quotas: what your tenant may use, what it has used, and when there is room again."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.store.money import quotas
from scrapersky.store.money.quotas import Usage

router = APIRouter(prefix="/quotas", tags=["quotas"], responses=problems(503))


class QuotaSummary(BaseModel):
    """One quota and how it stands."""

    quota: str = Field(description="searches_per_day, pages_per_day or cents_per_month")
    limit: int | None = Field(description="as much as you like, if empty")
    used: int = Field(description="today, by the clock of UTC; money: this month")
    ahead: int = Field(description="booked for later days; money: what open searches may still spend")
    free_at: datetime | None = Field(description="when there is room again; now, if empty")


class Quotas(BaseModel):
    """All quotas of a tenant."""

    items: list[QuotaSummary]


@router.get("", summary="What your tenant may use and has used", openapi_extra=requires(VIEWER))
async def get_quotas(application: CurrentApplication, actor: CurrentActor) -> Quotas:
    """Pages over the quota of a day wait for the next one with room; searches over theirs are refused with 429."""
    async with application.database.session(actor.tenant_id) as session:
        found = await quotas.usage(session, actor.tenant_id)
    return Quotas(items=[quota_summary(usage) for usage in found])


def quota_summary(usage: Usage) -> QuotaSummary:
    """A quota as it is shown."""
    return QuotaSummary(quota=usage.name, limit=usage.limit, used=usage.used, ahead=usage.ahead, free_at=usage.free_at)
