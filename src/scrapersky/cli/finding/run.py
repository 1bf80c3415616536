"""One search from its request to its file."""

import sys
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.searches import campaigns, request_search, schedules
from scrapersky.actions.searches.campaigns import CampaignRequest
from scrapersky.actions.searches.request_search import RequestedSearch
from scrapersky.bootstrap import Application, open_application
from scrapersky.cli.finding.notification import Notification
from scrapersky.cli.finding.places import areas_in_words, located
from scrapersky.cli.finding.progress import FindProgress
from scrapersky.cli.finding.reconnect import (
    DatabaseLost,
    hide_connection_errors,
    release_abandoned_rows,
    with_reconnect,
)
from scrapersky.cli.finding.request import BadFindRequest, FindRequest
from scrapersky.cli.finding.summary import cost_json, cost_sentence, print_summary
from scrapersky.cli.finding.watch import IdleTimeout, watch_search
from scrapersky.cli.shared.application import cli_actor, configure_command_logs, keep_start_objects
from scrapersky.cli.shared.holds import describe_hold
from scrapersky.cli.shared.output import notice_if_slow, print_json
from scrapersky.core.database import is_connection_error, is_statement_timeout
from scrapersky.core.settings import Environment
from scrapersky.core.vocabularies import Verdict
from scrapersky.maintenance.complete_runs import complete_runs
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.exported import recorded_leads
from scrapersky.store.leads.read import leads
from scrapersky.store.line import hidden_sites
from scrapersky.store.money import spending
from scrapersky.store.operations import controls
from scrapersky.store.searches import progress as search_progress
from scrapersky.store.searches import results, runs, snapshot
from scrapersky.store.searches.recurrence import Recurrence
from scrapersky.store.searches.request import OPEN, add_domains
from scrapersky.store.steps import STEPS

FIRST_STEP = STEPS[0].workflow
T = TypeVar("T")


async def run_find(request: FindRequest, as_json: bool) -> dict[str, Any]:
    """Open the application, find, and print the summary. Raises DatabaseLost."""
    if request.leads.is_standard_output and as_json:
        raise BadFindRequest("--json prints to standard output, as --out - does: choose a file.")
    environment = Environment()
    configure_command_logs(environment)
    if environment.source("SCRAPERSKY_LOG_LEVEL") == "default":
        hide_connection_errors()
    request.leads.file(request.own.names).discard()  # raises if it cannot be written, before the search
    with notice_if_slow("Starting the database…"):
        application = await open_application(environment)
    try:
        summary = await find_in(application, request)
    except Exception as error:
        if not is_connection_error(error):
            raise
        raise DatabaseLost(error) from None
    finally:
        await application.close()
    if as_json:
        print_json(summary)
    else:
        with redirect_stdout(sys.stderr) if request.leads.is_standard_output else nullcontext():
            print_summary(summary)
    return summary


async def find_in(application: Application, request: FindRequest) -> dict[str, Any]:
    """Request the search, run the engine until it is done or stopped, write the file, and return the summary."""
    request.leads.query(application.settings, ())  # raises for an unknown function, before the search
    keep_start_objects()
    application.web.start_parsers()  # the first page would wait for it
    if request.sites is None:
        request = replace(request, search=await located(application, request.search))
    actor = await cli_actor(application, request.tenant)
    notification = await Notification.find(application, actor.tenant_id, request.notify)
    released = await _release_abandoned(application)
    search, existed, cost = await _request(application, request, actor)
    progress = FindProgress(request.name or request.search.text, request.search.area, existed)
    said = (_where_shown(request, search.id), *areas_in_words(request.search), *await notification.request(search.id))
    for sentence in (*said, *released):
        progress.message(sentence)
    if request.repeats.times:
        progress.message(await _schedule(application, actor, search.id, request.repeats.times))
    if (expected := cost_sentence(cost)) and (request.campaign or search.place_search_status in OPEN):
        progress.message(expected)
    idle_timeout = IdleTimeout(request.idle_timeout_seconds)

    async def write() -> dict[str, Any]:
        return await with_reconnect(
            application, lambda: _write(application, request, actor.tenant_id, search.id), progress.message
        )

    async def end() -> None:
        await with_reconnect(application, lambda: _end_runs(application, actor.tenant_id, search.id), progress.message)
        for sentence in await notification.sent(search.id):
            progress.message(sentence)

    try:
        if request.campaign is None:  # the rows of a campaign belong to its searches: they take turns
            application.runtime.focus(actor.tenant_id, search.id)
        stopped = await watch_search(application, actor.tenant_id, search.id, progress, idle_timeout, end)
    except Exception as error:
        if not isinstance(error, DatabaseLost):
            await write()
            progress.message(f"The search ended with an error. {request.out} has what was found until then.")
        raise
    result = await write()
    return {
        "search": request.search.text,
        "area": request.search.area,
        "areas": [area.name for area in request.search.areas],
        "provider": request.search.provider,
        "search_id": search.id,
        "tenant_id": actor.tenant_id,
        "file": str(request.out),
        **result,
        "estimate": cost_json(cost),
        "seconds": round(progress.seconds, 1),
        "first_contact_seconds": progress.first_contact_seconds,
        "last_contact_seconds": progress.last_contact_seconds,
        "stopped": stopped,
        "continues": True,  # the same command continues with rows that are left
        "equal_lines": request.campaign.equal_lines if request.campaign else 0,
        "rejected_lines": request.rejected_lines,
    }


