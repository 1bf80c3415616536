"""`scrapersky find` with rows that something holds: it says so, and does not wait for ever."""

import pytest

from scrapersky.sandbox.sandbox import Sandbox


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=31, businesses=120) as little_internet:
        yield little_internet


async def test_a_paused_workflow_is_not_waited_for_silently(process, sandbox, database_url, tmp_path, admin):
    await admin.execute("INSERT INTO workflow_control (workflow, paused_at) VALUES ('deep_scan', now())")
    words = ("find", "dentists in Helsinki", "--limit", "5", "--out", str(tmp_path / "x.csv"), "--idle-timeout", "8")
    said = await process(*words, **sandbox.environment(), DATABASE_URL=database_url, CRAWL_PARSER_PROCESSES="1").leave(
        120
    )
    assert said.code == 3, said.err
    assert "deep_scan was paused" in said.err
    assert "5 rows are left" in said.err
