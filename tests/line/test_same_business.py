"""The businesses of a world are searched with three providers, which spell them differently: each is one business."""

from collections import defaultdict
from itertools import combinations
from uuid import UUID

import pytest

from scrapersky.actions.searches.request_search import request_search
from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment
from scrapersky.engine.loop import run_job_loop
from scrapersky.providers.areas.where import Where
from scrapersky.sandbox.google.place import number_of
from scrapersky.sandbox.osm.element import FIRST_ID
from scrapersky.sandbox.other_records import BRANCHES, records_file
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.read import LeadQuery, leads
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules
from tests.conftest import processors_of

PROVIDERS = {
    "openstreetmap": lambda text: int(text.rpartition("/")[2]) - FIRST_ID,
    "google_places": number_of,
    "file": lambda text: text if text.startswith("chain") else int(text),
}
RECORDS = """
SELECT coalesce(b.same_as_id, b.id) AS business, p.provider, p.provider_id, b.name
FROM local_business b JOIN place p ON p.id = b.place_id WHERE b.expired_at IS NULL"""
MIN_RECALL = 0.95


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=7, businesses=400) as little_internet:
        yield little_internet


@pytest.fixture
async def application(sandbox, database_url, tmp_path):
    path = tmp_path / "others.csv"
    path.write_text(records_file(sandbox.world, "Helsinki", "dentist"))
    settings = {**sandbox.environment(), "DATABASE_URL": database_url, "PROVIDER_FILE_PATH": str(path)}
    opened = await open_application(Environment(settings, None))
    yield opened
    await opened.close()


async def search(application, tenant: UUID, provider: str) -> UUID:
    words = ("*", Where()) if provider == "file" else ("dentists", Where.of("Helsinki"))
    wish = SearchRequest(*words, provider, None, None, AdvanceRules(site_search="off"))
    async with application.database.session(tenant) as session:
        requested = await request_search(session, Actor("ada", tenant, "operator", "test"), wish)
    processors = processors_of(application.pipeline, application.database, application.settings)
    for step in ("place_search", "deep_scan", "domain_extraction"):
        await run_job_loop(processors[step])
    return requested.search.id


async def test_each_business_is_one_and_no_two_are(application, admin, tenant):
    searches = [await search(application, tenant, provider) for provider in PROVIDERS]
    groups, truth = defaultdict(list), defaultdict(list)
    for row in await admin.fetch(RECORDS):
        number = PROVIDERS[row["provider"]](row["provider_id"])
        groups[row["business"]].append(number)
        truth[number].append(row["name"])
    wrong = [group for group in groups.values() if len(set(group)) > 1]
    assert wrong == []  # no two businesses were taken for one
    true = sum(len(list(combinations(records, 2))) for records in truth.values())
    found = sum(len(list(combinations(group, 2))) for group in groups.values())
    assert true > 60
    assert found >= MIN_RECALL * true, [truth[group[0]] for group in groups.values() if len(group) == 1]
    async with application.database.session(tenant) as session:
        rows = [row async for row in leads(session, LeadQuery(tuple(searches)))]
        without = [row async for row in leads(session, LeadQuery(tuple(searches), filters={"chains": False}))]
    assert len(rows) == len(groups)
    assert len(rows) - len(without) == BRANCHES
    assert {row["chain"] for row in rows} == {None, "kruunu-chain-7q.fi"}