async def _request(application: Application, request: FindRequest, actor: Actor) -> RequestedSearch:
    if request.campaign is not None:
        return await _request_campaign(application, request.campaign.request, request.refresh, actor)
    cost = None if request.sites else await request_search.estimate(application.providers, request.search)
    async with application.database.session(actor.tenant_id) as session:
        if request.sites is None:
            requested = await request_search.request_search(session, actor, request.search, request.refresh, cost)
        else:
            requested = await request_search.request_completed(session, actor, request.search)
            await add_domains(session, requested.search, request.sites.found)
            if not requested.existed:
                await runs.begin(session, requested.search)
            elif request.refresh:
                await request_search.search_sites_again(session, actor, requested.search)
        if request.name:
            await campaigns.rename(session, actor, requested.search.id, request.name)
        return requested


async def _release_abandoned(application: Application) -> list[str]:
    """Release the rows of processes that were killed, and return a sentence if there were any."""
    released = await release_abandoned_rows(application)
    return [f"{released} rows of a process that was killed are processed again."] if released else []


def _where_shown(request: FindRequest, search_id: UUID) -> str:
    noun = "campaign" if request.campaign else "search"
    return f"The {noun} is {search_id}: `scrapersky {noun} show {search_id}` shows it from elsewhere."


async def _schedule(application: Application, actor: Actor, search_id: UUID, times: Recurrence) -> str:
    """Give the search its schedule, and return a sentence about it."""
    async with application.database.session(actor.tenant_id) as session:
        made, _ = await schedules.schedule_search(session, actor, search_id, times, application.providers)
        return (
            f"It is made again {times.words}, next at {made.next_run_at:%Y-%m-%d %H:%M} UTC, by a `scrapersky worker` "
            f"or `serve` that runs then. `scrapersky schedule remove {search_id}` ends this."
        )


async def _request_campaign(
    application: Application, request: CampaignRequest, refresh: bool, actor: Actor
) -> RequestedSearch:
    cost = await campaigns.estimate(application.providers, request)
    async with application.database.session(actor.tenant_id) as session:
        return await campaigns.request_campaign(session, actor, request, refresh, cost)


async def _end_runs(application: Application, tenant_id: UUID, search_id: UUID) -> None:
    """End the run of the search if no work is left, and those of the searches of a campaign: no worker may be there."""
    async with application.database.session(tenant_id) as session:
        open_runs = await runs.open_of(session, search_id)
        await snapshot.forget(session, [run.search_id for run in open_runs])
    await complete_runs(application.database, open_runs)


async def _write(application: Application, request: FindRequest, tenant_id: UUID, search_id: UUID) -> dict[str, Any]:
    """Write the file and return the counts of the search.

    An older file is kept if nothing was found; a search that was not made as a whole leaves no file without rows.
    """
    async with application.database.session(tenant_id) as session:
        steps = await _or_blank(session, search_progress.progress(session, search_id)) or search_progress.NOT_COUNTED
        shortcomings = await results.shortcomings(session, search_id)
        was_made = _was_made(steps, shortcomings)
        open_steps = [step.workflow for step in steps if step.open]
        query = request.leads.query(application.settings, (search_id,))
        own = request.own
        with request.leads.file(own.names) as file:
            # What the same command will write again is not recorded as exported.
            found = leads(session, query) if open_steps else recorded_leads(session, query, request.out.name)
            rows = await file.write(own.beside(session, tenant_id, found), keep_old=True, may_be_empty=was_made)
        reasons = await _or_blank(session, search_progress.top_reasons(session, search_id))
        waits = await _or_blank(session, search_progress.waits(session, search_id))
        return {
            "rows": rows,
            "kept": file.kept,
            "written": file.written,
            **await results.contact_counts(session, search_id),
            "hidden": await hidden_sites.of_search(session, search_id),
            "verdicts": _count(await results.verdicts(session, search_id)),
            "left": sum(step.open for step in steps),
            "waiting": [vars(wait) for wait in waits],
            "held": [describe_hold(hold) for hold in await controls.holds(session, open_steps)],
            **shortcomings,
            "bill": await spending.search_cost(session, search_id),
            "steps": search_progress.as_json(steps),
            "reasons": [reason._asdict() for reason in reasons],
        }


def _was_made(steps: Sequence[search_progress.StepCount], shortcomings: Mapping[str, Any]) -> bool:
    """Return whether the provider was searched as a whole; a search without rows is a result then."""
    failed = any(step.workflow == FIRST_STEP and (step.failed or step.skipped) for step in steps)
    return not failed and not shortcomings["stopped_by_budget"]


async def _or_blank(session: AsyncSession, rows: Awaitable[list[T]]) -> list[T]:
    """Return these rows; none if reading them takes longer than a statement may, for the file does not need them."""
    try:
        async with session.begin_nested():
            return await rows
    except DBAPIError as error:
        if not is_statement_timeout(error):
            raise
        return []


def _count(verdicts: Mapping[str, str | None]) -> dict[str, int]:
    """Count the addresses by verdict; `not verified` if there is none."""
    counts = Counter(verdict or "not verified" for verdict in verdicts.values())
    return {word: counts[word] for word in (*Verdict, "not verified") if counts[word]}
