"""Schedules: each due run is started once, by whichever process is there, and missed runs are made up by one."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from scrapersky.actions.searches import schedules as actions
from scrapersky.actions.searches.campaigns import CampaignRequest, request_campaign
from scrapersky.actions.searches.cancel_search import cancel
from scrapersky.actions.searches.request_search import request_completed, request_search
from scrapersky.actions.searches.run_schedules import RunSchedules
from scrapersky.engine.maintenance import run_periodic
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Estimate
from scrapersky.store.audit.record import Actor
from scrapersky.store.searches.recurrence import BadSchedule, Recurrence
from scrapersky.store.searches.request import SearchRequest, add_domains
from scrapersky.store.searches.schedules import due_runs
from scrapersky.store.steps import AdvanceRules

DAILY = Recurrence.parse("1d", None, None)


class Directory:
    """A provider that is only asked for estimates."""

    name = "directory"

    async def estimate(self, query):
        return Estimate(1, 0, "It is free.")


PROVIDERS: Any = {"directory": Directory()}


def actor(tenant) -> Actor:
    return Actor("ada", tenant, "curator", "test")


def request(area: str = "Helsinki", provider: str = "directory") -> SearchRequest:
    return SearchRequest("dentists", Where.of(area), provider, None, None, AdvanceRules())


@pytest.fixture
async def search_id(database, admin, tenant) -> UUID:
    async with database.session(tenant) as session:
        made = (await request_search(session, actor(tenant), request())).search
    await admin.execute("UPDATE search SET place_search_status = 'Completed'")
    return made.id


@pytest.fixture
def scheduled(database, tenant):
    async def schedule(search_id: UUID, times: Recurrence = DAILY) -> UUID:
        async with database.session(tenant) as session:
            return (await actions.schedule_search(session, actor(tenant), search_id, times, PROVIDERS))[0].id

    return schedule


async def look(database) -> str:
    return await RunSchedules(PROVIDERS).run_on(database)


async def make_due(admin, ago: str) -> None:
    await admin.execute(f"UPDATE schedule SET next_run_at = now() - interval '{ago}'")


async def test_runs_that_were_missed_are_made_up_by_one(database, admin, search_id, scheduled):
    await scheduled(search_id)
    assert await look(database) == "no run was due"
    database.system_user_id = user = await admin.fetchval('SELECT id FROM "user" LIMIT 1')
    await make_due(admin, "50 hours")
    due = await admin.fetchval("SELECT next_run_at FROM schedule")
    assert await look(database) == "1 started"
    assert await look(database) == "no run was due"
    row = await admin.fetchrow("SELECT *, now() AS now FROM schedule")
    assert row["next_run_at"] == due + timedelta(hours=72), "the rhythm stays"
    assert (row["last_outcome"], row["last_reason"], row["run_count"]) == ("started", None, 1)
    assert await admin.fetchval("SELECT place_search_status FROM search") == "Queued"
    entry = await admin.fetchrow("SELECT actor, origin, actor_id FROM audit WHERE action = 'request again'")
    assert tuple(entry) == ("schedule", "schedule", user), "the user that the engine acts as"


async def test_many_processes_start_a_run_once(database, admin, search_id, scheduled):
    await scheduled(search_id)
    await make_due(admin, "1 minute")
    async with database.engine_connection() as connection:
        [run] = await due_runs(connection)
    outcomes = await asyncio.gather(*(actions.start_run(database, PROVIDERS, run) for _ in range(5)))
    assert sorted(map(str, outcomes)) == ["None"] * 4 + ["started"]
    assert await admin.fetchval("SELECT run_count FROM schedule") == 1
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action = 'request again'") == 1


async def test_the_task_is_one_of_those_that_every_process_runs(database, admin, search_id, scheduled):
    await scheduled(search_id)
    await make_due(admin, "1 minute")
    assert await run_periodic(RunSchedules(PROVIDERS), database)
    assert not await run_periodic(RunSchedules(PROVIDERS), database), "another process within the interval"
    assert await admin.fetchval("SELECT result FROM maintenance WHERE name = 'run_schedules'") == "1 started"


async def test_a_run_is_skipped_while_the_one_before_searches_or_a_person_has_cancelled_the_search(
    database, admin, tenant, search_id, scheduled
):
    await scheduled(search_id)
    await admin.execute("UPDATE search SET place_search_status = 'Queued'")
    await make_due(admin, "1 minute")
    assert await look(database) == "1 skipped"
    assert await admin.fetchval("SELECT last_reason FROM schedule") == "The run before is still searching."
    async with database.session(tenant) as session:
        await cancel(session, actor(tenant), search_id)
    await make_due(admin, "1 minute")
    assert await look(database) == "1 skipped"
    row = await admin.fetchrow("SELECT last_reason, run_count, next_run_at > now() AS is_later FROM schedule")
    assert row["last_reason"] == "ada cancelled the search. Continue it, or remove the schedule."
    assert (row["run_count"], row["is_later"]) == (0, True)


async def test_a_complete_search_that_is_cancelled_is_not_made_again_either(
    database, admin, tenant, search_id, scheduled
):
    await scheduled(search_id)
    await admin.execute("UPDATE search SET place_search_status = 'Completed'")
    async with database.session(tenant) as session:
        assert not any((await cancel(session, actor(tenant), search_id)).values()), "no row waited"
    await make_due(admin, "1 minute")
    assert await look(database) == "1 skipped"


async def test_a_run_over_a_quota_is_refused_with_the_reason_and_the_next_one_is_tried(
    database, admin, search_id, scheduled
):
    await scheduled(search_id)
    await make_due(admin, "1 minute")
    await admin.execute("UPDATE tenant SET searches_per_day = 0")
    assert await look(database) == "1 refused"
    row = await admin.fetchrow("SELECT last_reason, next_run_at > now() AS is_later FROM schedule")
    assert "0 searches a day" in row["last_reason"]
    assert row["is_later"]
    await admin.execute("UPDATE tenant SET searches_per_day = NULL")
    await make_due(admin, "1 minute")
    assert await look(database) == "1 started"


async def test_a_pause_is_not_made_up_and_a_disabled_tenant_runs_nothing(database, admin, tenant, search_id, scheduled):
    schedule_id = await scheduled(search_id)
    async with database.session(tenant) as session:
        await actions.pause(session, actor(tenant), search_id)
    await make_due(admin, "9 days")
    assert await look(database) == "no run was due"
    async with database.session(tenant) as session:
        resumed = await actions.resume_schedule(session, actor(tenant), schedule_id)
    assert resumed.next_run_at > datetime.now(UTC) + timedelta(hours=23)
    assert await look(database) == "no run was due"
    await make_due(admin, "1 minute")
    await admin.execute("UPDATE tenant SET disabled_at = now()")
    assert await look(database) == "no run was due"


async def test_a_campaign_runs_as_a_whole(database, admin, tenant, scheduled):
    wanted = CampaignRequest.of([request("Turku"), request("Oulu")], AdvanceRules(), None, None)
    async with database.session(tenant) as session:
        campaign = (await request_campaign(session, actor(tenant), wanted)).search
    await scheduled(campaign.id)
    await make_due(admin, "1 minute")
    assert await look(database) == "1 skipped", "its searches are still queued"
    await admin.execute("UPDATE search SET place_search_status = 'Completed'")
    await make_due(admin, "1 minute")
    assert await look(database) == "1 started"
    queued = await admin.fetch("SELECT area FROM search WHERE place_search_status = 'Queued' ORDER BY area")
    assert [row["area"] for row in queued] == ["Oulu", "Turku"]


async def test_web_sites_of_a_file_are_read_again(database, admin, tenant, scheduled):
    async with database.session(tenant) as session:
        made = (await request_completed(session, actor(tenant), request(provider="domains"))).search
        await add_domains(session, made, [CompanyDomain("molar.fi", "molar.fi", "https://molar.fi/")])
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Completed'")
    await scheduled(made.id)
    await make_due(admin, "1 minute")
    assert await look(database) == "1 started"
    assert await admin.fetchval("SELECT domain_metadata_status FROM domain") == "Queued"


async def test_a_search_that_no_provider_can_make_gets_no_schedule(database, tenant, scheduled):
    async with database.session(tenant) as session:
        made = (await request_completed(session, actor(tenant), request(provider="import"))).search
    with pytest.raises(BadSchedule, match="not configured, so the search cannot be repeated"):
        await scheduled(made.id)
