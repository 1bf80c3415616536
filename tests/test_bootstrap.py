"""The user that workflows act as: an active one of the operator tenant, or the start is refused."""

import pytest

from scrapersky.actions.searches import schedules
from scrapersky.actions.searches.request_search import request_search
from scrapersky.actions.searches.run_schedules import RunSchedules
from scrapersky.bootstrap import open_application
from scrapersky.core.errors import BadSetting
from scrapersky.providers.areas.where import Where
from scrapersky.providers.registry import DEFAULT_PROVIDER
from scrapersky.store.audit.record import Actor
from scrapersky.store.searches.recurrence import Recurrence
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules
from tests.factories.api_application import environment

ITS_TENANT = 'WHERE id = (SELECT tenant_id FROM "user" WHERE id = $1)'
CHANGES = {
    "disabled": 'UPDATE "user" SET disabled_at = now() WHERE id = $1',
    "of a tenant that is out": f"UPDATE tenant SET disabled_at = now() {ITS_TENANT}",
    "of a guest": f"UPDATE tenant SET is_operator = false {ITS_TENANT}",
    "gone": 'DELETE FROM "user" WHERE id = $1',
}


@pytest.fixture
async def eve(admin, tenant):
    """A user of the operator tenant."""
    return await admin.fetchval(
        "INSERT INTO \"user\" (tenant_id, name, role) VALUES ($1, 'eve', 'operator') RETURNING id", tenant
    )


async def test_an_active_user_of_the_house_will_do(database_url, eve):
    application = await open_application(environment(database_url, SCHEDULER_SYSTEM_USER_ID=str(eve)))
    assert application.system_user_id == application.database.system_user_id == eve
    await application.close()


async def test_what_the_engine_does_is_audited_as_this_user(database_url, admin, tenant, eve):
    application = await open_application(environment(database_url, SCHEDULER_SYSTEM_USER_ID=str(eve)))
    wish = SearchRequest("dentists", Where.of("Helsinki"), DEFAULT_PROVIDER, None, None, AdvanceRules())
    actor = Actor("ada", tenant, "curator", "test")
    async with application.database.session(tenant) as session:
        search = (await request_search(session, actor, wish)).search
        times = Recurrence.parse("1d", None, None)
        await schedules.schedule_search(session, actor, search.id, times, application.providers)
    await admin.execute("UPDATE search SET place_search_status = 'Completed'")
    await admin.execute("UPDATE schedule SET next_run_at = now() - interval '1 minute'")
    assert await RunSchedules(application.providers).run_on(application.database) == "1 started"
    await application.close()
    lines = await admin.fetch("SELECT DISTINCT actor_id FROM audit WHERE origin = 'schedule'")
    assert [line["actor_id"] for line in lines] == [eve]


@pytest.mark.parametrize("change", CHANGES)
async def test_nobody_else_will(database_url, admin, eve, change):
    await admin.execute(CHANGES[change], eve)
    with pytest.raises(BadSetting, match=r"is not an active user of an operator tenant\..*or remove it"):
        await open_application(environment(database_url, SCHEDULER_SYSTEM_USER_ID=str(eve)))
