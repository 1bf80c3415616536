"""A page that is read again refreshes what it said before; what a person wrote stays."""

import asyncio
from dataclasses import replace
from itertools import permutations
from uuid import UUID

import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.extract.results import Contacts, Email, Person
from scrapersky.models import Contact, Page
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import edit as contact_edits
from scrapersky.store.contacts import upsert as contacts

FACTS = "SELECT title, phone, source_url, page_id::text, curation_status FROM contact WHERE email = 'eva@molar.fi'"


def eva(title: str, confidence: float = 0.8, phone: str = "") -> Contacts:
    return Contacts(people=(Person("Eva Virtanen", title, "team", "", confidence, "eva@molar.fi", phone),))


@pytest.fixture
async def pages(admin, tenant) -> list[str]:
    """Two pages of one domain."""
    line = await add_line(admin, tenant)
    other = await add(admin, "page", tenant, domain_id=UUID(line["domains"]), url="https://molar.fi/about")
    return [line["pages"], other]


@pytest.fixture
def read(database, tenant):
    """Read a page: this is what it says now."""

    async def say(page_id: str, found: Contacts) -> None:
        async with database.session(tenant) as session:
            page = await session.get(Page, UUID(page_id))
            await contacts.upsert(session, [contacts.PageContacts(page, page.url, found)])

    return say


async def test_the_same_page_says_what_is_true_now_and_forgets_nothing_it_leaves_out(admin, pages, read):
    await read(pages[0], eva("Assistant", 0.9, "+358401234567"))
    await admin.execute("UPDATE contact SET curation_status = 'Selected' WHERE email = 'eva@molar.fi'")
    await read(pages[0], eva("Partner", 0.7))
    row = await admin.fetchrow(FACTS)
    assert (row["title"], row["phone"], row["curation_status"]) == ("Partner", "+358401234567", "Selected")


async def test_another_page_speaks_only_where_it_is_surer(admin, pages, read):
    await read(pages[0], eva("Partner", 0.8))
    await read(pages[1], eva("Our people", 0.6))
    row = await admin.fetchrow(FACTS)
    assert (row["title"], row["page_id"]) == ("Partner", pages[0])
    await read(pages[1], eva("Managing partner", 0.95))
    row = await admin.fetchrow(FACTS)
    assert (row["title"], row["page_id"], row["source_url"]) == ("Managing partner", pages[1], "https://molar.fi/about")


async def test_what_a_person_wrote_stays_and_is_only_filled_up(database, admin, tenant, pages, read):
    await read(pages[0], eva("Assistant"))
    contact_id = await admin.fetchval("SELECT id FROM contact WHERE email = 'eva@molar.fi'")
    async with database.session(tenant) as session:
        await contact_edits.change(
            session, Actor("tester", tenant, "admin", "test"), contact_id, {"title": "CEO"}, None
        )
    await read(pages[0], eva("Assistant", 0.99, "+358401234567"))
    async with database.session(tenant) as session:
        contact = await session.get(Contact, contact_id)
    assert (contact.title, contact.phone) == ("CEO", "+358401234567")


async def test_pages_of_one_batch_speak_one_after_the_other(database, admin, tenant, pages):
    async with database.session(tenant) as session:
        first, second = [await session.get(Page, UUID(page_id)) for page_id in pages]
        said = [
            contacts.PageContacts(first, first.url, eva("Partner", 0.8)),
            contacts.PageContacts(second, second.url, eva("Our people", 0.6, "+358401234567")),
        ]
        stored = await contacts.upsert(session, said)
    row = await admin.fetchrow(FACTS)
    assert (row["title"], row["page_id"], row["phone"]) == ("Partner", pages[0], "+358401234567")
    assert [stored[page.id].count for page in (first, second)] == [1, 1]
    assert stored[first.id].unverified == stored[second.id].unverified != ()


async def test_two_hosts_that_name_the_same_contacts_wait_for_each_other_and_not_in_a_ring(database, tenant, pages):
    mails = Contacts(emails=tuple(Email(f"m{n}@molar.fi", "role", "text", "", 0.9) for n in range(300)))

    async def host(order: int) -> None:
        for _ in range(5):
            async with database.session(tenant) as session:
                rows = [await session.get(Page, UUID(page_id)) for page_id in pages[::order]]
                turned = replace(mails, emails=mails.emails[::order])
                await contacts.upsert(session, [contacts.PageContacts(row, row.url, turned) for row in rows])

    await asyncio.gather(host(1), host(-1))


@pytest.mark.parametrize("order", list(permutations(range(4))))
async def test_the_order_in_which_pages_are_read_does_not_matter(database, admin, tenant, read, order):
    line = await add_line(admin, tenant)
    say = {
        "https://molar.fi/team": eva("", 0.9),
        "https://molar.fi/about": eva("Partner", 0.8, "+358401111111"),
        "https://molar.fi/about/us": eva("Our people", 0.8, "+358402222222"),
        "https://molar.fi/news/2026/eva": eva("Speaker", 0.5),
    }
    ids = [await add(admin, "page", tenant, domain_id=UUID(line["domains"]), url=url) for url in say]
    for number in order:
        await read(ids[number], list(say.values())[number])
    row = await admin.fetchrow("SELECT title, phone, source_url, confidence FROM contact WHERE email = 'eva@molar.fi'")
    assert tuple(row) == ("Partner", "+358401111111", "https://molar.fi/team", 0.9)
