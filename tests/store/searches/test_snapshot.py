"""The progress of a search is counted for all its readers together, and seldom."""

import asyncio
import re
from datetime import datetime
from itertools import pairwise
from uuid import UUID

import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.models import Search
from scrapersky.store.searches import snapshot
from scrapersky.store.searches.progress import _PROGRESS, _REASONS
from scrapersky.store.searches.results import _COUNTS

BACK = "UPDATE search_progress SET counted_at = now() - make_interval(secs => $1)"


@pytest.fixture
async def search_id(admin, tenant):
    return UUID((await add_line(admin, tenant))["searches"])


async def read(database, tenant, search_id):
    async with database.session(tenant) as session:
        return await snapshot.current(session, await session.get_one(Search, search_id))


def completed(counted, workflow="deep_scan"):
    return next(step.completed for step in counted.steps if step.workflow == workflow)


async def test_fifty_readers_at_once_are_counted_for_a_second_apart(database, admin, tenant, search_id):
    seen = await asyncio.gather(*(read(database, tenant, search_id) for _ in range(50)))
    moments = sorted({one.counted_at for one in seen})
    apart = [(late - early).total_seconds() for early, late in pairwise(moments)]
    assert all(seconds >= snapshot.MIN_SECONDS for seconds in apart)
    assert await admin.fetchval("SELECT count(*) FROM search_progress") == 1


async def test_a_snapshot_is_kept_for_a_second_or_twenty_times_its_cost_as_far_as_its_rows_explain_it(
    database, admin, tenant, search_id
):
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Queued'")
    await read(database, tenant, search_id)
    await admin.execute("UPDATE place SET deep_scan_status = 'Completed'")
    large, small = 100_000, 300  # rows: on a busy machine the count of a small search takes long, too
    cases = [(10, 1.0, large, False), (21, 1.0, large, True), (0.5, 0.0, large, False), (1.5, 0.0, large, True)]
    cases += [(0.5, 1.0, small, False), (1.5, 1.0, small, True)]
    for seconds, cost, rows, is_counted in cases:
        await admin.execute("UPDATE place SET deep_scan_status = 'Completed'")
        await admin.execute("UPDATE search_progress SET seconds = $1", cost)
        empty = "UPDATE search_progress SET snapshot = jsonb_set(snapshot, '{steps,1,completed}', '0')"
        await admin.execute(empty)
        skipped = "UPDATE search_progress SET snapshot = jsonb_set(snapshot, '{steps,0,skipped}', to_jsonb($1::int))"
        await admin.execute(skipped, rows)
        await admin.execute(
            "UPDATE search_progress SET counted_at = clock_timestamp() - make_interval(secs => $1)", seconds
        )
        assert completed(await read(database, tenant, search_id)) == int(is_counted), (seconds, cost, rows)


async def test_a_search_that_is_done_is_not_counted_again_until_somebody_does_something(
    database, admin, tenant, search_id
):
    assert (await read(database, tenant, search_id)).is_done
    await admin.execute(BACK, 300)
    await admin.execute("UPDATE place SET deep_scan_status = 'Completed'")
    assert completed(await read(database, tenant, search_id)) == 0
    await admin.execute(
        "INSERT INTO audit (tenant_id, actor, origin, action, subject) VALUES ($1, 'ada', 'api', 'curate', 'places')",
        tenant,
    )
    assert completed(await read(database, tenant, search_id)) == 1


async def test_a_reader_does_not_wait_for_one_who_counts(database, admin, tenant, search_id):
    first = await read(database, tenant, search_id)
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Queued'")
    await admin.execute("UPDATE search_progress SET is_done = false")
    await admin.execute(BACK, 60)
    async with admin.transaction():
        key = f"search progress {search_id}"
        await admin.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", key)
        assert (await read(database, tenant, search_id)).steps == first.steps
    assert (await read(database, tenant, search_id)).steps != first.steps


async def test_rows_that_no_rule_lets_on_wait_for_a_person(database, admin, tenant, search_id):
    await admin.execute('UPDATE search SET rules = \'{"deep_scan": "off", "sitemap_analysis": "off"}\'')
    await add_line(admin, tenant, "others")
    assert (await read(database, tenant, search_id)).undecided == {"deep_scan": 1}
    await admin.execute("DELETE FROM search_progress")
    await admin.execute("UPDATE place SET curation_status = 'Maybe'")
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Completed'")
    assert (await read(database, tenant, search_id)).undecided == {"sitemap_analysis": 1}


