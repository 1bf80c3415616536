"""`scrapersky queue NAME ID...`: rows into a queue, by id or by the state they are in."""

from dataclasses import asdict
from typing import Annotated, Literal
from uuid import UUID

import typer
import uvloop

from scrapersky.bootstrap import Application
from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.ids import row_ids
from scrapersky.cli.shared.output import print_json
from scrapersky.core.errors import BadRequest
from scrapersky.core.vocabularies import Status
from scrapersky.store.accounts.tenants import DEFAULT
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations import queue_rows
from scrapersky.store.operations.queue_rows import AnyWorkflow, Queued

CHUNK = 1000  # rows queued in one transaction


def queue(
    name: Annotated[str, typer.Argument(help="The workflow, such as deep_scan.")],
    ids: Annotated[list[str] | None, typer.Argument(help="The rows.")] = None,
    where_status: Annotated[
        Literal["New", "Completed", "Skipped", "Error"] | None,
        typer.Option("--where-status", case_sensitive=False, help="Every row in this state, instead of ids."),
    ] = None,
    priority: Annotated[
        int | None, typer.Option(min=0, max=100, help="Each step is worth ten minutes of waiting.")
    ] = None,
    tenant: TenantName = DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Queue rows of a workflow; workers start on them at once.

    Examples: scrapersky queue deep_scan 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --priority 5

    scrapersky queue domain_extraction --where-status New

    Exit codes: 0 all rows are in the queue, 1 there were none or some ids are unknown, 2 wrong usage or database.
    """
    if bool(ids) == (where_status is not None):
        raise BadRequest("Name either the ids of rows or --where-status, and not both.")
    done = uvloop.run(_queue(name, row_ids(ids), where_status, priority, tenant))
    if as_json:
        print_json({"workflow": name, **asdict(done)})
    else:
        typer.echo(f"{name}: {done.queued} queued, {done.already} in the queue already, {done.unknown} unknown.")
    raise typer.Exit(1 if done.unknown or not (done.queued or done.already) else 0)


async def _queue(name: str, ids: list[UUID], status: str | None, priority: int | None, tenant: str) -> Queued:
    async with opened() as application:
        workflow, actor = application.pipeline[name], await acting(application, tenant)
        if status is not None:
            return await _queue_all(application, workflow, actor, Status(status), priority)
        async with application.database.session(actor.tenant_id) as session:
            return await queue_rows.queue_rows(session, workflow, actor, ids, priority)


async def _queue_all(
    application: Application, workflow: AnyWorkflow, actor: Actor, status: Status, priority: int | None
) -> Queued:
    """Chunk by chunk in the order of ids: a row that comes back to this state meanwhile is not queued again."""
    queued, after = 0, None
    while True:
        async with application.database.session(actor.tenant_id) as session:
            found = await queue_rows.items(session, workflow, actor.tenant_id, status=status, after=after, limit=CHUNK)
            if not found:
                return Queued(queued, 0, 0)
            done = await queue_rows.queue_rows(session, workflow, actor, [item.id for item in found], priority)
        queued += done.queued
        after = found[-1].position
