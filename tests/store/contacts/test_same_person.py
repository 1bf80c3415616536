"""The same person on several pages is one contact; two people with one address are two."""

import itertools
from uuid import UUID

import asyncpg
import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.core.database import Database
from scrapersky.extract.results import Contacts, Email, EmailKind, Person
from scrapersky.models import Page
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import upsert as contacts
from scrapersky.store.contacts.rows import person_identity
from scrapersky.store.privacy import suppressions
from scrapersky.store.privacy.contact_points import ContactPoint

PEOPLE = """
SELECT name, title, email, phone FROM contact WHERE merged_into_id IS NULL AND name <> 'Anna Molar' ORDER BY name"""


def person(name: str, title: str = "", email: str = "", phone: str = "") -> Person:
    return Person(name, title, "card", name, 0.8, email, phone)


def mail(address: str, kind: EmailKind = "personal") -> Email:
    return Email(address, kind, "text", address, 0.95)


IMPRINT = Contacts(people=(person("Eva Virtanen", "Toimitusjohtaja"),))
TEAM = Contacts(emails=(mail("eva@molar.fi"),), people=(person("Eva Virtanen", "", "eva@molar.fi", "+358401234567"),))
FOOTER = Contacts(emails=(mail("eva@molar.fi"),))
WHOLE = [("Eva Virtanen", "Toimitusjohtaja", "eva@molar.fi", "+358401234567")]


class Site:
    """A domain whose pages are read in an order."""

    def __init__(self, database: Database, tenant: UUID, admin: asyncpg.Connection, pages: list[str]) -> None:
        self.database, self.tenant, self.admin, self.pages = database, tenant, admin, pages

    async def read(self, *found: Contacts) -> None:
        for page_id, one in zip(self.pages, found, strict=False):
            async with self.database.session(self.tenant) as session:
                page = await session.get_one(Page, UUID(page_id))
                await contacts.upsert(session, [contacts.PageContacts(page, page.url, one)])

    async def people(self) -> list[tuple[str | None, ...]]:
        return [tuple(row) for row in await self.admin.fetch(PEOPLE)]


@pytest.fixture
async def site(database: Database, admin: asyncpg.Connection, tenant: UUID) -> Site:
    line = await add_line(admin, tenant)
    others = [
        await add(admin, "page", tenant, domain_id=UUID(line["domains"]), url=f"https://molar.fi/{name}")
        for name in ("team", "imprint")
    ]
    return Site(database, tenant, admin, [line["pages"], *others])


@pytest.mark.parametrize(
    "order",
    [(IMPRINT, TEAM, FOOTER), (TEAM, IMPRINT, FOOTER), (FOOTER, IMPRINT, TEAM), (IMPRINT, FOOTER, TEAM)],
    ids=["imprint first", "team first", "footer first", "team last"],
)
async def test_name_and_title_of_one_page_join_the_address_of_another(site: Site, order: tuple[Contacts, ...]) -> None:
    await site.read(*order)
    assert await site.people() == WHOLE
    assert await site.admin.fetchval("SELECT count(*) FROM contact WHERE email = 'eva@molar.fi'") == 1


async def test_pages_that_are_read_again_change_nothing(site: Site) -> None:
    await site.read(IMPRINT, TEAM, FOOTER)
    before = await site.admin.fetch("SELECT id, identity, merged_into_id FROM contact ORDER BY id")
    await site.read(IMPRINT, TEAM, FOOTER)
    assert await site.admin.fetch("SELECT id, identity, merged_into_id FROM contact ORDER BY id") == before
    assert await site.people() == WHOLE


async def test_people_with_one_address_are_contacts_of_their_own(site: Site) -> None:
    office = "office@molar.fi"
    both = Contacts(
        emails=(mail(office, "role"),), people=(person("Eva Virtanen", "", office), person("Ari Kallio", "", office))
    )
    await site.read(both)
    assert [(name, email) for name, _, email, _ in await site.people()] == [
        ("Ari Kallio", office),
        ("Eva Virtanen", office),
    ]
    assert await site.admin.fetchval("SELECT name FROM contact WHERE identity = 'email:office@molar.fi'") is None


async def test_a_second_address_of_a_person_is_a_mailbox_of_its_own(site: Site) -> None:
    await site.read(
        TEAM, Contacts(emails=(mail("e.v@gmx.fi", "free-mail"),), people=(person("Eva Virtanen", "CEO", "e.v@gmx.fi"),))
    )
    assert await site.people() == [("Eva Virtanen", "CEO", "eva@molar.fi", "+358401234567")]
    assert await site.admin.fetchval("SELECT name FROM contact WHERE email = 'e.v@gmx.fi'") is None


OWN = Contacts(emails=(mail("eva@molar.fi"),), people=(person("Eva Virtanen", "CEO", "eva@molar.fi"),))
FREE = Contacts(
    emails=(mail("molar.oy@proton.me", "free-mail"),),
    people=(person("Eva Virtanen", "", "molar.oy@proton.me", "+358401234567"),),
)
AGAIN = Contacts(emails=(mail("e.virtanen@molar.fi"),), people=(person("Eva Virtanen", "", "e.virtanen@molar.fi"),))
STATE = """
SELECT email, name, first_name, title, phone, snippet, source_url, sources, fact_ranks
FROM contact WHERE merged_into_id IS NULL AND email <> 'anna@molar.fi' ORDER BY email"""


