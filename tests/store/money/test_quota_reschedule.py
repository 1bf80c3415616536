"""A calendar of many rows: the change of a quota deals out the first of them, the engine the rest, in bites."""

import pytest
from tests.store.money.test_quotas import add_pages, allow, booked, days

from scrapersky.engine.maintenance import run_periodic
from scrapersky.store.money import quota_reschedule
from scrapersky.store.money.quota_reschedule import RescheduleQuotaRows

MANY = 20_050  # fifty more than the change itself deals out


@pytest.fixture
async def begun(admin, tenant):
    """A calendar of which fifty rows are left to be dealt out."""
    await add_pages(admin, tenant, MANY)
    await allow(admin, tenant, pages_per_day=10_000)
    assert await booked(admin, tenant) == [10_000, 10_000]
    assert await admin.fetchval("SELECT count(*) FROM rebooking WHERE tenant_id = $1", tenant) == 1


async def test_what_is_left_is_dealt_out_in_bites_behind_the_rest(database, admin, tenant, begun, monkeypatch):
    monkeypatch.setattr(quota_reschedule, "BITE", 20)
    assert await run_periodic(RescheduleQuotaRows(database), database)
    assert await days(admin, tenant) == {0: 10_000, 1: 10_000, 2: 50}
    assert await booked(admin, tenant) == [10_000, 10_000, 50]
    assert await admin.fetchval("SELECT count(*) FROM rebooking") == 0


async def test_what_is_queued_meanwhile_has_its_day_and_another_change_begins_anew(database, admin, tenant, begun):
    await add_pages(admin, tenant, 10, start=MANY)
    assert await booked(admin, tenant) == [10_000, 10_000, 10]
    await run_periodic(RescheduleQuotaRows(database), database)
    assert await booked(admin, tenant) == [10_000, 10_000, 60]
    await allow(admin, tenant, pages_per_day=None)
    await admin.execute("UPDATE maintenance SET ran_at = NULL")
    await run_periodic(RescheduleQuotaRows(database), database)
    assert await days(admin, tenant) == {0: MANY + 10}
