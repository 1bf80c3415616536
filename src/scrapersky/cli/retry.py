"""`scrapersky retry NAME`: dead rows get another chance, afresh."""

from typing import Annotated
from uuid import UUID

import typer
import uvloop

from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.ids import row_ids
from scrapersky.cli.shared.output import print_json
from scrapersky.core.errors import BadRequest, Conflict
from scrapersky.store.accounts.tenants import DEFAULT
from scrapersky.store.operations import dead_letters, queue_rows
from scrapersky.store.operations.dead_letters import Filter


class NotDead(Conflict):
    """Only rows in Error or Skipped can be tried again."""


def retry(
    name: Annotated[str, typer.Argument(help="The workflow, such as deep_scan.")],
    ids: Annotated[list[str] | None, typer.Argument(help="The rows.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every dead letter of this workflow, instead of ids.")] = False,
    tenant: TenantName = DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Try dead rows again: their attempts start from nothing.

    With ids it is all or nothing: one row that is not dead, and none is touched.

    Example: scrapersky retry deep_scan --all

    Exit codes: 0 tried again, 1 there was nothing to try again, 2 wrong usage, a row that is not dead, or database.
    """
    if bool(ids) == every:
        raise BadRequest("Name either the ids of rows or --all, and not both.")
    count = uvloop.run(_retry(name, row_ids(ids), tenant))
    if as_json:
        print_json({"workflow": name, "retried": count})
    else:
        typer.echo(f"{name}: {count} will be tried again." if count else f"{name}: there is no dead letter.")
    raise typer.Exit(0 if count else 1)


async def _retry(name: str, ids: list[UUID], tenant: str) -> int:
    async with opened() as application:
        workflow, actor = application.pipeline[name], await acting(application, tenant)
        if not ids:
            wanted = Filter(queue=application.pipeline.queues[name].name)
            return await dead_letters.move_matching(application.database, application.pipeline, actor, wanted, "retry")
        async with application.database.session(actor.tenant_id) as session:
            done = await queue_rows.retry_rows(session, workflow, actor, ids)
            if done.refused:
                told = ", ".join(f"{row_id} is {state}" for row_id, state in done.refused.items())
                raise NotDead(f"{told}. Nothing was changed.")
            return len(done.retried)
