"""What a file calls a business, and how it writes the address of its site."""

import json

import pytest
from tests.factories.line_rows import add_line

from scrapersky.core.vocabularies import EXPIRED_NAME
from scrapersky.store.leads.read import leads


@pytest.fixture
async def search_id(admin, tenant):
    return (await add_line(admin, tenant))["searches"]


async def first(database, tenant, search_id, per="business"):
    async with database.session(tenant) as session:
        [row] = [row async for row in leads(session, search_id, per)]
    return row


@pytest.mark.parametrize(
    ("title", "facts", "name"),
    [
        ("Hem – Djurklinik Vågen", {}, "Djurklinik Vågen"),
        ("Etusivu | Molar Oy", {}, "Molar Oy"),
        ("Molar Oy - Etusivu", {}, "Molar Oy"),
        ("Startseite: Praxis am Markt", {}, "Praxis am Markt"),
        ("ACCUEIL » Chez Nous", {}, "Chez Nous"),
        ("Главная — Ромашка", {}, "Ромашка"),
        ("Home Instead", {}, "Home Instead"),
        ("Molar at Home", {}, "Molar at Home"),
        ("Home", {}, "molar.fi"),
        (None, {}, "molar.fi"),
        ("Home", {"site_name": "Molar Dental"}, "Molar Dental"),
        ("Hem - x", {"site_name": "Home", "organisation": None}, "x"),
        ("Hem - x", {"site_name": "Molar", "organisation": {"name": "Molar Dental Oy"}}, "Molar Dental Oy"),
        ("Hem - x", {"site_name": "Molar", "organisation": {"name": ""}}, "Molar"),
    ],
)
@pytest.mark.parametrize("per", ["business", "contact"])
async def test_a_site_without_a_business_is_called_what_it_calls_itself(
    database, admin, tenant, search_id, title, facts, name, per
):
    await admin.execute("UPDATE contact SET business_id = NULL")
    await admin.execute("DELETE FROM local_business")
    await admin.execute("UPDATE domain SET title = $1, facts = $2", title, json.dumps(facts))
    assert (await first(database, tenant, search_id, per))["business"] == name


@pytest.mark.parametrize("per", ["business", "contact"])
async def test_a_name_that_had_to_be_forgotten_is_the_sites_own(database, admin, tenant, search_id, per):
    await admin.execute("UPDATE local_business SET name = $1, expired_at = now()", EXPIRED_NAME)
    await admin.execute("UPDATE domain SET facts = $1", json.dumps({"site_name": "Molar Dental"}))
    assert (await first(database, tenant, search_id, per))["business"] == "Molar Dental"


async def test_a_business_without_a_site_stays_forgotten(database, admin, tenant, search_id):
    await admin.execute("UPDATE local_business SET name = $1, expired_at = now()", EXPIRED_NAME)
    await admin.execute("DELETE FROM domain")
    assert (await first(database, tenant, search_id))["business"] == EXPIRED_NAME


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("https://molar.fi/?utm_source=google&utm_medium=maps", "https://molar.fi/"),
        ("https://molar.fi/a?id=7&utm_campaign=x&lang=fi", "https://molar.fi/a?id=7&lang=fi"),
        ("https://molar.fi/a?utm_source=x&id=7#team", "https://molar.fi/a?id=7#team"),
        ("https://molar.fi/a?id=7&gclid=abc#team", "https://molar.fi/a?id=7#team"),
        ("https://molar.fi/?y_source=1_MTIz&fbclid=9", "https://molar.fi/"),
        ("https://molar.fi/?id=utm_source", "https://molar.fi/?id=utm_source"),
        ("https://molar.fi/", "https://molar.fi/"),
    ],
)
async def test_an_address_has_no_parameters_that_only_track(database, admin, tenant, search_id, given, shown):
    await admin.execute("UPDATE local_business SET website = $1", given)
    assert (await first(database, tenant, search_id))["website"] == shown