async def test_which_of_two_addresses_a_person_has_does_not_depend_on_the_order_of_pages(
    site: Site, admin: asyncpg.Connection
) -> None:
    """The address at the own domain before free mail; the other one is a mailbox."""
    pages, found = site.pages, dict(zip(site.pages, (OWN, FREE, IMPRINT), strict=True))
    states = []
    for order in itertools.permutations(pages):
        await admin.execute("DELETE FROM contact")
        for page in (*order, *order):
            site.pages = [page]
            await site.read(found[page])
        states.append([tuple(row) for row in await admin.fetch(STATE)])
        assert [(row[0], row[1]) for row in states[-1]] == [
            ("eva@molar.fi", "Eva Virtanen"),
            ("molar.oy@proton.me", None),
        ]
        assert states[-1][0][4] == "+358401234567"
    assert all(state == states[0] for state in states)


async def test_a_person_may_move_twice_and_an_edited_contact_keeps_its_person(
    site: Site, admin: asyncpg.Connection
) -> None:
    await site.read(FREE, OWN, AGAIN)
    assert [(row[0], row[1]) for row in await admin.fetch(STATE)] == [
        ("e.virtanen@molar.fi", "Eva Virtanen"),
        ("eva@molar.fi", None),
        ("molar.oy@proton.me", None),
    ]
    await admin.execute("DELETE FROM contact")
    await site.read(FREE)
    await admin.execute("UPDATE contact SET edited_at = now() WHERE email = 'molar.oy@proton.me'")
    await site.read(FREE, OWN)
    assert [(row[0], row[1]) for row in await admin.fetch(STATE)] == [
        ("eva@molar.fi", None),
        ("molar.oy@proton.me", "Eva Virtanen"),
    ]


async def test_what_a_person_edited_is_not_merged(site: Site) -> None:
    await site.read(IMPRINT)
    await site.admin.execute("UPDATE contact SET edited_at = now() WHERE identity LIKE 'person:%'")
    await site.read(FOOTER, TEAM)
    assert len(await site.people()) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Eva Virtanen", "EVA VIRTANEN"),
        ("Anna M. Roe", "Roe, Anna M"),
        ("José Díaz", "Jose Diaz"),
        ("山田 太郎", "山田太郎"),
    ],
)
def test_a_person_is_recognised_in_other_spellings(one: str, other: str) -> None:
    assert person_identity(one) == person_identity(other)


def test_relatives_are_different_people() -> None:
    assert person_identity("Eva Virtanen") != person_identity("Ari Virtanen")


MANAGERS = Contacts(
    people=(person("Jürgen Weiß", "Geschäftsführer"), person("Ana Lima", "Sócia"), person("Bo Lima", "Sócio"))
)
MAILBOXES = Contacts(
    emails=(mail("j.weiss@molar.fi"), mail("lima@molar.fi"), mail("info@molar.fi", "role"), mail("ana.lima@molar.fi"))
)


@pytest.mark.parametrize(
    "found", [(MANAGERS, MAILBOXES), (MAILBOXES, MANAGERS)], ids=["people first", "addresses first"]
)
async def test_an_address_with_the_name_of_a_person_of_another_page_is_the_persons(
    site: Site, found: tuple[Contacts, Contacts]
) -> None:
    await site.read(*found)
    expected = [
        ("Ana Lima", "Sócia", "ana.lima@molar.fi", None),
        ("Bo Lima", "Sócio", None, None),
        ("Jürgen Weiß", "Geschäftsführer", "j.weiss@molar.fi", None),
    ]
    assert await site.people() == expected
    await site.read(*found)
    assert await site.people() == expected


async def test_a_mailbox_that_a_person_edited_or_that_is_suppressed_gets_nobodys_name(
    site: Site, admin: asyncpg.Connection
) -> None:
    await site.read(Contacts(emails=(mail("j.weiss@molar.fi"), mail("ana.lima@molar.fi"))))
    await admin.execute("UPDATE contact SET edited_at = now() WHERE email = 'j.weiss@molar.fi'")
    async with site.database.session(site.tenant) as session:
        points = [ContactPoint("email", "ana.lima@molar.fi")]
        await suppressions.suppress(session, Actor("test", site.tenant, "owner", "test"), points)
    await site.read(Contacts(), MANAGERS)
    assert {email for _, _, email, _ in await site.people()} == {None}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
async def test_a_name_in_either_order_is_one_person_with_the_most_senior_title_of_equal_evidence(
    site: Site, order: tuple[int, ...]
) -> None:
    pages = [
        Contacts(people=(person("Kovács Eszter", "fogorvos"),)),
        Contacts(people=(person("Eszter Kovács", "ügyvezető"),)),
        Contacts(people=(person("Kovács Eszter"),)),
    ]
    read = [Contacts()] * 3
    for index in order:
        read[index] = pages[index]
        await site.read(*(one if index == at else Contacts() for at, one in enumerate(read)))
    assert [row[:2] for row in await site.people()] == [("Eszter Kovács", "ügyvezető")]
