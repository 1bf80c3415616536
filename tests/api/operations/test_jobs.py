"""Scans and jobs over HTTP: a job follows its domain's row, whoever works on it, and outlives every process."""

from uuid import UUID, uuid4

from tests.factories.api_application import app_over, is_problem, served
from tests.factories.line_rows import add, add_line

SCAN, JOBS = "/api/v3/sitemap/scan", "/api/v3/jobs"


async def scan(client, url="https://www.molar.fi/team"):
    answer = await client.post(SCAN, json={"base_url": url, "max_pages": 40})
    assert answer.status_code == 202, answer.text
    return answer.json()


async def test_a_scan_creates_its_domain_and_goes_from_pending_to_completed(client, admin, database_url):
    started = await scan(client)
    job = (await client.get(started["status_url"])).json()
    assert (job["state"], job["kind"], job["parameters"]["max_pages"]) == ("pending", "sitemap_scan", 40)
    row = await admin.fetchrow("SELECT id, name, start_url, sitemap_analysis_status, search_id FROM domain")
    assert tuple(row)[1:4] == ("molar.fi", "https://www.molar.fi/team", "Queued")
    assert await admin.fetchval("SELECT rules->>'pages_per_site' FROM search WHERE id = $1", row["search_id"]) == "40"
    await admin.execute(
        "UPDATE domain SET sitemap_analysis_status = 'Processing', sitemap_analysis_due_at = now() + interval '1 hour'"
    )
    assert (await client.get(started["status_url"])).json()["state"] == "processing"
    await admin.execute("UPDATE domain SET sitemap_analysis_status = 'Queued'")  # tried again
    assert (await client.get(started["status_url"])).json()["state"] == "processing"
    await admin.execute("UPDATE domain SET sitemap_analysis_status = 'Completed', sitemap_result = 'found'")
    async with served(app_over(database_url)) as another_host:
        job = (await another_host.get(f"{JOBS}/{started['job_id']}")).json()
    assert (job["state"], job["progress"], job["result"]["outcome"]) == ("completed", 1, "found")
    assert (job["result"]["domain"], job["result"]["sitemaps"]) == ("molar.fi", 0)
    await admin.execute("UPDATE domain SET sitemap_analysis_status = 'Queued'")  # somebody else's wish
    assert (await client.get(started["status_url"])).json()["state"] == "completed"


async def test_a_failed_scan_has_its_reason(client, admin):
    started = await scan(client)
    await admin.execute("UPDATE domain SET sitemap_analysis_status = 'Error', sitemap_analysis_error = 'it is away'")
    job = (await client.get(started["status_url"])).json()
    assert (job["state"], job["error"]) == ("failed", "it is away")
    assert job["finished_at"] is not None


async def test_a_skipped_scan_has_its_reason(client, admin):
    started = await scan(client)
    await admin.execute("UPDATE domain SET sitemap_analysis_status = 'Skipped', sitemap_analysis_error = 'robots.txt'")
    job = (await client.get(started["status_url"])).json()
    assert (job["state"], job["error"], job["progress"]) == ("skipped", "robots.txt", 1)
    assert len((await client.get(f"{JOBS}?state=skipped")).json()["items"]) == 1


async def test_an_explicit_scheme_given_later_wins_and_a_bare_name_does_not(client, admin):
    where = "SELECT start_url, final_url FROM domain"
    await scan(client, "molar.fi")
    assert tuple(await admin.fetchrow(where)) == (None, None)
    await admin.execute("UPDATE domain SET final_url = 'https://molar.fi/'")
    await scan(client, "http://molar.fi")
    assert tuple(await admin.fetchrow(where)) == ("http://molar.fi/", None)
    await scan(client, "molar.fi")
    assert tuple(await admin.fetchrow(where)) == ("http://molar.fi/", None)


async def test_an_existing_domain_is_scanned_again_and_keeps_its_curation(client, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE domain SET curation_status = 'Maybe', sitemap_analysis_status = 'Completed'")
    first, second = await scan(client), await scan(client, "molar.fi")
    row = await admin.fetchrow("SELECT id::text, curation_status, sitemap_analysis_status FROM domain")
    assert tuple(row) == (ids["domains"], "Maybe", "Queued")
    job = (await client.get(first["status_url"])).json()
    assert (job["result"]["sitemaps"], job["result"]["pages"]) == (1, 1)
    assert first["job_id"] != second["job_id"]


async def test_a_url_that_is_no_company_website_is_refused(client, admin):
    for wrong in [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest",
        "localhost",
        "http://[::1]/",
        "https://www.facebook.com/molar",
        "ftp://molar.fi",
        "nonsense",
        "co.uk",
    ]:
        problem = is_problem(await client.post(SCAN, json={"base_url": wrong}), 422)
        assert problem["title"] == "This is not a web site that can be scanned."
    for body in [{}, {"base_url": "molar.fi", "max_pages": 0}, {"base_url": "molar.fi", "depth": 1}, {"base_url": 5}]:
        is_problem(await client.post(SCAN, json=body), 422)
    assert await admin.fetchval("SELECT count(*) FROM domain") == 0


async def test_a_cancelled_scan_is_withdrawn_unless_another_job_needs_it(client, admin):
    first, second = await scan(client), await scan(client)
    job = (await client.post(f"{JOBS}/{first['job_id']}/cancel")).json()
    assert job["state"] == "cancelled"
    assert await admin.fetchval("SELECT sitemap_analysis_status FROM domain") == "Queued"
    await client.post(f"{JOBS}/{second['job_id']}/cancel")
    assert await admin.fetchval("SELECT sitemap_analysis_status FROM domain") == "New"
    is_problem(await client.post(f"{JOBS}/{second['job_id']}/cancel"), 409)
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action = 'cancel'") == 2


async def test_jobs_are_listed_for_their_tenant_only(client, admin, other_tenant):
    started = await scan(client)
    theirs = await add(admin, "job", other_tenant, kind="curation", parameters="{}")
    assert [job["id"] for job in (await client.get(JOBS)).json()["items"]] == [started["job_id"]]
    assert (await client.get(f"{JOBS}?kind=curation")).json()["items"] == []
    assert len((await client.get(f"{JOBS}?state=pending&kind=sitemap_scan")).json()["items"]) == 1
    for stranger in (theirs, str(uuid4())):
        is_problem(await client.get(f"{JOBS}/{stranger}"), 404)
        is_problem(await client.post(f"{JOBS}/{stranger}/cancel"), 404)
        is_problem(await client.get(f"/api/v3/sitemap/status/{stranger}"), 404)
    assert await admin.fetchval("SELECT state FROM job WHERE id = $1", UUID(theirs)) == "pending"
