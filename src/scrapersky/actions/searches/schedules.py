"""Schedule a search or a campaign, pause, resume and remove the schedule, and make the search again."""

from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.searches import campaigns, request_search
from scrapersky.actions.searches.request_search import SearchCost
from scrapersky.core.database import Database
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import CAMPAIGN, SITES
from scrapersky.models import Schedule, Search
from scrapersky.providers.base import Providers
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import SEARCHES
from scrapersky.store.searches import campaigns as stored_campaigns
from scrapersky.store.searches import schedules
from scrapersky.store.searches.recurrence import BadSchedule, Recurrence
from scrapersky.store.searches.request import OPEN
from scrapersky.store.searches.schedules import DueRun, Outcome, recurrence_of


async def schedule_search(
    session: AsyncSession, actor: Actor, search_id: UUID, times: Recurrence, providers: Providers
) -> tuple[Schedule, bool]:
    """Give a search or a campaign its schedule, or another one; return it, and whether it had one.

    Raises BadSchedule for a search that cannot be made again.
    """
    search: Search = await lists.get(session, SEARCHES, actor.tenant_id, search_id, lock=True)
    if search.provider not in (CAMPAIGN, SITES) and search.provider not in providers:
        raise BadSchedule(f"The provider {search.provider!r} is not configured, so the search cannot be repeated.")
    former = await schedules.of_search(session, search_id, lock=True)
    before = audited(former) if former else None
    schedule = former or Schedule(tenant_id=actor.tenant_id, search_id=search_id, created_by=actor.user_id)
    schedule.every_seconds, schedule.cron, schedule.time_zone = times.every_seconds, times.cron, times.time_zone
    schedule.paused_at = schedule.paused_by = None
    await _plan(session, schedule)
    action = "change" if former else "create"
    await audit.record(session, actor, action, f"schedule {schedule.id}", before, audited(schedule))
    return schedule, former is not None


async def pause(session: AsyncSession, actor: Actor, row_id: UUID) -> Schedule:
    """Pause a schedule by its id or that of its search; a run that has begun goes on."""
    schedule = await schedules.find(session, actor.tenant_id, row_id, lock=True)
    before = audited(schedule)
    if schedule.paused_at is None:
        schedule.paused_at, schedule.paused_by = await _now(session), actor.name
        await session.flush()
        await session.refresh(schedule)
    await audit.record(session, actor, "pause", f"schedule {schedule.id}", before, audited(schedule))
    return schedule


async def resume_schedule(session: AsyncSession, actor: Actor, row_id: UUID) -> Schedule:
    """Resume a paused schedule: its next run is its next time from now on; runs of the pause are not made up."""
    schedule = await schedules.find(session, actor.tenant_id, row_id, lock=True)
    before = audited(schedule)
    if schedule.paused_at is not None:
        schedule.paused_at = schedule.paused_by = None
        await _plan(session, schedule)
    await audit.record(session, actor, "resume", f"schedule {schedule.id}", before, audited(schedule))
    return schedule


async def remove(session: AsyncSession, actor: Actor, row_id: UUID) -> None:
    """Remove a schedule; its search stays with what it has found."""
    schedule = await schedules.find(session, actor.tenant_id, row_id, lock=True)
    await audit.record(session, actor, "remove", f"schedule {schedule.id}", audited(schedule))
    await session.delete(schedule)


async def start_run(database: Database, providers: Providers, run: DueRun) -> Outcome | None:
    """Make the search of a due run again, once: None if another process has started the run.

    The lock of the schedule, its next time and the queued search are one transaction. The provider is asked for the
    estimate before it, so that no connection is held meanwhile.
    """
    actor = Actor("schedule", run.tenant_id, role="curator", origin="schedule", user_id=database.system_user_id)
    reason: str | None
    try:
        cost = await _estimate(database, providers, actor, run)
        async with database.session(run.tenant_id) as session:
            if (schedule := await schedules.claim(session, run)) is None:
                return None
            reason = await _why_skipped(session, actor, run.search_id)
            if reason is None:
                await _make_again(session, actor, run.search_id, cost)
            outcome: Outcome = "started" if reason is None else "skipped"
            await schedules.settle(session, schedule, outcome, reason)
            return outcome
    except ScraperSkyError as error:  # a quota is reached, the provider is not configured any more
        reason = f"{error.title} {error}"
    async with database.session(run.tenant_id) as session:
        if (schedule := await schedules.claim(session, run)) is None:
            return None
        await schedules.settle(session, schedule, "refused", reason)
        return "refused"


async def _estimate(database: Database, providers: Providers, actor: Actor, run: DueRun) -> SearchCost:
    async with database.session(run.tenant_id) as session:
        search: Search = await lists.get(session, SEARCHES, actor.tenant_id, run.search_id)
        if search.provider in (CAMPAIGN, SITES):
            return SearchCost()
        request = await request_search.same_request(session, actor, run.search_id)
    return await request_search.estimate(providers, request)


async def _why_skipped(session: AsyncSession, actor: Actor, search_id: UUID) -> str | None:
    """Return why the search is not made again now; None if it is."""
    search: Search = await lists.get(session, SEARCHES, actor.tenant_id, search_id)
    if search.cancelled_by is not None:
        return f"{search.cancelled_by} cancelled the search. Continue it, or remove the schedule."
    is_open = search.place_search_status in OPEN
    if search.provider == CAMPAIGN:
        counts = await stored_campaigns.counts(session, search_id)
        is_open = bool(counts.waiting or counts.working)
    return "The run before is still searching." if is_open else None


async def _make_again(session: AsyncSession, actor: Actor, search_id: UUID, cost: SearchCost) -> None:
    search: Search = await lists.get(session, SEARCHES, actor.tenant_id, search_id)
    if search.provider == CAMPAIGN:
        await campaigns.repeat_campaign(session, actor, search_id)
    elif search.provider == SITES:
        await request_search.search_sites_again(session, actor, search)
    else:
        request = await request_search.same_request(session, actor, search_id)
        await request_search.request_search(session, actor, request, refresh=True, cost=cost)


async def _plan(session: AsyncSession, schedule: Schedule) -> None:
    """Set the next time from now on, by the clock of the database."""
    schedule.next_run_at = recurrence_of(schedule).next_after(await _now(session))
    session.add(schedule)
    await session.flush()
    await session.refresh(schedule)


async def _now(session: AsyncSession) -> Any:
    return (await session.execute(select(func.now()))).scalar_one()


def audited(schedule: Schedule) -> dict[str, Any]:
    """Return what the audit records of a schedule."""
    return {
        "search_id": str(schedule.search_id),
        "times": recurrence_of(schedule).words,
        "paused_by": schedule.paused_by,
    }
