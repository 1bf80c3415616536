"""`scrapersky deliver DESTINATION`: queue contacts for a webhook or a CRM."""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async
from scrapersky.cli.shared.filters import Where, parse_filters
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json

if TYPE_CHECKING:
    from scrapersky.store.deliveries.deliveries import DeliveryCounts

CHUNK = 1_000  # contacts queued in one transaction
MAX_CONTACTS = 10_000_000


def deliver(
    destination: Annotated[str, typer.Argument(help="The name of the destination, as in `destination list`.")],
    search: Annotated[UUID | None, typer.Option(help="Only contacts of this search.")] = None,
    where: Where = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only count the contacts.")] = False,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Queue contacts for a destination; workers deliver them at once and retry failures.

    Suppressed contacts and contacts with neither an email address nor a phone number are left out; unchanged contacts
    are skipped.

    Example: scrapersky deliver crm --where verdict=deliverable --where curation_status=Selected

    Exit codes: 0 contacts were queued, 1 none were, 2 wrong usage, unknown destination, or database error.
    """
    sent = run_async(_deliver(destination, where, search, preview, tenant))
    if as_json:
        print_json({"destination": destination, "preview": preview, **vars(sent)})
    elif preview:
        typer.echo(f"{sent.found:,} contacts match.")
    else:
        typer.echo(
            f"{sent.queued:,} of {sent.found:,} contacts were queued for {destination}; {sent.already:,} were queued "
            f"already, {sent.suppressed:,} are suppressed, {sent.unreachable:,} have neither an email address nor a "
            "phone number."
        )
    raise typer.Exit(0 if sent.queued or (preview and sent.found) else 1)


async def _deliver(
    name: str, where: list[str] | None, search: UUID | None, preview: bool, tenant: str
) -> "DeliveryCounts":
    from scrapersky.actions import curation
    from scrapersky.store.deliveries import deliveries, destinations
    from scrapersky.store.listing.resources import CONTACTS

    filters = parse_filters(CONTACTS, where, search)
    async with opened() as application:
        actor = await cli_actor(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            destination_id = (await destinations.by_name(session, actor.tenant_id, name)).id
            ids = await curation.ids_of(session, CONTACTS, actor.tenant_id, filters, MAX_CONTACTS)
        if preview:
            return deliveries.DeliveryCounts(len(ids))
        sent = deliveries.DeliveryCounts()
        for start in range(0, len(ids), CHUNK):
            async with application.database.session(actor.tenant_id) as session:
                sent += await deliveries.send(session, actor, destination_id, ids[start : start + CHUNK])
        return sent
