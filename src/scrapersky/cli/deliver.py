"""`scrapersky deliver DESTINATION`: queue contacts for a web hook or a CRM; workers hand them over."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

import typer
import uvloop

from scrapersky.actions import curation
from scrapersky.cli.export import filters_of
from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json
from scrapersky.store.accounts import tenants
from scrapersky.store.deliveries import deliveries, destinations
from scrapersky.store.deliveries.deliveries import DeliveryCounts
from scrapersky.store.listing.resources import CONTACTS

AT_ONCE = 1_000  # contacts of one transaction
MOST = 10_000_000


def deliver(
    destination: Annotated[str, typer.Argument(help="The destination's name; `scrapersky destination list` has them.")],
    search: Annotated[UUID | None, typer.Option(help="Only contacts of this search.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="FIELD=VALUE", help="Only contacts that match, as in the API's lists.")
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only count them.")] = False,
    tenant: TenantName = tenants.DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Queue contacts for a destination; workers hand them over at once, with as many tries as that takes.

    Who is suppressed or has no email address is left out, and what has not changed since the last time is skipped.

    Example: scrapersky deliver crm --where verdict=deliverable --where curation_status=Selected

    Exit codes: 0 contacts were queued, 1 there were none, 2 wrong usage, unknown destination, or database.
    """
    chosen = filters_of(CONTACTS, [*(where or ()), *([f"search_id={search}"] if search else ())])
    sent = uvloop.run(_deliver(destination, chosen, preview, tenant))
    if as_json:
        print_json({"destination": destination, "preview": preview, **vars(sent)})
    elif preview:
        typer.echo(f"{sent.found:,} contacts match.")
    else:
        typer.echo(
            f"{sent.queued:,} of {sent.found:,} contacts are queued for {destination}; {sent.already:,} are on their "
            f"way, {sent.suppressed:,} suppressed, {sent.without_email:,} without an address."
        )
    raise typer.Exit(0 if sent.queued or (preview and sent.found) else 1)


async def _deliver(name: str, chosen: Mapping[str, Any], preview: bool, tenant: str) -> DeliveryCounts:
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            destination_id = (await destinations.by_name(session, actor.tenant_id, name)).id
            ids: Sequence[UUID] = await curation.ids_of(session, CONTACTS, actor.tenant_id, chosen, MOST)
        if preview:
            return DeliveryCounts(len(ids))
        sent = DeliveryCounts()
        for start in range(0, len(ids), AT_ONCE):
            async with application.database.session(actor.tenant_id) as session:
                sent += await deliveries.send(session, actor, destination_id, ids[start : start + AT_ONCE])
        return sent
