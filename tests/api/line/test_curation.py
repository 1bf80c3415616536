"""Curation over HTTP: Selected opens the next step, any other word takes it back, by ids, by filter, once per key."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from scrapersky.actions import jobs
from scrapersky.core.vocabularies import Curation
from scrapersky.pipeline import build_pipeline
from tests.factories.api_application import is_problem
from tests.factories.line_rows import NOUNS, TABLES, add_line

API = "/api/v3"
NEXT = {
    "places": "deep_scan",
    "businesses": "domain_extraction",
    "domains": "domain_metadata",
    "sitemaps": "sitemap_import",
    "pages": "page_processing",
    "contacts": "contact_verification",
}
TRACES = {
    "places": "SELECT 1",  # its business is there
    "businesses": "SELECT 1",  # and the business's domain
    "domains": "UPDATE domain SET http_status = 200",
    "sitemaps": "UPDATE sitemap_file SET url_count = 3",
    "pages": "UPDATE page SET fetched_at = now()",
    "contacts": "UPDATE contact SET verification = '{}'",
}


async def curate(client, noun, word, headers=None, **asked):
    answer = await client.post(f"{API}/{noun}/curation", json={"curation_status": word, **asked}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def state(admin, noun, row_id, queue=None):
    queue = queue or NEXT[noun]
    row = await admin.fetchrow(f"SELECT curation_status, {queue}_status FROM {TABLES[noun]} WHERE id = $1", row_id)
    return tuple(row)


async def add_places(admin, tenant, count):
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name) SELECT $1, 'fake', n::text, 'n' || n "
        "FROM generate_series(1, $2::int) n",
        tenant,
        count,
    )


async def test_selected_queues_the_next_step_and_another_status_withdraws_it(client, admin, tenant):
    for noun, row_id in (await add_line(admin, tenant)).items():
        if noun in NEXT:
            done = await curate(client, noun, "Selected", ids=[row_id])
            assert (done["matched"], done["updated"], done["queued"], done["withdrawn"]) == (1, 1, 1, 0)
            assert await state(admin, noun, row_id) == ("Selected", "Queued")
            done = await curate(client, noun, "Not a Fit", ids=[row_id])
            assert (done["updated"], done["queued"], done["withdrawn"]) == (1, 0, 1)
            assert await state(admin, noun, row_id) == ("Not a Fit", "New")


async def test_a_verified_contact_is_not_verified_again(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["contacts"]
    await admin.execute("UPDATE contact SET contact_verification_status = 'Completed'")
    done = await curate(client, "contacts", "Selected", ids=[row_id])
    assert (done["updated"], done["queued"]) == (1, 0)
    assert await state(admin, "contacts", row_id) == ("Selected", "Completed")


async def test_a_domain_with_metadata_goes_on_to_the_sitemap_analysis(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["domains"]
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Completed'")
    await curate(client, "domains", "Selected", ids=[row_id])
    assert await state(admin, "domains", row_id) == ("Selected", "Completed")
    assert await state(admin, "domains", row_id, "sitemap_analysis") == ("Selected", "Queued")


async def test_rows_that_their_step_could_only_skip_are_not_queued(client, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET email = NULL, phone = NULL")
    await admin.execute("UPDATE sitemap_file SET kind = 'index'")
    for noun in ("contacts", "sitemaps"):
        counted = await curate(client, noun, "Selected", filter={}, preview=True)
        done = await curate(client, noun, "Selected", ids=[ids[noun]])
        assert (counted["queued"], done["updated"], done["queued"]) == (0, 1, 0)
        assert await state(admin, noun, ids[noun]) == ("Selected", "New")


@pytest.mark.parametrize("website", ["https://molar.fi", None])
@pytest.mark.parametrize("second", ["New", "Completed"])
@pytest.mark.parametrize("first", ["New", "Queued", "Skipped", "Completed"])
async def test_a_preview_counts_what_selected_queues(client, admin, tenant, first, second, website):
    row_id = (await add_line(admin, tenant))["businesses"]
    states = "site_search_status = $1, domain_extraction_status = $2, website = $3"
    await admin.execute(f"UPDATE local_business SET {states}", first, second, website)
    counted = await curate(client, "businesses", "Selected", filter={}, preview=True)
    assert (await curate(client, "businesses", "Selected", ids=[row_id]))["queued"] == counted["queued"]


async def test_selecting_again_queues_failed_work_and_repeats_no_completed_work(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    for before, after, queued in [
        ("Error", "Queued", 1),
        ("Skipped", "Queued", 1),
        ("Queued", "Queued", 0),
        ("Completed", "Completed", 0),
    ]:
        await admin.execute("UPDATE place SET curation_status = 'Selected', deep_scan_status = $1", before)
        done = await curate(client, "places", "Selected", ids=[row_id])
        assert (done["updated"], done["queued"]) == (0, queued)
        assert await state(admin, "places", row_id) == ("Selected", after)


async def test_work_in_flight_is_neither_queued_twice_nor_withdrawn(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    await admin.execute(
        "UPDATE place SET deep_scan_status = 'Processing', deep_scan_due_at = now() + interval '1 minute'"
    )
    for word in ("Selected", "Archived"):
        done = await curate(client, "places", word, ids=[row_id])
        assert (done["updated"], done["queued"], done["withdrawn"]) == (1, 0, 0)
        assert await state(admin, "places", row_id) == (word, "Processing")


async def test_a_filter_changes_matching_rows_and_a_preview_only_counts(client, admin, tenant):
    await add_places(admin, tenant, 25)
    await admin.execute("UPDATE place SET curation_status = 'Maybe' WHERE provider_id::int > 15")
    asked = {"filter": {"curation_status": "Maybe"}}
    counted = await curate(client, "places", "Selected", preview=True, **asked)
    assert (counted["matched"], counted["updated"]) == (10, 0)
    assert await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = 'Queued'") == 0
    done = await curate(client, "places", "Selected", **asked)
    assert (done["matched"], done["updated"], done["queued"]) == (10, 10, 10)
    assert await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = 'Queued'") == 10


async def test_a_filter_without_matches_changes_nothing(client, admin, tenant):
    await add_line(admin, tenant)
    for preview in (True, False):
        answer = await client.post(
            "/api/v3/domains/curation",
            json={"filter": {"text": "no such site"}, "curation_status": "Selected", "preview": preview},
        )
        assert (answer.status_code, answer.json()["matched"], answer.json()["updated"]) == (200, 0, 0)
    assert await admin.fetchval("SELECT curation_status FROM domain") == "New"


async def test_an_unknown_filter_is_refused(client, admin, tenant):
    ids = await add_line(admin, tenant)
    for noun in NOUNS:
        some = {"ids": [ids[noun]]}
        wrong: Any
        for wrong in [
            {"filter": {"contact_scrape_status": "New"}},
            {"filter": {"tenant_id": str(tenant)}},
            {"filter": {"curation_status": "Complete"}},
            {"filter": {"text": ""}},
            {"filter": None},
            {"filter": {}, **some},
            {"ids": []},
            {**some, "preview": True},
            {"ids": ["nonsense"]},
            {**some, "curation_status": "Queued"},
            {},
        ]:
            asked: Any = {"curation_status": "Selected", **wrong}
            is_problem(await client.post(f"{API}/{noun}/curation", json=asked), 422)
        assert await admin.fetchval(f"SELECT curation_status FROM {TABLES[noun]}") == "New"


async def test_rows_of_another_tenant_are_unknown(client, admin, tenant, other_tenant):
    theirs = await add_line(admin, other_tenant)
    for noun in NOUNS:
        done = await curate(client, noun, "Selected", ids=[theirs[noun], str(uuid4())])
        assert (done["matched"], done["updated"], done["unknown"]) == (0, 0, 2)
        assert (await curate(client, noun, "Selected", filter={}))["matched"] == 0
        assert await admin.fetchval(f"SELECT curation_status FROM {TABLES[noun]}") == "New"


async def test_curation_is_audited_with_the_previous_status(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    done = await curate(client, "places", "Selected", ids=[row_id])
    await curate(client, "places", "Selected", ids=[row_id])  # changes nothing
    row, empty = await admin.fetch("SELECT actor, action, subject, before, after FROM audit ORDER BY id")
    assert json.loads(empty["after"])["rows"] == 0
    assert tuple(row)[:3] == ("ada", "curate", "places")
    assert json.loads(row["before"]) == {"New": [row_id]}
    assert json.loads(row["after"]) == {
        "curation_status": "Selected",
        "rows": 1,
        "action_id": done["action_id"],
    }


async def test_a_request_with_an_idempotency_key_has_one_effect(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    key = {"Idempotency-Key": "first-try"}
    first = await curate(client, "places", "Selected", key, ids=[row_id])
    await curate(client, "places", "Maybe", ids=[row_id])
    assert await curate(client, "places", "Selected", key, ids=[row_id]) == first
    assert await state(admin, "places", row_id) == ("Maybe", "New")
    asked = {"ids": [row_id], "curation_status": "Archived"}
    problem = is_problem(await client.post(f"{API}/places/curation", json=asked, headers=key), 422)
    assert problem["title"] == "This Idempotency-Key was used for another request."
    is_problem(await client.post(f"{API}/places/curation", json=asked, headers={"Idempotency-Key": "a b"}), 422)


async def test_an_idempotency_key_expires_after_a_day_and_after_a_failure(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    key = {"Idempotency-Key": "again"}
    is_problem(await client.post(f"{API}/places/curation", json={"ids": []}, headers=key), 422)
    await curate(client, "places", "Selected", key, ids=[row_id])
    await admin.execute("UPDATE idempotency_key SET created_at = now() - interval '25 hours'")
    assert (await curate(client, "places", "Maybe", key, ids=[row_id]))["withdrawn"] == 1


async def test_an_idempotency_key_of_another_tenant_is_independent(client, admin, tenant, other_tenant):
    await admin.execute(
        "INSERT INTO idempotency_key (tenant_id, key, request_hash, status_code, response) "
        "VALUES ($1, 'shared', 'x', 200, '{}')",
        other_tenant,
    )
    row_id = (await add_line(admin, tenant))["places"]
    assert (await curate(client, "places", "Selected", {"Idempotency-Key": "shared"}, ids=[row_id]))["updated"] == 1


# -- more than one request should do -----------------------------------------------------------------------------------


@pytest.fixture
async def big_job(client, admin, tenant, monkeypatch):
    """A decision about 25 rows where ten are the most for one request."""
    monkeypatch.setattr("scrapersky.api.resources.curation.MAX_ROWS", 10)
    monkeypatch.setattr("scrapersky.actions.jobs.ROWS_PER_TRANSACTION", 10)
    await add_places(admin, tenant, 25)
    asked = {"filter": {"provider": "fake", "curation_status": "New"}, "curation_status": "Selected"}
    answer = await client.post(f"{API}/places/curation", json=asked, headers={"Idempotency-Key": "big"})
    assert answer.status_code == 202, answer.text
    again = await client.post(f"{API}/places/curation", json=asked, headers={"Idempotency-Key": "big"})
    assert again.json()["id"] == answer.json()["id"]
    assert again.headers["location"] == answer.headers["location"] == f"{API}/jobs/{answer.json()['id']}"
    return answer.headers["location"]


async def test_curation_of_many_rows_is_a_job_that_continues_after_a_restart(client, admin, tenant, database, big_job):
    job = (await client.get(big_job)).json()
    assert (job["state"], job["progress"], job["kind"]) == ("pending", 0, "curation")
    async with database.session(tenant) as session:  # one bite, then the process is gone
        assert not await jobs.advance(session, UUID(job["id"]), build_pipeline({}))
    job = (await client.get(big_job)).json()
    assert (job["state"], job["progress"], job["result"]["queued"]) == ("processing", 0.4, 10)
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name) VALUES ($1, 'fake', 'late', 'late')", tenant
    )
    assert await jobs.RunJobs(build_pipeline({})).run_on(database) == "1 open jobs, 0 of them unfinished"
    job = (await client.get(big_job)).json()
    assert (job["state"], job["progress"]) == ("completed", 1)
    assert job["result"] == {"updated": 25, "queued": 25, "withdrawn": 0, "found": 25}
    assert await admin.fetchval("SELECT deep_scan_status FROM place WHERE name = 'late'") == "New"
    told = await admin.fetch("SELECT action, after FROM audit ORDER BY id")  # not a line for each bite
    assert [row["action"] for row in told] == ["start", "finish"]
    assert json.loads(told[1]["after"])["updated"] == 25
    is_problem(await client.post(f"{big_job}/cancel"), 409)


async def test_a_cancelled_job_changes_no_further_rows(client, admin, tenant, database, big_job):
    async with database.session(tenant) as session:
        await jobs.advance(session, UUID(big_job.rpartition("/")[2]), build_pipeline({}))
    assert (await client.post(f"{big_job}/cancel")).json()["state"] == "cancelled"
    assert await jobs.RunJobs(build_pipeline({})).run_on(database) == "0 open jobs, 0 of them unfinished"
    selected = await admin.fetchval("SELECT count(*) FROM place WHERE curation_status = $1", Curation.SELECTED.value)
    assert selected == 10


async def test_two_processes_with_one_job_change_each_row_once(client, admin, tenant, database, big_job):
    job_id = UUID(big_job.rpartition("/")[2])
    async with database.session(tenant) as first:
        await jobs.advance(first, job_id, build_pipeline({}))
        async with database.session(tenant) as second:
            assert await jobs.advance(second, job_id, build_pipeline({}))  # the other one is at it
    assert (await client.get(big_job)).json()["result"]["found"] == 10


async def test_withdrawn_work_that_was_completed_before_is_completed_again(client, admin, tenant):
    for noun, row_id in (await add_line(admin, tenant)).items():
        if noun in NEXT:
            await admin.execute(TRACES[noun])
            queued = f"{NEXT[noun]}_status = 'Queued', {NEXT[noun]}_attempts = 1"
            await admin.execute(f"UPDATE {TABLES[noun]} SET {queued}")
            done = await curate(client, noun, "Maybe", ids=[row_id])
            assert (done["updated"], done["withdrawn"]) == (1, 1)
            assert await state(admin, noun, row_id) == ("Maybe", "Completed")


async def test_withdrawn_work_in_flight_that_was_completed_before_is_marked(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["pages"]
    in_hand = "page_processing_status = 'Processing', page_processing_due_at = now() + interval '1 minute'"
    await admin.execute(f"UPDATE page SET fetched_at = now(), page_processing_attempts = 2, {in_hand}")
    await curate(client, "pages", "Maybe", ids=[row_id])
    assert await admin.fetchval("SELECT page_processing_revert_to FROM page") == "Completed"
    detail = (await client.get(f"/api/v3/pages/{row_id}")).json()
    assert detail["queues"]["page_processing"]["revert_to"] == "Completed"
