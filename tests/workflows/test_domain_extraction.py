"""WF3: a website becomes a domain, shared or not; a page elsewhere becomes a profile."""

import json

from scrapersky.engine.loop import run_job_loop
from scrapersky.pipeline import build_pipeline
from tests.conftest import processors_of


async def add(admin, tenant, name, website):
    return await admin.fetchval(
        "INSERT INTO local_business (tenant_id, name, website, domain_extraction_status) "
        "VALUES ($1, $2, $3, 'Queued') RETURNING id",
        tenant,
        name,
        website,
    )


async def extract(database, settings):
    await run_job_loop(processors_of(build_pipeline({}), database, settings)["domain_extraction"])


async def test_two_businesses_share_a_domain_and_both_are_linked(database, settings, admin, tenant):
    first = await add(admin, tenant, "Clinic A", "https://www.clinic.fi/a")
    second = await add(admin, tenant, "Clinic B", "http://Clinic.FI:8080/b")
    await extract(database, settings)
    assert await admin.fetchval("SELECT array_agg(name) FROM domain") == ["clinic.fi"]
    assert {row[0] for row in await admin.fetch("SELECT business_id FROM business_domain")} == {first, second}


async def test_no_website_is_skipped_with_that_reason(database, settings, admin, tenant):
    for website in (None, "", "  "):
        await add(admin, tenant, "Nobody", website)
    await extract(database, settings)
    rows = await admin.fetch("SELECT DISTINCT domain_extraction_status, domain_extraction_error FROM local_business")
    assert [tuple(row) for row in rows] == [("Skipped", "no website")]


async def test_a_website_that_is_no_address_is_skipped_with_the_reason(database, settings, admin, tenant):
    await add(admin, tenant, "Odd", "http://127.0.0.1/admin")
    await extract(database, settings)
    assert await admin.fetchval("SELECT domain_extraction_status FROM local_business") == "Skipped"
    assert "127.0.0.1 is an IP address" in await admin.fetchval("SELECT domain_extraction_error FROM local_business")


async def test_a_social_page_is_kept_as_profile_and_makes_no_domain(database, settings, admin, tenant):
    await add(admin, tenant, "Social", "https://www.facebook.com/molar")
    await extract(database, settings)
    business = await admin.fetchrow("SELECT * FROM local_business")
    assert business["domain_extraction_status"] == "Completed"
    assert json.loads(business["profiles"]) == {"facebook": "https://www.facebook.com/molar"}
    assert await admin.fetchval("SELECT count(*) FROM domain") == 0


async def test_the_same_domain_belongs_to_each_tenant_apart(database, settings, admin, tenant, other_tenant):
    await add(admin, tenant, "Ours", "https://acme.fi")
    await add(admin, other_tenant, "Theirs", "https://acme.fi")
    await extract(database, settings)
    owners = {row[0] for row in await admin.fetch("SELECT tenant_id FROM domain WHERE name = 'acme.fi'")}
    assert owners == {tenant, other_tenant}


async def test_extracting_again_duplicates_nothing(database, settings, admin, tenant):
    await add(admin, tenant, "Again", "https://acme.fi")
    await extract(database, settings)
    await admin.execute("UPDATE local_business SET domain_extraction_status = 'Queued'")
    await extract(database, settings)
    assert await admin.fetchval("SELECT count(*) FROM domain") == 1
    assert await admin.fetchval("SELECT count(*) FROM business_domain") == 1
