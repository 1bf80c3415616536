"""Tenants and their quotas, for admins of the operator tenant."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import Field

from scrapersky.api.accounts.quotas import QuotaSummary, quota_summary
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import PREFIX, Count, Cursor, Limit, Number, RequestModel, ResponseModel, ResultPage
from scrapersky.core import clock
from scrapersky.core.text_rules import Name
from scrapersky.store.accounts import tenants
from scrapersky.store.money import quotas

router = APIRouter(prefix="/tenants", tags=["tenants"], route_class=ListRoute)

TenantId = Annotated[UUID, Path(alias="id", description="the id of the tenant")]
MAX_AMOUNT = 2**31 - 1


Amount = Annotated[int, Field(ge=0, le=MAX_AMOUNT), Number]


class TenantLimits(RequestModel):
    """The quotas of a tenant; null: no limit."""

    searches_per_day: Amount | None = Field(None, description="searches at a provider, per day in UTC", examples=[100])
    pages_per_day: Amount | None = Field(
        None, description="pages processed, per day in UTC; further pages wait", examples=[20_000]
    )
    cents_per_month: Amount | None = Field(None, description="the cost of searches, per month in UTC", examples=[5_000])


class NewTenant(TenantLimits):
    """A new tenant."""

    name: Name = Field(description="the name that users enter to log in", examples=["acme"])


class TenantChange(TenantLimits):
    """The fields to change; fields that are not given stay, null removes a limit."""

    disabled: bool = Field(False, strict=True, description="its users cannot log in, and its work is not processed")


class TenantSummary(ResponseModel):
    """A tenant."""

    id: UUID = Field(description="the id of the tenant")
    name: str = Field(description="the name that its users enter to log in", examples=["acme"])
    is_operator: bool = Field(description="its operators control the workflows, its admins manage the tenants")
    created_at: datetime = Field(description="when the tenant was created")
    disabled_at: datetime | None = Field(
        description="since when its users cannot log in and its work waits; empty: it is enabled"
    )
    searches_per_day: Count | None = Field(
        description="how many searches it may request per day in UTC; empty: no limit", examples=[100]
    )
    pages_per_day: Count | None = Field(
        description="how many pages may be processed per day in UTC; empty: no limit", examples=[20_000]
    )
    cents_per_month: Count | None = Field(
        description="what its searches may cost per month in UTC; empty: no limit", examples=[5_000]
    )


class TenantDetail(TenantSummary):
    """A tenant with the use of its quotas."""

    quotas: list[QuotaSummary] = Field(max_length=len(quotas.LIMITS), description="its quotas and their use")


@router.get("", summary="Tenants by name", **requires(ADMIN, 400, operators=True))
async def list_tenants(
    application: CurrentApplication, cursor: Cursor = None, limit: Limit = 50
) -> ResultPage[TenantSummary]:
    """List all tenants."""
    after = application.cursors.decode(cursor, "tenants", cursors.storable_text)[0] if cursor else None
    async with application.database.engine_session() as session:
        found = await tenants.page(session, after=after, limit=limit + 1)
    return application.cursors.page_of(
        found, limit, "tenants", lambda tenant: [tenant.name], TenantSummary.model_validate
    )


@router.post("", status_code=201, summary="Create a tenant", **requires(ADMIN, 400, 409, operators=True))
async def create_tenant(
    body: NewTenant, application: CurrentApplication, actor: CurrentActor, response: Response
) -> TenantSummary:
    """Create a tenant with its quotas. Create its first admin with `scrapersky user create`."""
    limits = body.model_dump(exclude={"name"}, exclude_none=True)
    async with application.database.engine_session() as session:
        made = TenantSummary.model_validate(await tenants.create(session, actor, body.name, limits))
    response.headers["Location"] = f"{PREFIX}/tenants/{made.id}"
    return made


@router.get("/{id}", summary="One tenant", **requires(ADMIN, 404, operators=True))
async def get_tenant(tenant_id: TenantId, application: CurrentApplication) -> TenantDetail:
    """Return the tenant with the use of its quotas."""
    async with application.database.engine_session() as session:
        summary = TenantSummary.model_validate(await tenants.by_id(session, tenant_id))
        used = await quotas.usage(session, tenant_id)
    return TenantDetail(**summary.model_dump(), quotas=[quota_summary(usage) for usage in used])


@router.patch("/{id}", summary="Change a tenant", **requires(ADMIN, 400, 404, 409, operators=True))
async def change_tenant(
    tenant_id: TenantId, body: TenantChange, application: CurrentApplication, actor: CurrentActor
) -> TenantSummary:
    """Change a tenant. Work that waits for a quota is rescheduled at once."""
    async with application.database.engine_session() as session:
        tenant = await tenants.by_id(session, tenant_id)
        changes = _changes(body)
        summary = TenantSummary.model_validate(await tenants.change(session, actor, tenant.name, changes))
    if changes.get("disabled_at", True) is None:
        await tenants.resume_rows(application.database, application.pipeline.queues.values(), tenant_id)
    return summary


def _changes(body: TenantChange) -> dict[str, Any]:
    changes = body.model_dump(exclude_unset=True)
    if "disabled" in changes:
        changes["disabled_at"] = clock.now() if changes.pop("disabled") else None
    return changes
