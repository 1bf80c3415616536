"""Reasons for skipped and failed rows are grouped by their sentence, without host names and numbers."""

from uuid import UUID

import pytest
from tests.factories.line_rows import add_line

from scrapersky.store.searches.progress import top_reasons


@pytest.fixture
def reasons(database, admin, tenant):
    """The reasons of a search whose web sites failed with these sentences."""

    async def of(*sentences: str) -> list[tuple[str, int]]:
        search = (await add_line(admin, tenant))["searches"]
        await admin.execute("DELETE FROM domain")
        await admin.executemany(
            "INSERT INTO domain (tenant_id, search_id, name, domain_metadata_status, domain_metadata_error) "
            "VALUES ($1, $2, $3, 'Error', $4)",
            [(tenant, search, f"site-{n}.fi", sentence) for n, sentence in enumerate(sentences)],
        )
        async with database.session(tenant) as session:
            found = await top_reasons(session, UUID(str(search)))
        return [(why, rows) for step, _, why, rows, _ in found if step == "domain_metadata"]

    return of


async def test_host_names_are_replaced_and_the_status_of_the_server_is_kept(reasons):
    assert await reasons(
        "https://molar.fi/team answers 403 Forbidden.",
        "https://www.zahn.de answers 403 Forbidden.",
        "hampi.fi answers 403 Forbidden.",
        "hampi.fi:8443 answers 503 Service Unavailable.",
        "127.0.0.1:9 answers 503 Service Unavailable.",
    ) == [("a site answers 403 Forbidden.", 3), ("a site answers 503 Service Unavailable.", 2)]


async def test_reasons_that_differ_in_numbers_and_names_are_counted_as_one(reasons):
    assert await reasons(
        "robots.txt of molar.fi could not be read within 30 s.", "robots.txt of zahn.de could not be read within 345 s."
    ) == [("robots.txt of a site could not be read within … s.", 2)]


async def test_a_reason_that_is_the_same_for_all_rows_is_kept_as_it_is(reasons):
    assert await reasons("No address for molar.fi after 3 tries.") == [("No address for molar.fi after 3 tries.", 1)]
    assert await reasons(*["The budget of 0.13 is used up."] * 2) == [("The budget of 0.13 is used up.", 2)]
