"""Many rows after a change of a quota: the change reschedules the first of them, the engine the rest in chunks."""

import pytest

from scrapersky.engine.maintenance import run_periodic
from scrapersky.maintenance import reschedule_quota_rows
from scrapersky.maintenance.reschedule_quota_rows import RescheduleQuotaRows
from tests.store.money.test_quotas import add_pages, allow, booked, days

MANY = 20_050  # fifty more than the change itself reschedules


@pytest.fixture
async def begun(admin, tenant):
    """Change a quota so that fifty rows are left to be rescheduled."""
    await add_pages(admin, tenant, MANY)
    await allow(admin, tenant, pages_per_day=10_000)
    assert await booked(admin, tenant) == [10_000, 10_000]
    assert await admin.fetchval("SELECT count(*) FROM quota_reschedule WHERE tenant_id = $1", tenant) == 1


async def test_the_remaining_rows_are_rescheduled_in_chunks(database, admin, tenant, begun, monkeypatch):
    monkeypatch.setattr(reschedule_quota_rows, "CHUNK_ROWS", 20)
    assert await run_periodic(RescheduleQuotaRows(), database)
    assert await days(admin, tenant) == {0: 10_000, 1: 10_000, 2: 50}
    assert await booked(admin, tenant) == [10_000, 10_000, 50]
    assert await admin.fetchval("SELECT count(*) FROM quota_reschedule") == 0


async def test_rows_queued_meanwhile_have_their_day_and_another_change_starts_again(database, admin, tenant, begun):
    await add_pages(admin, tenant, 10, start=MANY)
    assert await booked(admin, tenant) == [10_000, 10_000, 10]
    await run_periodic(RescheduleQuotaRows(), database)
    assert await booked(admin, tenant) == [10_000, 10_000, 60]
    await allow(admin, tenant, pages_per_day=None)
    await admin.execute("UPDATE maintenance SET ran_at = NULL")
    await run_periodic(RescheduleQuotaRows(), database)
    assert await days(admin, tenant) == {0: MANY + 10}
