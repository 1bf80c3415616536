"""The installation as its operators see it: settings, web hosts that rest, cooldowns of providers, spending."""

from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, OPERATOR, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import Count, Cursor, Limit, ResponseModel, ResultPage
from scrapersky.api.settings_catalog import every_setting, of_database, shown
from scrapersky.core.redaction import redactor
from scrapersky.store.money import spending
from scrapersky.store.operations import hosts_at_rest, retention

router = APIRouter(prefix="/system", tags=["system"], route_class=ListRoute)

MAX_SETTINGS = 1_000
MAX_MONTHS = 36
MAX_COOLDOWNS = 1_000


class SettingSummary(ResponseModel):
    """A setting of this process, or of the database for all hosts. Values of secrets are masked."""

    group: str = Field(description="what it belongs to", examples=["The crawler"])
    name: str = Field(description="the variable", examples=["CRAWL_HOST_DELAY_SECONDS"])
    value: str = Field(description="its value as in .env; a secret is masked", examples=["1"])
    default: str = Field(description="its default as in .env", examples=["1"])
    source: str = Field(
        description="where the value comes from: environment, .env, default or database", examples=["default"]
    )
    description: str = Field(description="what it does", examples=["time between two visits to a host"])


class SettingList(ResponseModel):
    """All settings of the process that answers."""

    items: list[SettingSummary] = Field(max_length=MAX_SETTINGS, description="in groups")


class RestingHost(ResponseModel):
    """A web host that no worker visits before a time: the delay between two visits, or what the host asked for."""

    host: str = Field(description="the name of the host", examples=["kallio-dental.example"])
    until: datetime = Field(description="when it may be visited again")


class ProviderPause(ResponseModel):
    """A method of a provider that no worker calls before a time."""

    name: str = Field(description="the provider, its method and a mark of its key", examples=["google:search"])
    until: datetime = Field(description="when it may be called again")
    reason: str = Field(description="why it is not called", examples=["the quota of the day is used up"])


class ProviderPauses(ResponseModel):
    """The cooldowns of providers that have not ended."""

    items: list[ProviderPause] = Field(max_length=MAX_COOLDOWNS, description="by name")


class MonthSpending(ResponseModel):
    """What all tenants together spent on a provider in a month."""

    month: date = Field(description="the first day of the month", examples=["2026-11-01"])
    provider: str = Field(description="the provider", examples=["google_places"])
    calls: Count = Field(description="calls, also free ones", examples=[4711])
    cents: float = Field(description="their cost in cents of the provider's currency", examples=[1234.5])


class SpendingPerMonth(ResponseModel):
    """Spending of all tenants."""

    items: list[MonthSpending] = Field(max_length=MAX_SETTINGS, description="in the order of time")


@router.get("/settings", summary="Settings and where they come from", **requires(ADMIN, operators=True))
async def list_settings(application: CurrentApplication) -> SettingList:
    """Return every setting of the process that answers, read-only, and what the database holds for all hosts."""
    async with application.database.engine_session() as session:
        days = await retention.days_of_all(session)
    found = [*every_setting(application.environment, application.pipeline), *of_database(days)]
    mask = redactor(application.settings)  # an address may hold a password
    written = [{**vars(one), "value": mask(shown(one.value)), "default": shown(one.default)} for one in found]
    return SettingList(items=[SettingSummary(**one) for one in written])


@router.get("/hosts", summary="Web hosts that rest", **requires(OPERATOR, 400, operators=True))
async def list_resting_hosts(
    application: CurrentApplication, cursor: Cursor = None, limit: Limit = 50
) -> ResultPage[RestingHost]:
    """List the web hosts that no worker visits now, the longest pause first. The list changes while you read it."""
    after = (
        application.cursors.decode(cursor, "system/hosts", cursors.timestamp, cursors.storable_text) if cursor else None
    )
    async with application.database.engine_session() as session:
        found = await hosts_at_rest.hosts_at_rest(session, limit + 1, (after[0], after[1]) if after else None)
    return application.cursors.page_of(
        found, limit, "system/hosts", lambda one: [one.until.isoformat(), one.host], RestingHost.model_validate
    )


@router.get("/cooldowns", summary="Cooldowns of providers", **requires(OPERATOR, operators=True))
async def list_cooldowns(application: CurrentApplication) -> ProviderPauses:
    """Return the providers that no worker calls now, and why."""
    async with application.database.engine_session() as session:
        found = await hosts_at_rest.cooldowns(session)
    return ProviderPauses(items=[ProviderPause.model_validate(one) for one in found[:MAX_COOLDOWNS]])


@router.get("/spending", summary="Spending per month", **requires(OPERATOR, operators=True))
async def list_spending(
    application: CurrentApplication,
    months: Annotated[int, Query(ge=1, le=MAX_MONTHS, description="how many months, with this one")] = 12,
) -> SpendingPerMonth:
    """Return the calls and the cost per month and provider, of all tenants together."""
    async with application.database.engine_session() as session:
        found = await spending.spent_per_month(session, months)
    return SpendingPerMonth(items=[MonthSpending.model_validate(one) for one in found[-MAX_SETTINGS:]])
