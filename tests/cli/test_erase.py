"""`scrapersky erase` after the real line has run: the person is nowhere in the database, and does not come back."""

import json

import pytest

from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.dump import dump, lines_with

AGAIN = [
    "UPDATE place SET deep_scan_status = 'Queued', fetched_at = NULL",
    "UPDATE domain SET domain_metadata_status = 'Queued'",
    "UPDATE page SET page_processing_status = 'Queued', etag = NULL WHERE page_processing_status = 'Completed'",
]


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=47, businesses=60) as little_internet:
        yield little_internet


@pytest.fixture
def variables(sandbox, database_url):
    return {
        **sandbox.environment(),
        "DATABASE_URL": database_url,
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
        "CRAWL_PARSER_PROCESSES": "1",
        **{
            f"{name}_SCHEDULER_MAX_ATTEMPTS": "1"
            for name in ("DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION", "CONTACT_VERIFICATION")
        },
    }


async def test_an_erased_person_is_in_no_table_and_is_not_stored_again(process, line, variables, admin, tmp_path):
    find = ("find", "dentists in Helsinki", "--out", str(tmp_path / "leads.csv"), "--limit", "12")
    said = await process(*find, **variables).leave(240)
    assert said.code == 0, said.err
    # An address that also stands in the facts of its domain, and a number that also is a business's.
    email = await admin.fetchval(
        "SELECT c.email FROM contact c JOIN domain d ON d.id = c.domain_id "
        "WHERE d.facts->'emails' ? c.email ORDER BY c.email LIMIT 1"
    )
    phone = await admin.fetchval(
        "SELECT c.phone FROM contact c JOIN local_business b ON b.phone = c.phone ORDER BY c.phone LIMIT 1"
    )
    person = await admin.fetchrow(
        "SELECT c.name, d.name AS domain FROM contact c JOIN domain d ON d.id = c.domain_id "
        "WHERE c.name IS NOT NULL AND c.email IS NULL ORDER BY c.name LIMIT 1"
    )
    assert email
    assert phone
    assert person
    before = await dump(admin)
    assert len(lines_with(before, email)) >= 2
    assert len(lines_with(before, phone)) >= 3

    seen = json.loads((await line("erase", "--email", email, "--json")).out)
    assert seen["preview"] is True
    assert seen["contacts"] == 1
    assert seen["mentions"]["domain"] == 1
    assert await dump(admin) == before, "a preview changes nothing"

    name = ("--name", person["name"], "--domain", person["domain"])
    for whom in (("--email", email), ("--phone", phone), name):
        done = await line("erase", *whom, "--yes")
        assert done.code == 0, done.err
        assert "were deleted" in done.out
    await nowhere(admin, email, phone, person)

    since = await admin.fetchval("SELECT now()")
    for statement in AGAIN:
        await admin.execute(statement)
    again = await process(*find, "--refresh", **variables).leave(240)
    assert again.code == 0, again.err
    assert await admin.fetchval("SELECT count(*) FROM page WHERE fetched_at > $1", since) > 0, "pages were read again"
    await nowhere(admin, email, phone, person)
    assert await admin.fetchval("SELECT count(*) FROM suppression WHERE origin = 'erasure' AND value IS NULL") >= 3


async def nowhere(admin, email, phone, person):
    dumped = await dump(admin)
    assert lines_with(dumped, email) == []
    assert lines_with(dumped, phone) == []
    named = await admin.fetchval(
        "SELECT count(*) FROM contact c JOIN domain d ON d.id = c.domain_id "
        "WHERE d.name = $1 AND strpos(lower(c::text), lower($2)) > 0",
        person["domain"],
        person["name"],
    )
    assert named == 0


async def test_an_unclear_person_is_refused_with_a_sentence(line):
    for words in ((), ("--email", "anna"), ("--name", "Anna Molar"), ("--phone", "123")):
        said = await line("erase", *words)
        assert said.code == 2
        assert said.sentence.startswith("The request does not identify a person.")
    shown = await line("erase", "--email", "anna@molar.fi")
    assert (shown.code, "Nothing was changed" in shown.out) == (0, True)
