"""One person of several pages is one contact, each value with its own source; a person's edits undo such merges."""

import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.factories.line_rows import add, add_line

from scrapersky.actions import split_contact
from scrapersky.core.database import Database
from scrapersky.extract.results import Contacts, Email, Person
from scrapersky.models import Contact, Page, Place
from scrapersky.providers.base import PlaceDetails
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import edit, from_provider
from scrapersky.store.contacts import upsert as contacts
from scrapersky.store.contacts.rows import RANKED_FIELDS
from scrapersky.store.contacts.value_sources import value_sources

IMPRINT, TEAM, CONTACT, PROVIDER = (
    "https://molar.fi/imprint",
    "https://molar.fi/team",
    "https://molar.fi/office",
    "provider",
)
PHONE, ADDRESS = "+358401234567", "eva@molar.fi"


def person(title: str = "", email: str = "", phone: str = "", confidence: float = 0.8, degree: str = "") -> Person:
    parts = {"first_name": "Eva", "last_name": "Virtanen", "degree": degree}
    return Person("Eva Virtanen", title, "card", f"Eva Virtanen {title}", confidence, email, phone, **parts)


FOUND = {
    IMPRINT: Contacts(people=(person("Toimitusjohtaja", confidence=0.9, degree="Dr."),)),
    TEAM: Contacts(emails=(Email(ADDRESS, "personal", "mailto", ADDRESS, 0.7),), people=(person(email=ADDRESS),)),
    CONTACT: Contacts(people=(person("Johtaja", phone=PHONE),)),
}
SOURCES = {
    "name": IMPRINT,
    "title": IMPRINT,
    "degree": IMPRINT,
    "email": TEAM,
    "phone": CONTACT,
}


class Site:
    """A domain whose pages can be read, and its provider, which names the address, too."""

    def __init__(self, database: Database, tenant: UUID, admin: asyncpg.Connection) -> None:
        self.database, self.tenant, self.admin = database, tenant, admin
        self.actor = Actor("tester", tenant, "admin", "test")
        self.pages: dict[str, str] = {}

    async def add_pages(self) -> None:
        line = await add_line(self.admin, self.tenant)
        self.domain, self.business, self.place = (UUID(line[name]) for name in ("domains", "businesses", "places"))
        for url in FOUND:
            self.pages[url] = await add(self.admin, "page", self.tenant, domain_id=self.domain, url=url)
        await self.clear()

    async def clear(self) -> None:
        await self.admin.execute("DELETE FROM contact")

    async def read(self, *urls: str, found: dict[str, Contacts] = FOUND) -> None:
        for url in urls:
            if url == PROVIDER:
                await self._name_by_provider()
                continue
            async with self.database.session(self.tenant) as session:
                page = await session.get_one(Page, UUID(self.pages[url]))
                await contacts.upsert(session, [contacts.PageContacts(page, url, found[url])])

    async def _name_by_provider(self) -> None:
        """Let the provider name the address of the business at the domain."""
        details = PlaceDetails("fake", "p1", "Molar", website="https://molar.fi", extra={"emails": [ADDRESS]})
        async with self.database.session(self.tenant) as session:
            place = await session.get_one(Place, self.place)
            await from_provider.store(session, {self.business: (place, details)}, [])

    async def people(self) -> list[dict[str, Any]]:
        rows = await self.admin.fetch("SELECT * FROM contact WHERE merged_into_id IS NULL ORDER BY name, email, title")
        return [dict(row) for row in rows]

    async def eva(self) -> dict[str, Any]:
        (row,) = [one for one in await self.people() if one["email"] == ADDRESS]
        return row

    async def change(self, contact_id: UUID, **changes: Any) -> None:
        async with self.database.session(self.tenant) as session:
            await edit.change(session, self.actor, contact_id, changes, None)


def sources_of(row: dict[str, Any]) -> dict[str, str | None]:
    sources = value_sources({**row, "sources": json.loads(row["sources"] or "null")})
    return {name: source.get("url") for name, source in sources.items()}


