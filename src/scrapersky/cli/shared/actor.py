"""Who acts when a command changes something: the user of this machine, for one tenant."""

import getpass
import os
from typing import Annotated

import typer

from scrapersky.bootstrap import Application
from scrapersky.store.accounts import tenants
from scrapersky.store.audit.record import Actor

TenantName = Annotated[str, typer.Option("--tenant", help="The tenant whose rows are meant.")]


async def acting(application: Application, tenant: str = tenants.DEFAULT) -> Actor:
    """The actor that the audit names, or UnknownTenant."""
    async with application.database.engine_session() as session:
        tenant_id = await tenants.id_of(session, tenant)
    return Actor(me(), tenant_id, role="admin", origin="cli")


def me() -> str:
    """The user of this machine by name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a number without a name
        return f"uid {os.getuid()}"
