"""`scrapersky campaign`: many searches with one progress, one budget and one file."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scrapersky.cli.search import NewName, SearchId, print_search, read_search, rename_search, status_of, title_of
from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json, print_list, print_sentence, print_table

if TYPE_CHECKING:
    from uuid import UUID

    from scrapersky.store.searches.snapshot import ProgressSnapshot

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

LISTED = (*("id", "name", "text", "area", "budget_cents", "cost_cents", "cancelled_by", "created_at", "updated_at"),)


@group.callback()
def campaign() -> None:
    """List, show, stop, continue and rename campaigns: many searches with one budget and one file.

    `scrapersky find --queries FILE` makes one; docs/campaigns.md describes them.

    Example: scrapersky campaign show 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa

    Example: scrapersky campaign continue 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --budget 40

    Exit codes: 0 success, 1 there is no campaign, 2 wrong usage, unknown id, or database error.
    """


@group.command("list")
def list_(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of campaigns.")] = 50,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """List the campaigns of a tenant, the latest changed first."""
    rows = run_async(_list(limit, tenant))
    print_list(
        rows,
        as_json,
        ["id", "campaign", "status", "done#", "cost#"],
        lambda row: (
            *(row["id"], title_of(row), row["status"]),
            *(f"{row['share_done']:.0%}", f"{row['cost_cents'] / 100:.2f}"),
        ),
        "There is no campaign. `scrapersky find --queries FILE` makes one.",
    )


@group.command()
def show(
    campaign_id: SearchId,
    queries: Annotated[bool, typer.Option("--queries", help="List its searches, too.")] = False,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Show one campaign: its searches by state, the rows of each step, what was found, and what it costs."""
    row_id = parse_ids([campaign_id])[0]
    found = run_async(_show(row_id, queries, tenant))
    if as_json:
        print_json(found)
        return
    print_search(found, "campaign")
    counts = found["searches"]
    parts = [
        f"{counts[name]} {name}" for name in ("waiting", "working", "completed", "skipped", "failed") if counts[name]
    ]
    found_rows = f"{counts['places']:,} places, {counts['businesses']:,} businesses"
    print_sentence(f"{counts['searches']:,} searches: {', '.join(parts) or 'none'}; {found_rows}.")
    if counts["stopped_by_budget"]:
        print_sentence(
            f"The budget ended before {counts['stopped_by_budget']:,} searches were complete. "
            f"`scrapersky campaign continue {row_id} --budget MONEY` continues them."
        )
    if queries:
        cells = [
            (
                title_of(one),
                one["place_search_status"],
                one["result_count"],
                one["place_search_error"] or one["notes"] or "",
            )
            for one in found["queries"]
        ]
        print_table(["search", "status", "places#", "reason"], cells)


@group.command()
def stop(campaign_id: SearchId, tenant: TenantName = DEFAULT_TENANT) -> None:
    """Stop a campaign as a whole: withdraw its waiting work. Rows in flight are finished, and nothing is lost."""
    withdrawn = run_async(_stop(parse_ids([campaign_id])[0], tenant))
    typer.echo(f"{sum(withdrawn.values()):,} waiting rows were withdrawn. `campaign continue {campaign_id}` goes on.")


@group.command("continue")
def continue_(
    campaign_id: SearchId,
    budget: Annotated[
        float | None, typer.Option(min=0, help="What it may cost in all.", show_default="as before")
    ] = None,
    tenant: TenantName = DEFAULT_TENANT,
) -> None:
    """Continue a campaign that was stopped, or whose budget ended; workers go on with it at once."""
    counts, waiting = run_async(_continue(parse_ids([campaign_id])[0], budget, tenant))
    if waiting:
        rows = "1 row waits" if waiting == 1 else f"{waiting:,} rows wait"
        searches = f"{counts.waiting:,} of its {counts.searches:,} searches among them"
        typer.echo(f"{rows}, {searches}. A `scrapersky worker` or `serve` processes them.")
    else:
        typer.echo("No row waits: nothing is left to do.")


@group.command()
def rename(campaign_id: SearchId, name: NewName, tenant: TenantName = DEFAULT_TENANT) -> None:
    """Give a campaign a name for people; an empty one removes it."""
    run_async(rename_search(parse_ids([campaign_id])[0], name, tenant))


async def _list(limit: int, tenant: str) -> list[dict[str, Any]]:
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import CAMPAIGNS
    from scrapersky.store.searches import snapshot

    async with tenant_session(tenant) as (_, session, actor):
        page = await paginate.page(
            session, CAMPAIGNS, actor.tenant_id, LISTED, {}, sort=paginate.Sort("updated_at"), limit=limit
        )
        counted = await snapshot.of_list(session, [row.id for row, _ in page])
    rows = [{name: getattr(row, name) for name in LISTED} for row, _ in page]
    return [{**row, **_progress(row, counted.get(row["id"]))} for row in rows]


def _progress(row: dict[str, Any], counted: "ProgressSnapshot | None") -> dict[str, Any]:
    """Return the status of a campaign and the share of its rows that is done, as they were last counted."""
    is_done, share = (counted.is_done, counted.share_done) if counted else (False, 0.0)
    return {"status": status_of({**row, "is_done": is_done}), "share_done": round(share, 3)}


async def _show(campaign_id: "UUID", queries: bool, tenant: str) -> dict[str, Any]:
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import CAMPAIGNS
    from scrapersky.store.searches import campaigns

    async with tenant_session(tenant) as (_, session, actor):
        await paginate.get(session, CAMPAIGNS, actor.tenant_id, campaign_id)
        more: dict[str, Any] = {"searches": vars(await campaigns.counts(session, campaign_id))}
        if queries:
            more["queries"] = await campaigns.searches_of(session, campaign_id, limit=10_000)
    return {**await read_search(campaign_id, tenant), **more}


async def _stop(campaign_id: "UUID", tenant: str) -> dict[str, int]:
    from scrapersky.actions.searches.cancel_search import cancel
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import CAMPAIGNS

    async with tenant_session(tenant) as (_, session, actor):
        await paginate.get(session, CAMPAIGNS, actor.tenant_id, campaign_id)
        return await cancel(session, actor, campaign_id)


async def _continue(campaign_id: "UUID", budget: float | None, tenant: str) -> tuple[Any, int]:
    """Continue the campaign; return its searches by state, and how many rows of it wait."""
    from scrapersky.actions.searches.campaigns import continue_campaign
    from scrapersky.store.searches import campaigns, progress

    async with tenant_session(tenant) as (_, session, actor):
        cents = round(budget * 100) if budget is not None else None
        await continue_campaign(session, actor, campaign_id, cents)
        steps = await progress.progress(session, campaign_id)
        return await campaigns.counts(session, campaign_id), sum(step.waiting for step in steps)
