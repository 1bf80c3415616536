"""The installation, for the operator tenant: workers, hosts at rest, providers, spending, tenants and settings."""

from collections.abc import Mapping, Sequence
from datetime import date
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path
from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.accounts import tenants
from scrapersky.api.accounts.tenants import TenantChange
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line import find
from scrapersky.api.operations import dev_tools, system
from scrapersky.api.operations.system import MonthSpending
from scrapersky.console.answers import page, redirect
from scrapersky.console.draw.charts import Chart, ChartMark
from scrapersky.console.draw.words import CURRENCY, money
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark
from scrapersky.core import clock
from scrapersky.core.errors import BadRequest

HERE = f"{CONSOLE}/system"
MONTHS = 12
LIMITS = (
    ("searches_per_day", mark("searches a day")),
    ("pages_per_day", mark("pages a day")),
    ("cents_per_month", mark("spending a month")),
)
TenantRow = Annotated[UUID, Path(alias="id", description="the id of the tenant")]


class BadAmount(BadRequest):
    """A quota could not be read."""


async def show(asked: CurrentPage) -> Response:
    """Draw workers, hosts at rest, providers and spending."""
    application = asked.application
    scheduler = await dev_tools.scheduler_status(application)
    spent = await system.list_spending(application, MONTHS)
    providers = (await find.list_providers(application, asked.actor)).items
    labels = {one.name: one.label for one in providers}
    return page(
        asked,
        "system.html",
        scheduler=scheduler,
        hosts=await system.list_resting_hosts(application, asked.request.query_params.get("cursor") or None, 20),
        cooldowns=(await system.list_cooldowns(application)).items,
        providers=providers,
        spending=spending_chart(spent.items, clock.now().date(), labels),
        here=HERE,
    )


async def show_settings(asked: CurrentPage) -> Response:
    """Draw every setting with its source."""
    found = (await system.list_settings(asked.application)).items
    groups = [(name, list(members)) for name, members in groupby(found, key=lambda one: one.group)]
    return page(asked, "system_settings.html", groups=groups, here=HERE)


async def show_tenants(asked: CurrentPage) -> Response:
    """Draw the tenants with their quotas."""
    listing = await tenants.list_tenants(asked.application, asked.request.query_params.get("cursor") or None, 50)
    return page(asked, "system_tenants.html", listing=listing, limits=LIMITS, here=HERE)


async def show_tenant(tenant_id: TenantRow, asked: CurrentPage) -> Response:
    """Draw one tenant: the use of its quotas, and the form that changes them."""
    return await _tenant(asked, tenant_id)


async def change_tenant(tenant_id: TenantRow, asked: CurrentPage, form: SentForm) -> Response:
    """Change the quotas of a tenant, disable or enable it."""
    given = {name: form.get(name) for name, label in LIMITS if label}
    try:
        limits = {name: _amount(name, text) for name, text in given.items()}
        change = TenantChange(**limits, disabled=form.get("disabled") == "yes")
    except (BadAmount, ValidationError) as error:
        said = (
            str(error) if isinstance(error, BadAmount) else _("A quota is a number from 0 to 2,147,483,647, or empty.")
        )
        return await _tenant(asked, tenant_id, given, said, HTTPStatus.UNPROCESSABLE_ENTITY)
    await tenants.change_tenant(tenant_id, change, asked.application, asked.actor)
    said = _("The tenant was changed; work that waits for a quota is rescheduled.")
    return redirect(asked, f"{HERE}/tenants/{tenant_id}", said)


def spending_chart(spent: Sequence[MonthSpending], today: date, labels: Mapping[str, str]) -> Chart:
    """Return the chart of the last months, a series per provider that was paid."""
    names = tuple(sorted({one.provider for one in spent if one.cents}))
    cents = {(one.month, one.provider): one.cents for one in spent}
    months = [_months_before(today, n) for n in reversed(range(MONTHS))]
    rows = [(month, tuple(cents.get((month, name), 0) for name in names)) for month in months]
    marks = [ChartMark(f"{month:%b %Y}", values, None, f"{month:%b}") for month, values in rows]
    series = tuple(labels.get(name, name) for name in names)
    return Chart(_("Spending of all tenants per month"), series, tuple(marks), axis=mark("month"), written=money)


def _months_before(today: date, count: int) -> date:
    months = today.year * 12 + today.month - 1 - count
    return date(months // 12, months % 12 + 1, 1)


def _amount(name: str, text: str) -> int | None:
    """Read a quota; empty means no limit. Money is written in units of the currency."""
    if not text:
        return None
    try:
        return round(float(text) * 100) if name == "cents_per_month" else int(text)
    except (ValueError, OverflowError):
        raise BadAmount(
            _("%(text)s is not a number. Leave the field empty for no limit.") % {"text": ascii(text[:40])}
        ) from None


async def _tenant(
    asked: PageRequest,
    tenant_id: UUID,
    given: dict[str, str] | None = None,
    problem: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    tenant = await tenants.get_tenant(tenant_id, asked.application)
    shown: dict[str, Any] = given or {
        "searches_per_day": tenant.searches_per_day,
        "pages_per_day": tenant.pages_per_day,
        "cents_per_month": None if tenant.cents_per_month is None else f"{tenant.cents_per_month / 100:.2f}",
    }
    context = {"tenant": tenant, "shown": shown, "limits": LIMITS, "problem": problem, "here": HERE}
    context["currency"] = CURRENCY
    return page(asked, "system_tenant.html", status, **context)
