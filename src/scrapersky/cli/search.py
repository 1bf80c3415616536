"""`scrapersky search`: the searches of a tenant, their progress and results."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.holds import describe_hold
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import (
    READING_WIDTH,
    format_age,
    print_fields,
    print_json,
    print_list,
    print_sentence,
    print_table,
)
from scrapersky.core.vocabularies import CAMPAIGN

if TYPE_CHECKING:
    from uuid import UUID

    from scrapersky.store.searches.changes import RunChanges

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

SearchId = Annotated[str, typer.Argument(metavar="ID", help="The id, as in the list.")]
NewName = Annotated[str, typer.Argument(metavar="NAME", help="The name.")]
LISTED = (
    *("id", "name", "text", "area", "provider", "result_limit", "place_search_status", "place_search_error"),
    *("result_count", "cost_cents", "budget_cents", "created_at", "updated_at"),
)
SHOWN = (*LISTED, "area_found", "call_count", "stopped_by_budget", "notes", "cancelled_by", "rules")


@group.callback()
def search() -> None:
    """List searches, show the progress and the results of one, compare its runs, cancel or rename it.

    Example: scrapersky search list --status Error

    Example: scrapersky search show 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa

    Example: scrapersky search diff 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa

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
    print_list(
        rows,
        as_json,
        ["id", "search", "provider", "status", "results#"],
        lambda row: (row["id"], title_of(row), row["provider"], row["place_search_status"], row["result_count"]),
        "There is no search. `scrapersky find` makes one.",
    )


