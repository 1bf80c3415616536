"""`scrapersky retry NAME`: retry dead rows."""

from typing import Annotated
from uuid import UUID

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, RowIds, TenantName, WorkflowName
from scrapersky.cli.shared.output import print_json
from scrapersky.core.errors import BadRequest, Conflict


class NotDead(Conflict):
    """Only rows in Error or Skipped can be retried."""


def retry(
    name: WorkflowName,
    ids: RowIds = None,
    every: Annotated[bool, typer.Option("--all", help="All dead letters of this workflow, instead of ids.")] = False,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Retry dead rows, with their attempts reset.

    With ids, either all rows are retried or none: one row that is not dead is an error.

    Example: scrapersky retry deep_scan --all

    Exit codes: 0 rows will be retried, 1 there were none, 2 wrong usage, a row that is not dead, or database error.
    """
    if bool(ids) == every:
        raise BadRequest("Give either the ids of rows or --all.")
    count = run_async(_retry(name, parse_ids(ids), tenant))
    if as_json:
        print_json({"workflow": name, "retried": count})
    else:
        typer.echo(f"{name}: {count} will be retried." if count else f"{name}: there is no dead letter.")
    raise typer.Exit(0 if count else 1)


async def _retry(name: str, ids: list[UUID], tenant: str) -> int:
    from scrapersky.store.operations import dead_letters, queue_rows

    async with opened() as application:
        workflow, actor = application.pipeline[name], await cli_actor(application, tenant)
        if not ids:
            filters = dead_letters.DeadLetterQuery(queue=application.pipeline.queues[name].name)
            return await dead_letters.move_matching(application.database, application.pipeline, actor, filters, "retry")
        async with application.database.session(actor.tenant_id) as session:
            result = await queue_rows.retry_rows(session, workflow, actor, ids)
            if result.refused:
                refused = ", ".join(f"{row_id} is {state}" for row_id, state in result.refused.items())
                raise NotDead(f"{refused}. Nothing was changed.")
            return len(result.retried)
