"""A person whose name is written in several ways is one contact, whatever the order of reading; relatives are not."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from tests.factories.line_rows import add, add_line

from scrapersky.core.database import Database
from scrapersky.extract.people.name_parts import split_name
from scrapersky.extract.results import Contacts, Email, EmailKind, Person
from scrapersky.models import Page
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import edit
from scrapersky.store.contacts import upsert as contacts

SHOWN = """
SELECT * FROM contact WHERE merged_into_id IS NULL AND (name IS NOT NULL OR email IS NOT NULL)
ORDER BY identity COLLATE "C\""""


def person(name: str, title: str = "", email: str = "", phone: str = "", language: str = "en") -> Person:
    first, last = split_name(name, language)
    return Person(name, title, "card", f"{name} {title}", 0.8, email, phone, first_name=first, last_name=last)


def page_of(*people: Person, mailboxes: Sequence[str] = ()) -> Contacts:
    kinds: dict[str, EmailKind] = {one.email: "personal" for one in people if one.email}
    for address in mailboxes:
        kinds[address] = "personal"
    emails = tuple(Email(address, kind, "text", address, 0.95) for address, kind in kinds.items())
    return Contacts(emails=emails, people=people)


class Site:
    """A domain with four pages that can be read in any order."""

    def __init__(self, database: Database, tenant: UUID, admin: asyncpg.Connection) -> None:
        self.database, self.tenant, self.admin = database, tenant, admin
        self.pages: list[str] = []

    async def add_pages(self) -> None:
        line = await add_line(self.admin, self.tenant)
        domain = UUID(line["domains"])
        self.pages = [
            await add(self.admin, "page", self.tenant, domain_id=domain, url=f"https://molar.fi/{number}")
            for number in range(4)
        ]

    async def read(self, pages: Sequence[Contacts], order: Sequence[int]) -> None:
        """Read pages one by one, in this order, on a domain without contacts."""
        await self.admin.execute("DELETE FROM contact")
        for number in order:
            await self.read_one(number, pages[number])

    async def read_one(self, number: int, found: Contacts) -> None:
        async with self.database.session(self.tenant) as session:
            page = await session.get_one(Page, UUID(self.pages[number]))
            await contacts.upsert(session, [contacts.PageContacts(page, page.url, found)])

    async def shown(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.admin.fetch(SHOWN)]

    async def people(self) -> list[tuple[str | None, ...]]:
        rows = [tuple(row[name] for name in ("name", "title", "email")) for row in await self.shown() if row["name"]]
        return sorted(rows, key=str)


@pytest.fixture
async def site(database: Database, admin: asyncpg.Connection, tenant: UUID) -> Site:
    found = Site(database, tenant, admin)
    await found.add_pages()
    return found


JSMITH = page_of(person("J. Smith", "Accountant", "jsmith@molar.fi"))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=str)
async def test_another_initial_is_another_person(site: Site, order: tuple[int, ...]) -> None:
    await site.read([JSMITH, page_of(person("A. Smith", "Managing Director"))], order)
    assert await site.people() == [
        ("A. Smith", "Managing Director", None),
        ("J. Smith", "Accountant", "jsmith@molar.fi"),
    ]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=str)