@group.command()
def show(
    search_id: SearchId,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Show one search: the rows of each step, what they wait for, why rows were left out, and what was found."""
    found = run_async(read_search(parse_ids([search_id])[0], tenant))
    if as_json:
        print_json(found)
    else:
        print_search(found)


@group.command()
def runs(search_id: SearchId, tenant: TenantName = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """List the runs of a search or campaign, the latest first, with what was new, gone and changed in each."""
    found = run_async(_runs(parse_ids([search_id])[0], tenant))
    if as_json:
        print_json(found)
        return
    cells = [
        (run["number"], f"{run['began_at']:%Y-%m-%d %H:%M}", run["state"], *_run_numbers(run["counts"]))
        for run in found
    ]
    print_table(["run#", "began (UTC)", "", "businesses: new, gone, changed", "contacts: new, gone, changed"], cells)


@group.command()
def diff(
    search_id: SearchId,
    former: Annotated[int | None, typer.Option("--from", help="The run before.", show_default="the one before")] = None,
    latter: Annotated[int | None, typer.Option("--to", help="The run after.", show_default="the latest")] = None,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Compare two runs of a search or campaign: businesses and contacts that are new, gone or changed."""
    found = run_async(_diff(parse_ids([search_id])[0], former, latter, tenant))
    if as_json:
        from dataclasses import asdict

        print_json(asdict(found))
        return
    from scrapersky.store.searches.changes import in_words

    under_way = " It is under way: rows are left." if found.is_open else ""
    print_sentence(f"Run {found.latter}, compared with run {found.former}.{under_way}")
    for noun, changes in (("Businesses", found.businesses), ("Contacts", found.contacts)):
        print_sentence(in_words(noun, changes, found.why_unknown))
        for kind, names in changes.examples.items():
            more = {"new": changes.new, "gone": changes.gone or 0, "changed": changes.changed}[kind] - len(names)
            print_sentence(f"  {kind}: {', '.join(names)}{f' and {more:,} more' if more else ''}")


@group.command()
def cancel(
    search_id: SearchId,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Cancel a search: withdraw its waiting work. Rows in flight are finished; the same request continues it."""
    withdrawn = run_async(_cancel(parse_ids([search_id])[0], tenant))
    if as_json:
        print_json({"withdrawn": withdrawn})
    else:
        typer.echo(f"{sum(withdrawn.values()):,} waiting rows were withdrawn.")


@group.command()
def rename(search_id: SearchId, name: NewName, tenant: TenantName = DEFAULT_TENANT) -> None:
    """Give a search a name for people; an empty one removes it."""
    run_async(rename_search(parse_ids([search_id])[0], name, tenant))


def _run_numbers(counts: Mapping[str, Any] | None) -> tuple[str, str]:
    if counts is None:
        return "", ""
    businesses, contacts = (
        ", ".join("?" if counts[noun][kind] is None else str(counts[noun][kind]) for kind in ("new", "gone", "changed"))
        for noun in ("businesses", "contacts")
    )
    return businesses, contacts


async def _runs(search_id: "UUID", tenant: str) -> list[dict[str, Any]]:
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import SEARCHES
    from scrapersky.store.searches import runs

    columns = ("number", "began_at", "ended_at", "is_complete", "is_whole", "counts")
    async with tenant_session(tenant) as (_, session, actor):
        await paginate.get(session, SEARCHES, actor.tenant_id, search_id)
        found = await runs.of_search(session, search_id)
        return [{**{name: getattr(run, name) for name in columns}, "state": runs.state_of(run)} for run in found]


async def _diff(search_id: "UUID", former: int | None, latter: int | None, tenant: str) -> "RunChanges":
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import SEARCHES
    from scrapersky.store.searches import changes, runs

    async with tenant_session(tenant) as (_, session, actor):
        await paginate.get(session, SEARCHES, actor.tenant_id, search_id)
        first, second, known = await runs.pair(session, search_id, former, latter)
        return await changes.between(session, search_id, first, second, known)


async def _cancel(search_id: "UUID", tenant: str) -> dict[str, int]:
    from scrapersky.actions.searches.cancel_search import cancel

    async with tenant_session(tenant) as (_, session, actor):
        return await cancel(session, actor, search_id)


async def rename_search(search_id: "UUID", name: str, tenant: str) -> None:
    """Rename a search or a campaign."""
    from scrapersky.actions.searches import campaigns

    async with tenant_session(tenant) as (_, session, actor):
        await campaigns.rename(session, actor, search_id, name.strip() or None)


async def _list(given: dict[str, Any], limit: int, tenant: str) -> list[dict[str, Any]]:
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import SEARCHES
    from scrapersky.store.searches.campaigns import place_counts

    filters = {name: value for name, value in given.items() if value is not None}
    async with tenant_session(tenant) as (_, session, actor):
        sort = paginate.Sort("updated_at")
        page = await paginate.page(session, SEARCHES, actor.tenant_id, LISTED, filters, sort=sort, limit=limit)
        places = await place_counts(session, [row.id for row, _ in page if row.provider == CAMPAIGN])
    rows = [{name: getattr(row, name) for name in LISTED} for row, _ in page]
    return [{**row, "result_count": places.get(row["id"], row["result_count"])} for row in rows]


async def read_search(search_id: "UUID", tenant: str) -> dict[str, Any]:
    """Read a search or campaign with its progress."""
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


def title_of(row: Mapping[str, Any]) -> str:
    """Return what people call the search."""
    from scrapersky.store.searches.campaigns import title_of

    text = f"{row['text']} in {row['area']}" if row["area"] else title_of(row["text"])
    return f"{row['name']}: {text}" if row.get("name") else text


def status_of(campaign: Mapping[str, Any]) -> str:
    """Return the status of a campaign, whose own row is never queued."""
    return "stopped" if campaign["cancelled_by"] else "complete" if campaign["is_done"] else "under way"


def print_search(found: dict[str, Any], noun: str = "search") -> None:
    """Print one search or campaign with its steps."""
    cost = f"{found['cost_cents'] / 100:.2f} in the provider's currency, {found['call_count']} calls"
    print_fields(
        {
            noun: title_of(found),
            "area": "; ".join(area["name"] for area in found["area_found"] or ()),
            "provider": found["provider"],
            "changed": f"{format_age(found['updated_at'])} ago",
            "status": found["place_search_status"] if noun == "search" else status_of(found),
            "error": found["place_search_error"],
            "notes": found["notes"],
            "cancelled by": found["cancelled_by"],
            "cost": cost if found["cost_cents"] else None,
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
        print_table(["step", "", "reason", "rows#"], cells, pipe_width=READING_WIDTH)
    for sentence in found["held"]:
        print_sentence(sentence)
    if found["found"]["contacts"]:
        print_sentence(f"`scrapersky export leads --search {found['id']}` writes the file.")
