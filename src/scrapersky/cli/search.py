"""`scrapersky search`: the searches of a tenant, their progress and results."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.holds import describe_hold
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import format_age, print_fields, print_json, print_sentence, print_table

if TYPE_CHECKING:
    from uuid import UUID

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

LISTED = (
    *("id", "text", "area", "provider", "result_limit", "place_search_status", "place_search_error"),
    *("result_count", "cost_cents", "budget_cents", "created_at", "updated_at"),
)
SHOWN = (*LISTED, "call_count", "stopped_by_budget", "notes", "cancelled_by", "rules")


@group.callback()
def search() -> None:
    """List searches, and show the progress and the results of one.

    Example: scrapersky search list --status Error

    Example: scrapersky search show 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa

    Exit codes: 0 success, 1 there is no search, 2 wrong usage, unknown id, or database error.
    """


@group.command("list")
def list_(
    provider: Annotated[str | None, typer.Option(help="Only searches of this provider.")] = None,
    status: Annotated[
        Literal["Queued", "Processing", "Completed", "Skipped", "Error"] | None,
        typer.Option(case_sensitive=False, help="Only searches with this status."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of searches.")] = 50,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """List the searches of a tenant, the latest changed first."""
    rows = run_async(_list({"provider": provider, "place_search_status": status}, limit, tenant))
    if as_json:
        print_json(rows)
    elif not rows:
        typer.echo("There is no search. `scrapersky find` makes one.")
    else:
        cells = [
            (row["id"], _title(row), row["provider"], row["place_search_status"], row["result_count"]) for row in rows
        ]
        print_table(["id", "search", "provider", "status", "places#"], cells)
    raise typer.Exit(0 if rows else 1)


@group.command()
def show(
    search_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the search, as in the list.")],
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Show one search: the rows of each step, what they wait for, why rows were left out, and what was found."""
    found = run_async(_show(parse_ids([search_id])[0], tenant))
    if as_json:
        print_json(found)
    else:
        _print(found)


async def _list(given: dict[str, Any], limit: int, tenant: str) -> list[dict[str, Any]]:
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import SEARCHES

    filters = {name: value for name, value in given.items() if value is not None}
    async with tenant_session(tenant) as (_, session, actor):
        sort = paginate.Sort("updated_at")
        page = await paginate.page(session, SEARCHES, actor.tenant_id, LISTED, filters, sort=sort, limit=limit)
    return [{name: getattr(row, name) for name in LISTED} for row, _ in page]


async def _show(search_id: "UUID", tenant: str) -> dict[str, Any]:
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import SEARCHES
    from scrapersky.store.operations import controls
    from scrapersky.store.searches import progress, results

    async with tenant_session(tenant) as (_, session, actor):
        row = await paginate.get(session, SEARCHES, actor.tenant_id, search_id)
        steps = await progress.progress(session, search_id)
        open_steps = [step.workflow for step in steps if step.open]
        return {
            **{name: getattr(row, name) for name in SHOWN},
            "is_done": progress.is_done(steps),
            "steps": progress.as_json(steps),
            "waiting": [vars(wait) for wait in await progress.waits(session, search_id)],
            "held": [describe_hold(hold) for hold in await controls.holds(session, open_steps)],
            "reasons": [reason._asdict() for reason in await progress.top_reasons(session, search_id)],
            "found": await results.contact_counts(session, search_id),
        }


def _title(row: dict[str, Any]) -> str:
    return f"{row['text']} in {row['area']}" if row["area"] else str(row["text"])


def _print(found: dict[str, Any]) -> None:
    cost = f"{found['cost_cents'] / 100:.2f} in {found['call_count']} calls" if found["cost_cents"] else None
    print_fields(
        {
            "search": _title(found),
            "provider": found["provider"],
            "changed": f"{format_age(found['updated_at'])} ago",
            "status": found["place_search_status"],
            "error": found["place_search_error"],
            "notes": found["notes"],
            "cancelled by": found["cancelled_by"],
            "cost": cost,
            "found": ", ".join(f"{count} {name}" for name, count in found["found"].items()),
        }
    )
    counts = ("waiting", "working", "completed", "skipped", "failed")
    print_table(
        ["step", *(f"{name}#" for name in counts)],
        [(name, *(step[count] for count in counts)) for name, step in found["steps"].items()],
    )
    if found["reasons"]:
        cells = [(one["step"], one["status"].lower(), one["reason"], one["rows"]) for one in found["reasons"]]
        print_table(["step", "", "reason", "rows#"], cells)
    for sentence in found["held"]:
        print_sentence(sentence)
    if found["found"]["contacts"]:
        print_sentence(f"`scrapersky export leads --search {found['id']}` writes the file.")
