"""Who is meant by a name, an address or a number: all contacts of the person, also those merged into one."""

from uuid import UUID

import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.actions.erase_person import erase
from scrapersky.extract.results import Contacts, Person
from scrapersky.models import Page
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts.erased_filter import without_erased
from scrapersky.store.privacy.identify import PersonQuery, identify


async def test_all_forms_of_a_name_that_were_merged_into_one_are_one_person(database, admin, tenant):
    row = {"domain_id": await add(admin, "domain", tenant, name="molar.fi")}
    shown = await add(
        admin, "contact", tenant, **row, identity="person:jane smith", name="Jane Smith", email="jane@molar.fi"
    )
    forms = {
        await add(admin, "contact", tenant, **row, identity=f"person:{name.lower()}", name=name, merged_into_id=shown)
        for name in ("J. Smith", "Smith, Jane")
    }
    other = await add(
        admin, "contact", tenant, **row, identity="person:ada long", name="Ada Long", email="ada@molar.fi"
    )
    async with database.session(tenant) as session:
        found = await identify(session, tenant, PersonQuery(name="J. Smith", domain="molar.fi"))
    assert {str(each) for each in found.own} == {shown, *forms}
    assert other not in map(str, found.own)


OTHERS = [
    {"name": "Anna Molar"},
    {"name": "Molar, Anna"},
    {"name": "MOLAR Änna"},
    {"name": "Dr. Anna Molar", "first_name": "Anna", "last_name": "Molar"},
    {"name": "Анна Молар", "name_latin": "Anna Molar"},
]


@pytest.mark.parametrize("written", OTHERS, ids=lambda written: written["name"])
async def test_an_erased_person_is_not_read_again_under_another_form_of_the_name(database, admin, tenant, written):
    ids = await add_line(admin, tenant)
    async with database.session(tenant) as session:
        await erase(session, Actor("ada", tenant, "admin", "test"), PersonQuery(name="Anna Molar", domain="molar.fi"))
    others = ({"name": "Bo Molar"}, {"name": "Anna Root"})
    people = tuple(Person(**names, title="", how="card", snippet="", confidence=0.9) for names in (written, *others))
    async with database.session(tenant) as session:
        page = await session.get_one(Page, UUID(ids["pages"]))
        kept = await without_erased(session, page, Contacts(people=people))
    assert [one.name for one in kept.people] == ["Bo Molar", "Anna Root"]
