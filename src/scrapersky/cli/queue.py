"""`scrapersky queue NAME ID...`: queue rows by id or by their status."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import UUID

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, RowIds, TenantName, WorkflowName
from scrapersky.cli.shared.output import print_json
from scrapersky.core.errors import BadRequest

if TYPE_CHECKING:
    from scrapersky.bootstrap import Application
    from scrapersky.store.audit.record import Actor
    from scrapersky.store.operations.queue_rows import AnyWorkflow, QueuedRows

CHUNK = 1000  # rows queued in one transaction


def queue(
    name: WorkflowName,
    ids: RowIds = None,
    where_status: Annotated[
        Literal["New", "Completed", "Skipped", "Error"] | None,
        typer.Option("--where-status", case_sensitive=False, help="All rows with this status, instead of ids."),
    ] = None,
    priority: Annotated[
        int | None, typer.Option(min=0, max=100, help="Each point equals ten minutes of waiting.")
    ] = None,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Queue rows of a workflow; workers process them at once.

    Examples: scrapersky queue deep_scan 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --priority 5

    scrapersky queue domain_extraction --where-status New

    Exit codes: 0 all rows are queued, 1 there were none or some ids are unknown, 2 wrong usage or database error.
    """
    if bool(ids) == (where_status is not None):
        raise BadRequest("Give either the ids of rows or --where-status.")
    result = run_async(_queue(name, parse_ids(ids), where_status, priority, tenant))
    if as_json:
        print_json({"workflow": name, **asdict(result)})
    else:
        typer.echo(f"{name}: {result.queued} queued, {result.already} queued already, {result.unknown} unknown.")
    raise typer.Exit(1 if result.unknown or not (result.queued or result.already) else 0)


async def _queue(name: str, ids: list[UUID], status: str | None, priority: int | None, tenant: str) -> "QueuedRows":
    from scrapersky.store.operations import queue_rows

    async with opened() as application:
        workflow, actor = application.pipeline[name], await cli_actor(application, tenant)
        if status is not None:
            return await _queue_all(application, workflow, actor, status, priority)
        async with application.database.session(actor.tenant_id) as session:
            return await queue_rows.queue_rows(session, workflow, actor, ids, priority)


async def _queue_all(
    application: "Application", workflow: "AnyWorkflow", actor: "Actor", status: str, priority: int | None
) -> "QueuedRows":
    """Queue in chunks, ordered by id: a row that gets this status again meanwhile is not queued twice."""
    from scrapersky.core.vocabularies import Status
    from scrapersky.store.operations import queue_rows

    queued, after = 0, None
    while True:
        async with application.database.session(actor.tenant_id) as session:
            found = await queue_rows.items(
                session,
                workflow,
                actor.tenant_id,
                sections=queue_rows.sections_of([Status(status)]),
                after=after,
                limit=CHUNK,
            )
            if not found:
                return queue_rows.QueuedRows(queued, 0, 0)
            done = await queue_rows.queue_rows(session, workflow, actor, [item.id for item in found], priority)
        queued += done.queued
        after = found[-1].position
