"""Tenants and what each may use: for admins of the house."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from scrapersky.api.accounts.quotas import QuotaSummary, quota_summary
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.account_fields import Name
from scrapersky.api.schemas.fields import Cursor, Limit, RequestModel, ResultPage
from scrapersky.api.schemas.listing import PREFIX, storable_text
from scrapersky.core import clock
from scrapersky.store.accounts import tenants
from scrapersky.store.money import quotas

router = APIRouter(prefix="/tenants", tags=["tenants"], responses=problems(422, 503))

TenantId = Annotated[UUID, Path(alias="id", description="the tenant's id")]
MAX_AMOUNT = 2**31 - 1


def _number(given: object) -> object:
    if given is not None and type(given) not in (int, float):
        raise ValueError("must be a number, not text and not true or false")
    return given


Amount = Annotated[int, Field(ge=0, le=MAX_AMOUNT), BeforeValidator(_number)]


class TenantLimits(RequestModel):
    """What a tenant may use; without a limit as much as it likes."""

    searches_per_day: Amount | None = Field(None, description="searches that ask a provider, each day of UTC")
    pages_per_day: Amount | None = Field(None, description="pages that are read, each day of UTC; the rest waits")
    cents_per_month: Amount | None = Field(None, description="what its searches may cost, each month of UTC")


class NewTenant(TenantLimits):
    """A tenant to be."""

    name: Name = Field(description="as its people write it when they log in")


class TenantChange(TenantLimits):
    """What shall be otherwise: what is not given stays, null lifts a limit."""

    disabled: bool = Field(False, strict=True, description="nobody of it gets in, all its work rests")


class TenantSummary(BaseModel):
    """A tenant."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    is_operator: bool = Field(description="its operators run the engine, its admins these tenants")
    created_at: datetime
    disabled_at: datetime | None
    searches_per_day: int | None
    pages_per_day: int | None
    cents_per_month: int | None


class TenantDetail(TenantSummary):
    """A tenant with what it has used."""

    quotas: list[QuotaSummary]


@router.get("", summary="Tenants by name", responses=problems(400), openapi_extra=requires(ADMIN, operators=True))
async def list_tenants(
    application: CurrentApplication, cursor: Cursor = None, limit: Limit = 50
) -> ResultPage[TenantSummary]:
    """All that this house works for."""
    after = cursors.decode(cursor, "tenants", storable_text)[0] if cursor else None
    async with application.database.engine_session() as session:
        found = await tenants.page(session, after=after, limit=limit + 1)
    return ResultPage(
        items=[TenantSummary.model_validate(tenant) for tenant in found[:limit]],
        next_cursor=cursors.encode("tenants", [found[limit - 1].name]) if len(found) > limit else None,
    )


@router.post(
    "",
    status_code=201,
    summary="Make a tenant",
    responses=problems(400, 409),
    openapi_extra=requires(ADMIN, operators=True),
)
async def create_tenant(
    body: NewTenant, application: CurrentApplication, actor: CurrentActor, response: Response
) -> TenantSummary:
    """With its quotas; its first admin is made by the command line."""
    limits = body.model_dump(exclude={"name"}, exclude_none=True)
    async with application.database.engine_session() as session:
        made = TenantSummary.model_validate(await tenants.create(session, actor, body.name, limits))
    response.headers["Location"] = f"{PREFIX}/tenants/{made.id}"
    return made


@router.get("/{id}", summary="One tenant", responses=problems(404), openapi_extra=requires(ADMIN, operators=True))
async def get_tenant(tenant_id: TenantId, application: CurrentApplication) -> TenantDetail:
    """With what it has used."""
    async with application.database.engine_session() as session:
        line = TenantSummary.model_validate(await tenants.by_id(session, tenant_id))
        used = await quotas.usage(session, tenant_id)
    return TenantDetail(**line.model_dump(), quotas=[quota_summary(usage) for usage in used])


@router.patch(
    "/{id}", summary="Change a tenant", responses=problems(400, 404, 409), openapi_extra=requires(ADMIN, operators=True)
)
async def change_tenant(
    tenant_id: TenantId, body: TenantChange, application: CurrentApplication, actor: CurrentActor
) -> TenantSummary:
    """Work that waits for a quota is dealt out anew at once."""
    async with application.database.engine_session() as session:
        tenant = await tenants.by_id(session, tenant_id)
        changes = _changes(body)
        line = TenantSummary.model_validate(await tenants.change(session, actor, tenant.name, changes))
    if changes.get("disabled_at", True) is None:
        await tenants.resume_rows(application.database, application.pipeline.queues.values(), tenant_id)
    return line


def _changes(body: TenantChange) -> dict[str, Any]:
    changes = body.model_dump(exclude_unset=True)
    if "disabled" in changes:
        changes["disabled_at"] = clock.now() if changes.pop("disabled") else None
    return changes
