"""`scrapersky dead-letters`: rows that failed for good; list, show, retry and drop them."""

from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async, tenant_session
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import format_age, print_fields, print_json, print_table
from scrapersky.core.errors import BadRequest

if TYPE_CHECKING:
    from scrapersky.engine.pipeline import Pipeline
    from scrapersky.models import DeadLetter
    from scrapersky.store.operations.dead_letters import DeadLetterQuery

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

Action = Literal["retry", "drop"]
Filters = tuple[str | None, str | None, str | None]  # workflow, error type, beginning of the message
MESSAGE_LENGTH = 60  # characters of a message in the list; `show` prints all of it

LetterIds = Annotated[list[str] | None, typer.Argument(help="The ids of dead letters, as in the list.")]
Workflow = Annotated[str | None, typer.Option(metavar="NAME", help="Only of this workflow.")]
ErrorType = Annotated[str | None, typer.Option(help="Only of this type, such as TimedOut.")]
Text = Annotated[str | None, typer.Option(help="Only messages that begin with this text.")]
Every = Annotated[bool, typer.Option("--all", help="All that match the options, instead of ids.")]
Preview = Annotated[bool, typer.Option("--preview", help="With --all: only count them.")]


@group.callback()
def dead_letters() -> None:
    """List, show, retry and drop dead letters: rows that failed for good.

    A retried row gets new attempts. A dropped one is marked Skipped, with the name of the user and the last error.

    Example: scrapersky dead-letters list --workflow deep_scan

    Example: scrapersky dead-letters retry --all --error-type TimedOut --preview

    Exit codes: 0 success, 1 there is none, or some ids are unknown, 2 wrong usage, unknown name, or database error.
    """


@group.command("list")
def list_(
    workflow: Workflow = None,
    error_type: ErrorType = None,
    text: Text = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of dead letters.")] = 50,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """List dead letters, the latest first."""
    total, letters = run_async(_list((workflow, error_type, text), limit, tenant))
    if as_json:
        print_json({"total": total, "dead_letters": letters})
    elif not letters:
        typer.echo("There is no dead letter.")
    else:
        print_table(["id", "workflow", "failed", "error"], [_cells(letter) for letter in letters])
        typer.echo(f"{len(letters)} of {total}. `scrapersky dead-letters show ID` prints the whole message.")
    raise typer.Exit(0 if letters else 1)


@group.command()
def show(
    letter_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the dead letter, as in the list.")],
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Show one dead letter with its whole message."""
    letter = run_async(_show(parse_ids([letter_id])[0], tenant))
    if as_json:
        print_json(letter)
    else:
        print_fields(letter)


@group.command()
def retry(
    ids: LetterIds = None,
    every: Every = False,
    workflow: Workflow = None,
    error_type: ErrorType = None,
    text: Text = None,
    preview: Preview = False,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Queue the rows again, with new attempts; workers process them at once."""
    _move_and_report("retry", ids, every, (workflow, error_type, text), preview, tenant, as_json)


@group.command()
def drop(
    ids: LetterIds = None,
    every: Every = False,
    workflow: Workflow = None,
    error_type: ErrorType = None,
    text: Text = None,
    preview: Preview = False,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Give the rows up: they are marked Skipped, and their dead letters are deleted."""
    _move_and_report("drop", ids, every, (workflow, error_type, text), preview, tenant, as_json)


def _move_and_report(
    action: Action, ids: list[str] | None, every: bool, filters: Filters, preview: bool, tenant: str, as_json: bool
) -> None:
    if bool(ids) == every:
        raise BadRequest(
            "Give either the ids of dead letters, as `scrapersky dead-letters list` prints them, or --all."
        )
    if ids and (preview or any(value is not None for value in filters)):
        raise BadRequest("--workflow, --error-type, --text and --preview need --all, not ids.")
    result = run_async(_move(action, parse_ids(ids), filters, preview, tenant))
    if as_json:
        print_json(result)
    elif preview:
        typer.echo(f"{result['matched']} dead letters match. Nothing was changed.")
    else:
        effect = "will be retried" if action == "retry" else "dropped"
        typer.echo(f"{result['done']} {effect}." if result["done"] else "There is no such dead letter.")
        for letter_id, state in result["refused"].items():
            typer.echo(f"{letter_id} is {state}.", err=True)
    raise typer.Exit(1 if result["refused"] or not result["matched" if preview else "done"] else 0)


async def _list(filters: Filters, limit: int, tenant: str) -> tuple[int, list[dict[str, Any]]]:
    from scrapersky.store.operations import dead_letters as letters

    async with tenant_session(tenant) as (application, session, actor):
        selection = _selection(application.pipeline, filters)
        total = await letters.count(session, actor.tenant_id, selection)
        found = await letters.page(session, actor.tenant_id, selection, limit=limit)
        return total, [_as_dict(application.pipeline, letter) for letter in found]


async def _show(letter_id: UUID, tenant: str) -> dict[str, Any]:
    from scrapersky.store.operations import dead_letters as letters

    async with tenant_session(tenant) as (application, session, actor):
        return _as_dict(application.pipeline, await letters.get(session, actor.tenant_id, letter_id))


async def _move(action: Action, ids: list[UUID], filters: Filters, preview: bool, tenant: str) -> dict[str, Any]:
    from scrapersky.store.operations import dead_letters as letters

    async with opened() as application:
        database, pipeline, actor = application.database, application.pipeline, await cli_actor(application, tenant)
        selection = _selection(pipeline, filters)
        async with database.session(actor.tenant_id) as session:
            if ids:
                moved = await letters.move(session, pipeline, actor, ids, action)
                refused = {str(letter_id): state for letter_id, state in moved.refused.items()}
                return {"matched": len(ids), "done": len(moved.done), "refused": refused}
            matched = await letters.count(session, actor.tenant_id, selection)
        done = 0 if preview else await letters.move_matching(database, pipeline, actor, selection, action)
        return {"matched": matched, "done": done, "refused": {}}


def _selection(pipeline: "Pipeline", filters: Filters) -> "DeadLetterQuery":
    """Return the filters as the store expects them. Raises UnknownWorkflow."""
    from scrapersky.store.operations.dead_letters import DeadLetterQuery

    workflow, error_type, text = filters
    queue = pipeline.queues[pipeline[workflow].name].name if workflow is not None else None
    return DeadLetterQuery(queue, error_type, text)


def _as_dict(pipeline: "Pipeline", letter: "DeadLetter") -> dict[str, Any]:
    workflow = pipeline.by_queue(letter.queue)
    return {
        "id": letter.id,
        "workflow": workflow.name if workflow else None,
        "row_id": letter.row_id,
        "failed_at": letter.failed_at,
        "attempts": letter.attempts,
        "error_type": letter.error_type,
        "message": letter.message,
    }


def _cells(letter: dict[str, Any]) -> list[object]:
    message = letter["message"]
    return [
        letter["id"],
        letter["workflow"] or "-",
        f"{format_age(letter['failed_at'])} ago",
        f"{letter['error_type']}: {message[:MESSAGE_LENGTH]}{'…' if len(message) > MESSAGE_LENGTH else ''}",
    ]
