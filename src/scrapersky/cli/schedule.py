"""`scrapersky schedule`: when searches and campaigns are made again."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_fields, print_json, print_list
from scrapersky.cli.shared.schedule_options import Cron, Every, TimeZone

if TYPE_CHECKING:
    from uuid import UUID

    from scrapersky.models import Schedule
    from scrapersky.store.searches.recurrence import Recurrence

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

ScheduleId = Annotated[str, typer.Argument(metavar="ID", help="The id of the schedule, or of its search or campaign.")]
SearchId = Annotated[str, typer.Argument(metavar="ID", help="The id of the search or campaign.")]
SHOWN = (
    *("id", "search_id", "every_seconds", "cron", "time_zone", "next_run_at", "last_run_at", "last_outcome"),
    *("last_reason", "run_count", "paused_at", "paused_by", "created_at", "updated_at"),
)


@group.callback()
def schedule() -> None:
    """List, show, add, pause, resume and remove schedules: searches that are made again and again.

    A `worker` or `serve` process makes the runs. Those that were missed while none was running are made up by one run.

    Example: scrapersky schedule add 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --cron "0 6 * * 1" --time-zone Europe/Helsinki

    Example: scrapersky schedule pause 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa

    Exit codes: 0 success, 1 there is no schedule, 2 wrong usage, unknown id, or database error.
    """


@group.command("list")
def list_(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of schedules.")] = 50,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """List the schedules of a tenant, the latest changed first."""
    rows = run_async(_list(limit, tenant))
    print_list(
        rows,
        as_json,
        ["search id", "search", "times", "next run", "runs#"],
        lambda row: (row["search_id"], row["search"], row["times"], _state(row), row["run_count"]),
        "There is no schedule. `scrapersky find … --every 1d` makes one.",
    )


@group.command()
def show(schedule_id: ScheduleId, tenant: TenantName = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """Show one schedule: its next run, and what became of the last one."""
    _print(run_async(_show(parse_ids([schedule_id])[0], tenant)), as_json)


@group.command()
def add(
    search_id: SearchId,
    every: Every = None,
    cron: Cron = None,
    time_zone: TimeZone = None,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Give a search or a campaign a schedule; one that it has is replaced."""
    from scrapersky.store.searches.recurrence import Recurrence

    times = Recurrence.parse(every, cron, time_zone)
    _print(run_async(_add(parse_ids([search_id])[0], times, tenant)), as_json)


@group.command()
def pause(schedule_id: ScheduleId, tenant: TenantName = DEFAULT_TENANT) -> None:
    """Pause a schedule: no further run is started. A run that has begun goes on."""
    run_async(_change("pause", parse_ids([schedule_id])[0], tenant))
    typer.echo(f"The schedule is paused. `scrapersky schedule resume {schedule_id}` resumes it.")


@group.command()
def resume(schedule_id: ScheduleId, tenant: TenantName = DEFAULT_TENANT) -> None:
    """Resume a paused schedule from its next time on. Runs of the pause are not made up."""
    found = run_async(_change("resume_schedule", parse_ids([schedule_id])[0], tenant))
    typer.echo(f"The next run is {_moment(found['next_run_at'])}.")


@group.command()
def remove(schedule_id: ScheduleId, tenant: TenantName = DEFAULT_TENANT) -> None:
    """Remove a schedule. Its search stays with what it has found."""
    run_async(_remove(parse_ids([schedule_id])[0], tenant))
    typer.echo("The schedule was removed.")


def _print(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    last = found["last_outcome"] and f"{_moment(found['last_run_at'])}: {found['last_outcome']}"
    print_fields(
        {
            "schedule": found["id"],
            "search": f"{found['search_id']} {found['search']}",
            "times": found["times"],
            "next run": _state(found),
            "last run": f"{last}. {found['last_reason'] or ''}".strip() if last else None,
            "runs": found["run_count"],
        }
    )


def _state(row: dict[str, Any]) -> str:
    return f"paused by {row['paused_by']}" if row["paused_at"] else _moment(row["next_run_at"])


def _moment(at: Any) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


async def _list(limit: int, tenant: str) -> list[dict[str, Any]]:
    from scrapersky.store.searches import schedules

    async with tenant_session(tenant) as (_, session, actor):
        rows = await schedules.with_searches(session, actor.tenant_id, limit)
        return [_as_json(row, search) for row, search in rows]


async def _show(row_id: "UUID", tenant: str) -> dict[str, Any]:
    from scrapersky.models import Search
    from scrapersky.store.searches import schedules

    async with tenant_session(tenant) as (_, session, actor):
        found = await schedules.find(session, actor.tenant_id, row_id)
        return _as_json(found, await session.get_one(Search, found.search_id))


async def _add(search_id: "UUID", times: "Recurrence", tenant: str) -> dict[str, Any]:
    from scrapersky.actions.searches.schedules import schedule_search
    from scrapersky.models import Search

    async with tenant_session(tenant) as (application, session, actor):
        made, _ = await schedule_search(session, actor, search_id, times, application.providers)
        return _as_json(made, await session.get_one(Search, search_id))


async def _change(action: str, row_id: "UUID", tenant: str) -> dict[str, Any]:
    from scrapersky.actions.searches import schedules
    from scrapersky.models import Search

    async with tenant_session(tenant) as (_, session, actor):
        changed = await getattr(schedules, action)(session, actor, row_id)
        return _as_json(changed, await session.get_one(Search, changed.search_id))


async def _remove(row_id: "UUID", tenant: str) -> None:
    from scrapersky.actions.searches import schedules

    async with tenant_session(tenant) as (_, session, actor):
        await schedules.remove(session, actor, row_id)


def _as_json(row: "Schedule", search: Any) -> dict[str, Any]:
    from scrapersky.cli.search import title_of
    from scrapersky.store.searches.schedules import recurrence_of

    title = title_of({"text": search.text, "area": search.area, "name": search.name})
    return {**{name: getattr(row, name) for name in SHOWN}, "times": recurrence_of(row).words, "search": title}
