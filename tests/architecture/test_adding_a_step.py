"""The page docs/adding-a-step.md is followed to the letter, and the new step works in all that the line offers."""

import json
from pathlib import Path
from uuid import UUID

import asyncpg

from tests.architecture.walkthrough import Walkthrough

STATES = "SELECT name, tidy_name_status, domain_extraction_status FROM local_business ORDER BY name"
# Run with the sources of the copy: the same actions that API and commands call.
SCRIPT = """
import asyncio, json, os, sys
from uuid import UUID
from scrapersky.providers.areas.where import Where
from scrapersky.actions import curation
from scrapersky.actions.searches import cancel_search
from scrapersky.actions.searches.request_search import request_search
from scrapersky.core.database import Database
from scrapersky.core.settings import Environment, load
from scrapersky.core.vocabularies import Curation
from scrapersky.store.audit.record import Actor
from scrapersky.store.steps import AdvanceRules
from scrapersky.store.listing.resources import BUSINESSES
from scrapersky.store.searches.progress import progress, top_reasons
from scrapersky.store.searches.request import SearchRequest

async def main(action, tenant_id, *ids):
    environment = Environment()
    database = Database(os.environ["DATABASE_URL"], load(environment))
    actor = Actor("ada", UUID(tenant_id), "operator", "test")
    async with database.session(actor.tenant_id) as session:
        if action == "progress":
            done = {step.workflow: vars(step) for step in await progress(session, UUID(ids[0]))}
        elif action == "reasons":
            done = [list(reason) for reason in await top_reasons(session, UUID(ids[0]))]
        elif action == "cancel":
            done = await cancel_search.cancel(session, actor, UUID(ids[0]))
        elif action == "resume":
            request = SearchRequest("dentists", Where.of("Helsinki"), "fake", None, None, AdvanceRules())
            done = (await request_search(session, actor, request)).existed
        else:
            done = vars(await curation.curate(session, BUSINESSES, actor, list(map(UUID, ids)), Curation(action)))
    await database.close()
    print(json.dumps(done))

asyncio.run(main(*sys.argv[1:]))
"""


async def test_following_the_page_gives_a_working_step_on_the_line(tmp_path: Path, empty_url: str) -> None:
    copy = Walkthrough("adding-a-step.md", tmp_path, empty_url)
    declared = {path for path in copy.files if path.startswith("src/") and "/models/" not in path}
    assert len(declared) == 3
    assert copy.files - declared == {
        "src/scrapersky/models/local_business.py",
        "migrations/versions/2026-12-01-0900_tidy_name.py",
    }
    await copy.scrapersky("migrate")
    connection = await asyncpg.connect(empty_url)
    try:
        await _use_the_step(copy, connection)
    finally:
        await connection.close()


async def _use_the_step(copy: Walkthrough, connection: asyncpg.Connection) -> None:
    tenant: UUID = await connection.fetchval("SELECT id FROM tenant")
    search: UUID = await connection.fetchval(
        "INSERT INTO search (tenant_id, text, area, provider, place_search_status) "
        "VALUES ($1, 'dentists', 'Helsinki', 'fake', 'Completed') RETURNING id",
        tenant,
    )
    for number, name in enumerate(("MOLAR & SONS", "Quiet Ltd")):
        await connection.execute(
            "WITH found AS (INSERT INTO place (tenant_id, search_id, provider, provider_id, name, details, "
            "deep_scan_status) VALUES ($1, $2, 'fake', $3, $4, $5, 'Queued') RETURNING id) "
            "INSERT INTO search_place (search_id, place_id, tenant_id) SELECT $2, id, $1 FROM found",
            *(tenant, search, str(number), name, json.dumps({"name": name, "website": f"https://site-{number}.fi"})),
        )

    async def states() -> list[tuple[str, str, str]]:
        return [tuple(row) for row in await connection.fetch(STATES)]

    async def do(action: str, *ids: UUID) -> object:
        return json.loads(await copy.python("-c", SCRIPT, action, str(tenant), *map(str, ids)))

    await copy.scrapersky("run", "deep_scan")
    assert await states() == [("MOLAR & SONS", "Queued", "New"), ("Quiet Ltd", "Queued", "New")], "auto-advance into it"
    counts = await do("progress", search)
    assert isinstance(counts, dict)
    assert list(counts)[1:5] == ["deep_scan", "site_search", "tidy_name", "domain_extraction"]
    assert counts["tidy_name"]["waiting"] == 2

    withdrawn = await do("cancel", search)
    assert isinstance(withdrawn, dict)
    assert (withdrawn["tidy_name"], await connection.fetchval("SELECT cancelled_by FROM search")) == (2, "ada")
    assert {state[1] for state in await states()} == {"New"}
    assert await do("resume", search) is True
    assert {state[1] for state in await states()} == {"Queued"}

    quiet = await connection.fetchval("SELECT id FROM local_business WHERE name = 'Quiet Ltd'")
    curated = await do("Not a Fit", quiet)
    assert isinstance(curated, dict)
    assert (curated["updated"], await states()) == (1, [("MOLAR & SONS", "Queued", "New"), ("Quiet Ltd", "New", "New")])

    await copy.scrapersky("run", "tidy_name")
    assert await states() == [("Molar & Sons", "Completed", "Queued"), ("Quiet Ltd", "New", "New")], "and out of it"
    await do("Selected", quiet)
    await connection.execute(
        "UPDATE local_business SET tidy_name_status = 'Error', tidy_name_error = 'no' WHERE id = $1", quiet
    )
    assert await do("reasons", search) == [["tidy_name", "Error", "no", 1, None]]
    assert "TIDY_NAME_SCHEDULER_BATCH_SIZE" in await copy.scrapersky("settings", TIDY_NAME_SCHEDULER_BATCH_SIZE="500")
