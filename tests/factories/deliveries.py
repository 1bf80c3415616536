"""What the tests of deliveries share: a line of one step over a real database, and the sandbox that receives."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from scrapersky.core.database import Database
from scrapersky.core.secrets.vault import Vault
from scrapersky.core.settings import Settings
from scrapersky.crawl.http.client import Client
from scrapersky.destinations.http_sender import HttpSender
from scrapersky.destinations.registry import DestinationAdapters
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.processor import QueueProcessor
from scrapersky.sandbox.crm.webhook import WebhookReceiver
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.deliveries.outbox import Outbox
from scrapersky.workflows.delivery import ContactDelivery
from tests.conftest import processors_of

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass
class DeliverySetup:
    """The delivery workflow, its queue and its receivers."""

    database: Database
    settings: Settings
    admin: asyncpg.Connection
    tenant: UUID
    sandbox: Sandbox
    client: Client
    vault: Vault
    seconds: float = 5

    def workflow(self) -> ContactDelivery:
        async def source() -> Client:
            return self.client

        adapters = DestinationAdapters(source, HttpSender(source, self.seconds))
        return ContactDelivery(Outbox(self.database, self.vault), adapters)

    def processor(self, **changes: Any) -> QueueProcessor:
        return processors_of(Pipeline([self.workflow()]), self.database, self.settings, **changes)["delivery"]

    async def run(self, **changes: Any) -> None:
        """Drain the queue once."""
        await run_job_loop(self.processor(**changes))

    async def hook(
        self, path: str = "/leads", tenant: UUID | None = None, **columns: Any
    ) -> tuple[UUID, WebhookReceiver]:
        """A web hook and whoever listens there."""
        receiver = self.sandbox.hooks.add(path, SECRET)
        return await self.destination("webhook", f"{self.sandbox.hooks_url}{path}", SECRET, tenant, **columns), receiver

    async def destination(self, kind: str, url: str, secret: str, tenant: UUID | None = None, **columns: Any) -> UUID:
        names = {"tenant_id": tenant or self.tenant, "name": url, "kind": kind, "url": url}
        names |= {"secret": self.vault.seal(secret), **{name: _json(value) for name, value in columns.items()}}
        places = ", ".join(f"${n}" for n in range(1, len(names) + 1))
        return await self.admin.fetchval(
            f"INSERT INTO destination ({', '.join(names)}) VALUES ({places}) RETURNING id", *names.values()
        )

    async def contact(self, email: str | None = "anna@molar.fi", tenant: UUID | None = None, **columns: Any) -> UUID:
        names = {"tenant_id": tenant or self.tenant, "identity": f"email:{email}", "email": email, **columns}
        places = ", ".join(f"${n}" for n in range(1, len(names) + 1))
        return await self.admin.fetchval(
            f"INSERT INTO contact ({', '.join(names)}) VALUES ({places}) RETURNING id", *names.values()
        )

    async def deliver(self, destination: UUID, contact: UUID) -> UUID:
        """Queue it, as somebody would."""
        return await self.admin.fetchval(
            "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status) "
            "SELECT tenant_id, $1, id, 'Queued' FROM contact WHERE id = $2 RETURNING id",
            destination,
            contact,
        )

    async def again(self, delivery: UUID) -> None:
        """Its time has come."""
        await self.admin.execute("UPDATE delivery SET delivery_due_at = NULL WHERE id = $1", delivery)
        await self.admin.execute("UPDATE destination SET cooldown_until = NULL")

    async def row(self, delivery: UUID) -> asyncpg.Record:
        return await self.admin.fetchrow("SELECT * FROM delivery WHERE id = $1", delivery)

    async def state(self, delivery: UUID) -> tuple[str, str | None]:
        row = await self.row(delivery)
        return row["delivery_status"], row["delivery_error"]


def _json(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value
