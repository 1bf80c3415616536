"""Run in the copy of the project: a page is read and stored, its contact listed, changed, delivered and erased.

Prints one JSON object with what each place knows of the field `languages`.
"""

import asyncio
import json
import sys
from typing import Any
from uuid import UUID

from sqlalchemy import select

from scrapersky.actions.erase_person import erase
from scrapersky.core.database import Database
from scrapersky.core.secrets.vault import Vault
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.results import Contacts
from scrapersky.models import Contact, Delivery, Destination, Page
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts.upsert import PageContacts, upsert
from scrapersky.store.deliveries.outbox import Outbox
from scrapersky.store.privacy import subject_access
from scrapersky.store.privacy.identify import PersonQuery
from tests.factories.api_application import app_over, served

URL = "https://molar.fi/team"
HTML = """<html lang="en"><body><h1>Our team</h1>
<div class="card"><h3>Anna Molar</h3><p>Dentist</p><p>Languages: Finnish, English</p><p>anna.molar@molar.fi</p></div>
<div class="card"><h3>Bo Bridge</h3><p>Hygienist</p><p>Speaks: Swedish</p><p>bo.bridge@molar.fi</p></div>
</body></html>"""
FIELD = "languages"  # only the copy declares it
ANNA, BO = "anna.molar@molar.fi", "bo.bridge@molar.fi"


async def main(database_url: str, tenant_id: UUID, page_id: UUID) -> dict[str, Any]:
    """Return the values of the field at each place."""
    app = app_over(database_url)
    async with served(app) as client:
        database = app.state.application.database
        found = read_contacts(HTML, url=URL, region="FI")
        stored = await _store(database, tenant_id, page_id, found)
        listed = (await client.get("/api/v3/contacts")).json()["items"]
        changed = await client.patch(f"/api/v3/contacts/{stored[ANNA].id}", json={FIELD: "Finnish"})
        return {
            "found": {person.email: getattr(person, FIELD) for person in found.people},
            "stored": {email: getattr(row, FIELD) for email, row in stored.items()},
            "listed": {item["email"]: item[FIELD] for item in listed},
            "changed": changed.json()[FIELD],
            "delivered": await _delivered(database, tenant_id, stored[ANNA].id),
            "reported": await _reported(database, tenant_id),
            "erased": await _erased(database, tenant_id, stored[BO].id),
        }


async def _store(database: Database, tenant_id: UUID, page_id: UUID, found: Contacts) -> dict[str, Contact]:
    """Store the contacts of the page; return them by email address."""
    async with database.session(tenant_id) as session:
        await upsert(session, [PageContacts(await session.get_one(Page, page_id), URL, found)])
    async with database.session(tenant_id) as session:
        rows = await session.scalars(select(Contact).where(Contact.email.is_not(None)))
        return {row.email: row for row in rows if row.email}


async def _delivered(database: Database, tenant_id: UUID, contact_id: UUID) -> str:
    """Return the languages in the message to a destination."""
    async with database.session(tenant_id) as session:
        destination = Destination(tenant_id=tenant_id, name="hook", kind="webhook", url="https://hook.example/")
        session.add(destination)
        await session.flush()
        delivery = Delivery(tenant_id=tenant_id, destination_id=destination.id, contact_id=contact_id)
        session.add(delivery)
    pending = await Outbox(database, Vault(b"x" * 32)).load(tenant_id, delivery.id)
    assert pending is not None
    assert pending.message is not None
    return str(pending.message.payload.facts[FIELD])


async def _reported(database: Database, tenant_id: UUID) -> list[str]:
    """Return the languages in the answer to a subject access request."""
    async with database.session(tenant_id) as session:
        report = await subject_access.subject_data(session, _actor(tenant_id), PersonQuery(email=ANNA))
    return [contact[FIELD] for contact in report["contacts"]]


async def _erased(database: Database, tenant_id: UUID, contact_id: UUID) -> str | None:
    """Make it the contact of an office that names Bo; return the languages that are left when Bo is erased."""
    async with database.session(tenant_id) as session:
        office = await session.get_one(Contact, contact_id)
        office.email, office.email_kind = "info@molar.fi", "role"
    async with database.session(tenant_id) as session:
        await erase(session, _actor(tenant_id), PersonQuery(name="Bo Bridge", domain="molar.fi"))
    async with database.session(tenant_id) as session:
        left: str | None = getattr(await session.get_one(Contact, contact_id), FIELD)
        return left


def _actor(tenant_id: UUID) -> Actor:
    return Actor("tests", tenant_id, role="admin", origin="test")


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], UUID(sys.argv[2]), UUID(sys.argv[3])))))
