"""The page docs/adding-a-workflow.md is followed to the letter, and the eleventh workflow works."""

from pathlib import Path

import asyncpg

from tests.architecture.walkthrough import Walkthrough


async def test_following_the_page_gives_a_working_eleventh_workflow(tmp_path: Path, empty_url: str) -> None:
    copy = Walkthrough("adding-a-workflow.md", tmp_path, empty_url)
    assert len(copy.steps) == 6
    await copy.scrapersky("migrate")
    connection = await asyncpg.connect(empty_url)
    tenant = await connection.fetchval("SELECT id FROM tenant")
    for name in ("MOLAR & SONS", "Quiet Ltd"):
        await connection.execute(
            "INSERT INTO local_business (tenant_id, name, tidy_name_status) VALUES ($1, $2, 'Queued')", tenant, name
        )
    await copy.scrapersky("run", "tidy_name")
    rows = {row["name"]: row for row in await connection.fetch("SELECT * FROM local_business")}
    assert rows["Molar & Sons"]["tidy_name_status"] == "Completed"
    assert rows["Quiet Ltd"]["tidy_name_error"] == "the name is fine"
    await connection.close()
    assert "tidy_name" in await copy.scrapersky("status")
    assert "TIDY_NAME_SCHEDULER_BATCH_SIZE" in await copy.scrapersky("settings", TIDY_NAME_SCHEDULER_BATCH_SIZE="500")