@pytest.mark.parametrize(
    ("one", "other", "shown", "language"),
    [
        ("J. Smith", "John Smith", "John Smith", "en"),
        ("Полетаева Инна Геннадьевна", "Инна Геннадьевна Полетаева", None, "ru"),
        ("Полетаева И. Г.", "Инна Геннадьевна Полетаева", "Инна Геннадьевна Полетаева", "ru"),
        ("María Jesús Prado", "María Jesús Prado Ruiz", "María Jesús Prado Ruiz", "es"),
        ("طارق القاضي", "طارق عبد الحميد القاضي", "طارق عبد الحميد القاضي", "ar"),
        ("Gwen Tarrant", "Gwendolen Tarrant", "Gwendolen Tarrant", "en"),
        ("Bob Hale", "Robert Hale", "Robert Hale", "en"),
        ("Jürgen Müller", "Juergen Mueller", None, "de"),
    ],
)
async def test_two_forms_of_a_name_are_one_contact_with_the_fuller_name(
    site: Site, one: str, other: str, shown: str | None, language: str, order: tuple[int, ...]
) -> None:
    pages = [
        page_of(person(one, "", "own@molar.fi", language=language)),
        page_of(person(other, "Owner", "", "+358401234567", language=language)),
    ]
    await site.read(pages, order)
    ((name, title, email),) = await site.people()
    assert (title, email) == ("Owner", "own@molar.fi")
    assert name == shown or shown is None


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
async def test_a_form_that_fits_two_people_is_neither(site: Site, order: tuple[int, ...]) -> None:
    pages = [
        page_of(person("J. Smith", "Owner", phone="+358401234567")),
        page_of(person("John Smith", "Nurse")),
        page_of(person("Jane Smith", "", "jane@molar.fi")),
    ]
    await site.read(pages, order)
    assert await site.people() == [
        ("J. Smith", "Owner", None),
        ("Jane Smith", None, "jane@molar.fi"),
        ("John Smith", "Nurse", None),
    ]
    assert [row["phone"] for row in await site.shown() if row["phone"]] == ["+358401234567"]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
async def test_a_mailbox_with_the_initial_of_two_people_is_neither_ones(site: Site, order: tuple[int, ...]) -> None:
    pages = [
        page_of(mailboxes=["j.weiss@molar.fi"]),
        page_of(person("Jürgen Weiß", "Owner")),
        page_of(person("Jana Weiß", "Nurse")),
    ]
    await site.read(pages, order)
    assert await site.people() == [("Jana Weiß", "Nurse", None), ("Jürgen Weiß", "Owner", None)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=str)
@pytest.mark.parametrize(
    "other",
    [person("Robert Hale", email="robert@molar.fi"), person("Robert Hale", phone="+358407654321")],
    ids=["address", "number"],
)
async def test_a_short_form_with_another_address_or_number_is_another_person(
    site: Site, other: Person, order: tuple[int, ...]
) -> None:
    bob = person("Bob Hale", email="bob@molar.fi", phone="+358401234567")
    await site.read([page_of(bob), page_of(other)], order)
    assert [name for name, _, _ in await site.people()] == ["Bob Hale", "Robert Hale"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=str)
async def test_the_most_senior_title_of_several_pages_is_kept_though_another_one_is_more_certain(
    site: Site, order: tuple[int, ...]
) -> None:
    pages = [
        page_of(replace(person("Lorenza Bergamini", "Referente"), confidence=0.97)),
        page_of(replace(person("Lorenza Bergamini", "Socia fondatrice"), confidence=0.7)),
    ]
    await site.read(pages, order)
    assert await site.people() == [("Lorenza Bergamini", "Socia fondatrice", None)]


async def test_values_of_another_form_have_their_own_source_and_come_back_after_a_rename(site: Site) -> None:
    await site.read([JSMITH, page_of(person("John Smith", "Owner", phone="+358401234567"))], (0, 1))
    (row,) = await site.shown()
    sources = json.loads(row["sources"])
    assert {name: sources[name]["url"] for name in ("name", "title", "phone")} == dict.fromkeys(
        ("name", "title", "phone"), "https://molar.fi/1"
    )
    async with site.database.session(site.tenant) as session:
        await edit.change(
            session, Actor("tester", site.tenant, "admin", "test"), row["id"], {"name": "Maria Korhonen"}, None
        )
    assert await site.people() == [
        ("John Smith", "Owner", None),
        ("Maria Korhonen", "Owner", "jsmith@molar.fi"),
    ]


@dataclass(frozen=True)
class TruePerson:
    """A person, the ways in which pages write the name, and the values that only this person has."""

    forms: tuple[str, ...]
    title: str
    address: str
    number: str
    language: str = "en"


