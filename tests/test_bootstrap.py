"""Whom the workflows act as: somebody in force, of the tenant that runs the house, or there is no start."""

import pytest

from scrapersky.bootstrap import open_application
from scrapersky.core.errors import BadSetting
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
    """Somebody of the house."""
    return await admin.fetchval(
        "INSERT INTO \"user\" (tenant_id, name, role) VALUES ($1, 'eve', 'operator') RETURNING id", tenant
    )


async def test_an_active_user_of_the_house_will_do(database_url, eve):
    application = await open_application(environment(database_url, SCHEDULER_SYSTEM_USER_ID=str(eve)))
    assert application.system_user_id == application.database.system_user_id == eve
    await application.close()


@pytest.mark.parametrize("change", CHANGES)
async def test_nobody_else_will(database_url, admin, eve, change):
    await admin.execute(CHANGES[change], eve)
    with pytest.raises(BadSetting, match=r"is not an active user of an operator tenant\..*or remove it"):
        await open_application(environment(database_url, SCHEDULER_SYSTEM_USER_ID=str(eve)))
