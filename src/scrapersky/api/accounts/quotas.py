"""Quotas of a tenant: the limits, what is used, and when the next unit is available."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas.fields import Count
from scrapersky.store.money import quotas
from scrapersky.store.money.quotas import Usage

router = APIRouter(prefix="/quotas", tags=["quotas"], route_class=ListRoute)


class QuotaSummary(BaseModel):
    """One quota and its use."""

    quota: str = Field(description="searches_per_day, pages_per_day or cents_per_month", examples=["searches_per_day"])
    limit: Count | None = Field(description="empty: no limit", examples=[100])
    used: Count = Field(description="the use of today in UTC; of this month for cents_per_month", examples=[12])
    ahead: Count = Field(
        description="scheduled for later days; for cents_per_month what open searches may still spend", examples=[0]
    )
    free_at: datetime | None = Field(description="when the quota has room again; empty: now")


class Quotas(BaseModel):
    """All quotas of a tenant."""

    items: list[QuotaSummary] = Field(
        max_length=len(quotas.LIMITS), description="each quota, also those without a limit"
    )


@router.get("", summary="Quotas of your tenant", **requires(VIEWER))
async def get_quotas(application: CurrentApplication, actor: CurrentActor) -> Quotas:
    """Return the quotas. Pages over the daily quota wait for the next day with room; searches get 429."""
    async with application.database.session(actor.tenant_id) as session:
        found = await quotas.usage(session, actor.tenant_id)
    return Quotas(items=[quota_summary(usage) for usage in found])


def quota_summary(usage: Usage) -> QuotaSummary:
    """Return a quota as responses show it."""
    return QuotaSummary(quota=usage.name, limit=usage.limit, used=usage.used, ahead=usage.ahead, free_at=usage.free_at)