# Relatives differ by their initials, so that every form is one person's.
TRUE_PEOPLE = (
    TruePerson(("John Smith", "J. Smith", "John A. Smith", "SMITH John"), "Accountant", "john.smith", "+35840100001"),
    TruePerson(("Andrew Smith", "A. Smith", "Andy Smith"), "Managing Director", "andrew", "+35840100002"),
    TruePerson(("Робин Иванов", "Иванов Р."), "Ветеринар", "robin.ivanov", "+35840100003", "ru"),
    TruePerson(
        ("Иванов Алексей Борисович", "Алексей Борисович Иванов", "Иванов А. Б.", "А. Б. Иванов", "Алексей Иванов"),
        "Директор",
        "ivanov.a",
        "+35840100004",
        "ru",
    ),
    TruePerson(
        ("María Jesús Prado Ruiz", "María Jesús Prado", "Mª Jesús Prado"), "Secretaria", "mjprado", "+35840100005", "es"
    ),
    TruePerson(("طارق عبد الحميد القاضي", "طارق القاضي"), "مدير", "t.alqadi", "+35840100006", "ar"),
    TruePerson(("Jürgen Müller", "Juergen Mueller", "J. Müller"), "Inhaber", "mueller", "+35840100007", "de"),
    TruePerson(("Олена Шевченко", "Olena Shevchenko"), "Бухгалтер", "olena", "+35840100008", "uk"),
    TruePerson(("山田 太郎", "山田太郎"), "代表取締役", "yamada", "+35840100009", "ja"),
)


@st.composite
def _sites(draw: st.DrawFn) -> tuple[list[Contacts], list[TruePerson]]:
    """Return two to four pages, and the people on them."""
    count = draw(st.integers(2, 4))
    people = draw(st.lists(st.sampled_from(TRUE_PEOPLE), min_size=1, max_size=5, unique=True))
    pages: list[list[Person]] = [[] for _ in range(count)]
    mailboxes: list[list[str]] = [[] for _ in range(count)]
    for one in people:
        address = f"{one.address}@molar.fi"
        places = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True))
        for place in places:
            has_title, has_address, has_number, is_mailbox = (draw(st.booleans()) for _ in range(4))
            name = draw(st.sampled_from(one.forms))
            found = person(name, one.title if has_title else "", address if has_address else "", "", one.language)
            pages[place].append(replace(found, phone=one.number if has_number else ""))
            if is_mailbox:
                mailboxes[draw(st.integers(0, count - 1))].append(address)
    return [page_of(*found, mailboxes=those) for found, those in zip(pages, mailboxes, strict=True)], people


COLUMNS = ("identity", "name", "first_name", "last_name", "title", "email", "phone")


def values(rows: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in COLUMNS) for row in rows]


# Without shrinking: each example reads up to eleven pages into a database.
@settings(
    max_examples=40,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(found=_sites(), data=st.data())
async def test_each_person_is_one_contact_whatever_the_order_of_reading(
    site: Site, found: tuple[list[Contacts], list[TruePerson]], data: st.DataObject
) -> None:
    pages, people = found
    for page in pages:
        note(f"page: {[(one.name, one.title, one.email, one.phone) for one in page.people]} {page.emails}")
    await site.read(pages, range(len(pages)))
    first = await site.shown()
    named = [row for row in first if row["name"]]
    assert len(named) == len(people)
    for row in named:
        (one,) = [one for one in people if row["name"] in one.forms]
        assert row["title"] in (None, one.title)
        assert row["email"] in (None, f"{one.address}@molar.fi")
        assert row["phone"] in (None, one.number)
        given_titles = [each.title for page in pages for each in page.people if each.name in one.forms]
        assert bool(row["title"]) == any(given_titles)
    order = data.draw(st.permutations(range(len(pages))), label="order")
    again = data.draw(st.lists(st.sampled_from(range(len(pages))), max_size=3), label="again")
    await site.read(pages, [*order, *again])
    assert values(await site.shown()) == values(first)