async def test_a_stored_snapshot_is_the_one_that_was_counted(database, admin, tenant, search_id):
    await admin.execute(
        "UPDATE page SET page_processing_status = 'Queued', page_processing_error = 'no answer from molar.fi',"
        " page_processing_due_at = now() + interval '1 hour'"
    )
    counted = await read(database, tenant, search_id)
    assert counted.waits[0].until > datetime.fromisoformat("2020-01-01T00:00:00Z")
    assert await read(database, tenant, search_id) == counted
    assert counted.share_done == 0


async def test_a_list_counts_a_few_searches_and_shows_all_that_were_counted(database, admin, tenant, other_tenant):
    ids = [UUID(await add(admin, "search", tenant, text=f"s{n}", provider="fake")) for n in range(8)]
    foreign = UUID(await add(admin, "search", other_tenant, text="theirs", provider="fake"))
    seen = []
    for _ in range(2):
        async with database.session(tenant) as session:
            seen.append(set(await snapshot.of_list(session, [*ids, foreign])))
    assert [len(found) for found in seen] == [snapshot.REFRESHED_PER_LIST, 8]
    assert foreign not in seen[1]


FILL = """
WITH site AS (
    INSERT INTO domain (tenant_id, search_id, name) SELECT $1, $2, 's' || n || '.fi' FROM generate_series(1, 60) n
    RETURNING id
), page AS (
    INSERT INTO page (tenant_id, domain_id, url, page_processing_status)
    SELECT $1, id, 'https://x.fi/' || n, CASE WHEN n <= 5 THEN 'Skipped' ELSE 'New' END
    FROM site, generate_series(1, 1000) n
)
INSERT INTO contact (tenant_id, domain_id, identity, email, contact_verification_status)
SELECT $1, id, n::text, n || '@x.fi', 'Completed' FROM site, generate_series(1, 5) n"""


async def test_counting_reads_the_pages_that_were_chosen_and_each_contact_once(database, admin, tenant):
    search = UUID(await add(admin, "search", tenant, text="dentists", provider="fake"))
    other = UUID(await add(admin, "search", tenant, text="bakers", provider="fake"))
    await admin.execute(FILL, tenant, search)
    await admin.execute(FILL.replace("'s'", "'o'"), tenant, other)
    await admin.execute("VACUUM ANALYZE page, contact, domain, search_domain")
    for statement in (_PROGRESS, _REASONS):
        written = str(statement).replace(":search", f"'{search}'::uuid").replace(":limit", "8")
        async with database.session(tenant) as session:
            connection = await session.connection()
            rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF) {written}")
            plan = "\n".join(row[0] for row in rows)
        assert "page_by_progress" in plan, plan
        assert "Seq Scan on page" not in plan, plan
        assert plan.count(" on contact") <= 3, plan
        [blocks] = re.findall(r"^  Buffers: shared hit=(\d+)", plan, re.MULTILINE)[:1] or ["0"]
        assert int(blocks) < 3_000, plan


BUSINESSES = """
INSERT INTO local_business (tenant_id, search_id, name, domain_extraction_status)
SELECT $1, $2, 'Business ' || n, 'Completed' FROM generate_series(1, $3) n"""


async def test_counting_does_not_read_the_businesses_of_other_searches(database, admin, tenant):
    search = UUID(await add(admin, "search", tenant, text="dentists", provider="fake"))
    other = UUID(await add(admin, "search", tenant, text="bakers", provider="fake"))
    await admin.execute(BUSINESSES, tenant, search, 40)
    await admin.execute(BUSINESSES, tenant, other, 4_000)
    await admin.execute("VACUUM ANALYZE local_business, search_business")
    for statement in (_PROGRESS, _REASONS, _COUNTS):
        written = str(statement).replace(":search", f"'{search}'::uuid").replace(":limit", "8")
        async with database.session(tenant) as session:
            connection = await session.connection()
            found = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) {written}")
            plan = "\n".join(row[0] for row in found)
        assert " on local_business" in plan, plan
        rows = re.findall(r"actual rows=([\d.]+)|Rows Removed by Filter: (\d+)", plan)
        assert max(float(kept or removed) for kept, removed in rows) < 1_000, plan
