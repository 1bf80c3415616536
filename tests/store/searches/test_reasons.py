"""Why rows of a search were left behind: told by the sentence, without the names that differ from row to row."""

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
        return [(why, rows) for step, _, why, rows in found if step == "domain_metadata"]

    return of


async def test_sites_are_a_site_and_what_the_server_said_stays(reasons):
    assert await reasons(
        "https://molar.fi/team answers 403 Forbidden.",
        "https://www.zahn.de answers 403 Forbidden.",
        "hampi.fi answers 403 Forbidden.",
        "hampi.fi:8443 answers 503 Service Unavailable.",
        "127.0.0.1:9 answers 503 Service Unavailable.",
    ) == [("a site answers 403 Forbidden.", 3), ("a site answers 503 Service Unavailable.", 2)]


async def test_other_numbers_and_names_do_not_part_what_is_the_same(reasons):
    assert await reasons(
        "robots.txt of molar.fi could not be read within 30 s.", "robots.txt of zahn.de could not be read within 345 s."
    ) == [("robots.txt of a site could not be read within … s.", 2)]


async def test_what_happened_once_is_told_as_it_was(reasons):
    assert await reasons("No address for molar.fi after 3 tries.") == [("No address for molar.fi after 3 tries.", 1)]
    assert await reasons(*["The budget of 0.13 is used up."] * 2) == [("The budget of 0.13 is used up.", 2)]