def values(rows: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("name", "title", "email", "phone")
    return [tuple(row[name] for name in names) for row in rows]


@pytest.fixture
async def site(database: Database, admin: asyncpg.Connection, tenant: UUID) -> Site:
    found = Site(database, tenant, admin)
    await found.add_pages()
    return found


WHOLE = ("Eva Virtanen", "Toimitusjohtaja", ADDRESS, PHONE)


async def test_a_contact_that_another_page_repeats_is_written_once_in_a_run_and_a_while(site: Site) -> None:
    found = {
        url: Contacts(emails=(Email(ADDRESS, "personal", "mailto", ADDRESS, confidence),))
        for url, confidence in ((IMPRINT, 0.9), (TEAM, 0.5))
    }

    async def is_written() -> bool:
        (before,) = await site.people()
        await site.read(TEAM, found=found)
        return bool(before["seen_at"] != (await site.people())[0]["seen_at"])

    await site.read(IMPRINT, found=found)
    await site.admin.execute("UPDATE contact SET contact_verification_status = 'Queued'")
    assert not await is_written()
    await site.admin.execute("UPDATE contact SET seen_at = now() - interval '11 minutes'")
    assert await is_written()
    assert not await is_written()
    await site.admin.execute("SELECT begin_search_run(tenant_id, id, true) FROM search")
    assert await is_written()


@pytest.mark.parametrize(
    "order", list(permutations((IMPRINT, TEAM, CONTACT, PROVIDER))), ids=lambda order: order[0][-8:]
)
async def test_a_person_of_three_pages_is_one_contact_with_the_source_of_each_value(
    site: Site, order: tuple[str, ...]
) -> None:
    await site.read(*order)
    (row,) = await site.people()
    assert values([row]) == [WHOLE]
    assert sources_of(row) == SOURCES
    assert (row["first_name"], row["last_name"], row["degree"]) == ("Eva", "Virtanen", "Dr.")
    title = value_sources({**row, "sources": json.loads(row["sources"])})["title"]
    assert (title["snippet"], title["found_by"], title["confidence"]) == ("Eva Virtanen Toimitusjohtaja", "card", 0.9)


COLUMNS = ("name", "title", "email", "phone", "degree", "source_url", "fact_ranks", "sources", "evidence_rank")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(again=st.lists(st.sampled_from([*FOUND, PROVIDER]), max_size=5), order=st.permutations([*FOUND, PROVIDER]))
async def test_any_order_and_any_second_reading_give_the_same_row(
    site: Site, order: list[str], again: list[str]
) -> None:
    await site.clear()
    await site.read(*order, *again)
    row = await site.eva()
    await site.clear()
    await site.read(*FOUND, PROVIDER)
    first = await site.eva()
    assert {name: row[name] for name in COLUMNS} == {name: first[name] for name in COLUMNS}


async def test_a_page_read_again_replaces_its_value_in_the_contact_of_another_page(site: Site) -> None:
    await site.read(IMPRINT, TEAM, CONTACT)
    changed = {CONTACT: Contacts(people=(person("Johtaja", phone="+358407654321"),))}
    await site.read(CONTACT, found=changed)
    row = await site.eva()
    assert (row["phone"], row["title"]) == ("+358407654321", "Toimitusjohtaja")


@pytest.mark.parametrize("order", [(IMPRINT, TEAM, CONTACT), (TEAM, IMPRINT, CONTACT)], ids=["imprint", "team"])
async def test_another_name_is_another_person_and_the_other_pages_are_a_contact_again(
    site: Site, order: tuple[str, ...]
) -> None:
    await site.read(*order)
    await site.change((await site.eva())["id"], name="Maria Korhonen")
    for _ in range(2):
        await site.read(*order)
        eva, maria = await site.people()
        assert values([maria]) == [("Maria Korhonen", "Toimitusjohtaja", ADDRESS, PHONE)]
        assert values([eva]) == [("Eva Virtanen", "Toimitusjohtaja", None, PHONE)]
        assert sources_of(maria)["name"] is None
    assert (maria["first_name"], maria["last_name"]) == ("Maria", "Korhonen")


async def test_a_corrected_spelling_keeps_the_contact_together(site: Site) -> None:
    await site.read(IMPRINT, TEAM)
    await site.change((await site.eva())["id"], name="Eva M. Virtanen")
    await site.read(IMPRINT, TEAM, CONTACT)
    assert values(await site.people()) == [("Eva M. Virtanen", "Toimitusjohtaja", ADDRESS, PHONE)]


async def test_a_corrected_name_of_one_page_does_not_come_back(site: Site) -> None:
    await site.read(TEAM)
    await site.change((await site.eva())["id"], name="Eeva Wirtanen")
    await site.read(TEAM)
    assert values(await site.people()) == [("Eeva Wirtanen", None, ADDRESS, None)]


@pytest.mark.parametrize("email", ["ceo@molar.fi", None], ids=["changed", "cleared"])
async def test_the_found_address_is_a_contact_again_after_another_one_is_written(site: Site, email: str | None) -> None:
    await site.read(IMPRINT, TEAM, CONTACT)
    await site.change((await site.eva())["id"], email=email)
    for _ in range(2):
        await site.read(IMPRINT, TEAM, CONTACT)
        rows = await site.people()
        assert sorted(values(rows), key=str) == sorted(
            [("Eva Virtanen", "Toimitusjohtaja", email, PHONE), (None, None, ADDRESS, None)], key=str
        )


async def test_what_a_person_cleared_is_not_filled_again(site: Site) -> None:
    await site.read(IMPRINT, TEAM, CONTACT)
    await site.change((await site.eva())["id"], title=None, phone=None)
    await site.read(CONTACT, IMPRINT, TEAM)
    assert values(await site.people()) == [("Eva Virtanen", None, ADDRESS, None)]


@pytest.mark.parametrize("order", [(IMPRINT, TEAM, CONTACT), (TEAM, CONTACT, IMPRINT)], ids=["imprint", "team"])
async def test_a_split_contact_stays_split(site: Site, order: tuple[str, ...]) -> None:
    await site.read(*order)
    async with site.database.session(site.tenant) as session:
        parts = await split_contact.split(session, site.actor, (await site.eva())["id"])
        assert len(parts) == 2
    for _ in range(2):
        rows = await site.people()
        assert sorted(values(rows), key=str) == sorted(
            [("Eva Virtanen", None, ADDRESS, None), ("Eva Virtanen", "Toimitusjohtaja", None, PHONE)], key=str
        )
        await site.read(*order)


async def test_a_contact_of_one_page_cannot_be_split(site: Site) -> None:
    await site.read(TEAM)
    eva = await site.eva()
    async with site.database.session(site.tenant) as session:
        with pytest.raises(split_contact.NothingToSplit):
            await split_contact.split(session, site.actor, eva["id"])


async def test_a_decision_about_the_merged_contact_holds_for_the_one_that_stands_for_it(site: Site) -> None:
    await site.read(IMPRINT)
    await site.admin.execute("UPDATE contact SET curation_status = 'Not a Fit'")
    await site.read(TEAM)
    assert (await site.eva())["curation_status"] == "Not a Fit"


def test_every_field_with_a_source_is_a_column() -> None:
    assert set(RANKED_FIELDS) <= set(Contact.__table__.columns.keys())
