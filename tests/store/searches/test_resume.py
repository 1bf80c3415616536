"""The same search with larger rules queues further pages of its sites, the best first, none twice."""

from scrapersky.models import Search
from scrapersky.providers.areas.where import Where
from scrapersky.store.searches import request as searches
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules


async def ask(database, tenant, **rules: object) -> Search:
    wish = SearchRequest("dentists", Where.of("Helsinki"), "fake", None, None, AdvanceRules.model_validate(rules))
    async with database.session(tenant) as session:
        former = await searches.lock_and_find(session, tenant, wish)
        return await searches.save(session, tenant, wish, former, queue=former is None)


async def add_site(admin, tenant, search, name: str, *pages: tuple[str, str, float, str]) -> None:
    domain = await admin.fetchval(
        "INSERT INTO domain (tenant_id, search_id, name) VALUES ($1, $2, $3) RETURNING id", tenant, search.id, name
    )
    await admin.executemany(
        "INSERT INTO page (tenant_id, domain_id, url, kind, kind_score, page_processing_status) "
        "VALUES ($1, $2, $3, $4, $5, $6)",
        [(tenant, domain, f"https://{name}/{path}", kind, score, status) for path, kind, score, status in pages],
    )


async def queued(admin) -> list[str]:
    rows = await admin.fetch("SELECT url FROM page WHERE page_processing_status = 'Queued' ORDER BY url")
    return [row["url"].removeprefix("https://") for row in rows]


async def test_a_larger_number_of_pages_queues_further_pages_of_the_sites_found_before(database, admin, tenant):
    search = await ask(database, tenant, pages_per_site=1)
    await add_site(
        *(admin, tenant, search, "molar.fi"),
        ("contact", "contact", 0.9, "Completed"),
        ("contact/", "contact", 0.9, "New"),  # the same page
        ("contact-form", "contact", 0.5, "New"),
        ("team", "team", 0.9, "New"),
        ("about", "about", 0.9, "New"),
        ("about-us", "about", 0.8, "New"),
        ("blog/1", "blog", 0.9, "New"),
        ("perhaps", "imprint", 0.2, "New"),
    )
    await add_site(admin, tenant, search, "zahn.de", ("impressum", "imprint", 0.9, "New"))
    await ask(database, tenant, pages_per_site=1)
    assert await queued(admin) == [], "the rules are what they were"
    await ask(database, tenant, pages_per_site=3)
    assert await queued(admin) == ["molar.fi/about", "molar.fi/team", "zahn.de/impressum"]
    await ask(database, tenant, pages_per_site=50)
    assert await queued(admin) == [
        *("molar.fi/about", "molar.fi/about-us", "molar.fi/contact-form", "molar.fi/team", "zahn.de/impressum")
    ]


async def test_pages_of_newly_named_kinds_are_queued_and_rejected_pages_are_not(database, admin, tenant):
    search = await ask(database, tenant, page_kinds=["contact"])
    pages = [("team", "team", 0.9, "New"), ("jobs", "careers", 0.9, "New"), ("about", "about", 0.9, "New")]
    await add_site(admin, tenant, search, "molar.fi", *pages)
    await admin.execute("UPDATE page SET curation_status = 'Not a Fit' WHERE kind = 'about'")
    await ask(database, tenant, page_curation="off")
    assert await queued(admin) == []
    await ask(database, tenant, page_kinds=["contact", "team", "about"])
    assert await queued(admin) == ["molar.fi/team"]
    await ask(database, tenant, page_curation="all")
    assert await queued(admin) == ["molar.fi/jobs", "molar.fi/team"]
