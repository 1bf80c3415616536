"""A row without a contact says what stood in the way, and never that pages were read when none were."""

import json
from uuid import UUID

import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.store.leads.read import Position, leads, page


@pytest.fixture
async def ids(admin, tenant):
    """A business whose site was searched for pages, and nothing more."""
    ids = await add_line(admin, tenant)
    await admin.execute("DELETE FROM contact")
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Completed', sitemap_analysis_status = 'Completed'")
    await admin.execute("UPDATE sitemap_file SET sitemap_import_status = 'Completed'")
    return ids


async def change(admin, table, changes):
    """Queueing a row clears its error; one that was tried before has got it since."""
    for _ in range(2):
        await admin.execute(f"UPDATE {table} SET {changes}")


async def state(database, tenant, ids):
    async with database.session(tenant) as session:
        [row] = [row async for row in leads(session, ids["searches"])]
        [(listed, _)] = await page(session, ids["searches"], "business", Position(), 10)
    assert listed["state"] == row["state"]
    return row["state"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            "domain_metadata_status = 'Queued', domain_metadata_error = 'It answers 500.'",
            "not read yet: It answers 500.",
        ),
        ("domain_metadata_status = 'Processing', domain_metadata_due_at = now()", "not read yet"),
        (
            "domain_metadata_status = 'Skipped', domain_metadata_error = 'the domain is parked: x'",
            "the domain is parked: x",
        ),
        ("sitemap_analysis_status = 'Queued', sitemap_analysis_error = 'It broke off.'", "not read yet: It broke off."),
        ("sitemap_analysis_status = 'Error', sitemap_analysis_error = 'It broke off.'", "It broke off."),
        ("sitemap_analysis_status = 'New'", "not read: neither a person nor a rule has selected it"),
        ("name = name", "no page worth reading was found"),
    ],
)
async def test_a_site_that_was_not_read_says_why(database, admin, tenant, ids, changes, said):
    await change(admin, "domain", changes)
    assert await state(database, tenant, ids) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ("sitemap_import_status = 'Queued', sitemap_import_error = 'It is slow.'", "not read yet: It is slow."),
        (
            "sitemap_import_status = 'Error', sitemap_import_error = 'It is no XML.'",
            "its sitemaps could not be read: It is no XML.",
        ),
        ("sitemap_import_status = 'New'", "not read: neither a person nor a rule has selected it"),
        ("sitemap_import_status = 'New', kind = 'index'", "no page worth reading was found"),
    ],
)
async def test_a_sitemap_that_was_not_read_says_why(database, admin, tenant, ids, changes, said):
    await change(admin, "sitemap_file", changes)
    assert await state(database, tenant, ids) == said


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ([("Completed", None)], "no contact on the one page that was read"),
        ([("Completed", None), ("Completed", None), ("Error", "gone")], "no contact on the 2 pages that were read"),
        ([("Error", "403"), ("Skipped", "gone"), ("Error", "403")], "its pages could not be read: 403"),
        ([("Queued", "503"), ("Completed", None), ("Skipped", "gone")], "not read yet: 503"),
    ],
)
async def test_pages_are_told_by_how_they_ended(database, admin, tenant, ids, pages, said):
    for number, (status, error) in enumerate(pages):
        url = f"https://molar.fi/{number}"
        await add(admin, "page", tenant, domain_id=UUID(ids["domains"]), url=url, page_processing_status=status)
        await admin.execute("UPDATE page SET page_processing_error = $1 WHERE url = $2", error, url)
    assert await state(database, tenant, ids) == said


async def test_pages_that_no_rule_may_choose_are_not_called_worthless(database, admin, tenant, ids):
    await admin.execute("UPDATE search SET rules = $1", json.dumps({"page_curation": "off"}))
    assert await state(database, tenant, ids) == "not read: neither a person nor a rule has selected it"


async def test_contacts_that_may_not_be_shown_are_not_denied(database, admin, tenant, ids):
    contact = {"identity": "email:a@molar.fi", "email": "a@molar.fi", "curation_status": "Not a Fit"}
    await add(admin, "contact", tenant, domain_id=UUID(ids["domains"]), **contact)
    assert await state(database, tenant, ids) == "every contact was rejected or is suppressed"
