"""One search from its wish to its file: asked for, worked on, watched, written."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from scrapersky.actions import request_search
from scrapersky.actions.request_search import RequestedSearch
from scrapersky.bootstrap import Application, open_application
from scrapersky.cli.finding.estimate import cost_json, cost_sentence
from scrapersky.cli.finding.idle_timeout import DEFAULT_SECONDS, Patience
from scrapersky.cli.finding.progress import FindProgress
from scrapersky.cli.finding.reconnect import gone, patiently, say_it_once, take_over
from scrapersky.cli.finding.request import FindRequest
from scrapersky.cli.finding.watch import work
from scrapersky.cli.shared.actor import acting
from scrapersky.cli.shared.application import quiet_logs
from scrapersky.cli.shared.output import print_json
from scrapersky.cli.shared.slow_notice import said_if_slow
from scrapersky.core.database import is_connection_error
from scrapersky.core.settings import Environment
from scrapersky.core.vocabularies import Verdict
from scrapersky.destinations.files import LeadFile
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.read import Per, columns_of, leads
from scrapersky.store.money import spending
from scrapersky.store.searches import progress as search_progress
from scrapersky.store.searches import results
from scrapersky.store.searches.request import OPEN, add_domains


async def run_find(
    wish: FindRequest, out: Path, per: str, tenant: str, refresh: bool, as_json: bool, patience: float = DEFAULT_SECONDS
) -> dict[str, Any]:
    """Open the house, find, and say what came of it."""
    environment = Environment()
    quiet_logs(environment)
    if environment.source("SCRAPERSKY_LOG_LEVEL") == "default":
        say_it_once()
    kind = cast(Per, per)
    LeadFile(out, list(columns_of(kind))).discard()  # a file that cannot be written is better known now
    with said_if_slow("Starting the database…"):
        application = await open_application(environment)
    try:
        summary = await find_in(application, wish, out, kind, tenant, refresh, patience)
    except Exception as error:
        if not is_connection_error(error):
            raise
        raise gone(error) from None
    finally:
        await application.close()
    progress: FindProgress = summary.pop("progress")
    if as_json:
        print_json(summary)
    else:
        progress.summarise(summary)
    return summary


async def find_in(
    application: Application,
    wish: FindRequest,
    out: Path,
    per: Per,
    tenant: str,
    refresh: bool,
    patience: float = DEFAULT_SECONDS,
) -> dict[str, Any]:
    """Ask, work until nothing is left or Ctrl-C, and write the file; what came of it."""
    actor = await acting(application, tenant)
    freed = await take_over(application)
    search, known, cost = await _request(application, wish, actor, refresh)
    progress = FindProgress(wish.asked.text, wish.asked.area, known)
    if freed:
        progress.say(f"{freed} rows were in the hands of a process that is gone: they are taken up again.")
    if (sentence := cost_sentence(cost)) and search.place_search_status in OPEN:
        progress.say(sentence)
    stopped = await work(application, actor.tenant_id, search.id, progress, Patience(patience))
    found = await patiently(
        application, lambda: _written(application, actor.tenant_id, search.id, out, per), progress.say
    )
    return {
        "search": wish.asked.text,
        "area": wish.asked.area,
        "provider": wish.asked.provider,
        "search_id": search.id,
        "tenant_id": actor.tenant_id,
        "file": str(out),
        **found,
        "estimate": cost_json(cost),
        "seconds": round(progress.seconds, 1),
        "first_contact_seconds": progress.first_contact_seconds,
        "last_contact_seconds": progress.last_contact_seconds,
        "stopped": stopped,
        "refused_lines": list(wish.sites.refused) if wish.sites else [],
        "progress": progress,
    }


async def _request(application: Application, wish: FindRequest, actor: Actor, refresh: bool) -> RequestedSearch:
    cost = None if wish.sites else await request_search.estimate(application.providers, wish.asked)
    async with application.database.session(actor.tenant_id) as session:
        if wish.sites is None:
            return await request_search.request_search(session, actor, wish.asked, refresh, cost)
        requested = await request_search.request_completed(session, actor, wish.asked)
        await add_domains(session, requested.search, wish.sites.found)
        return requested


async def _written(application: Application, tenant_id: UUID, search_id: UUID, out: Path, per: Per) -> dict[str, Any]:
    """Write the file, unless nothing was found and there is an older one; and everything that can be told."""
    async with application.database.session(tenant_id) as session:
        with LeadFile(out, list(columns_of(per))) as file:
            rows = await file.write(leads(session, search_id, per), keep_old=True)
        steps = await search_progress.progress(session, search_id)
        reasons = await search_progress.top_reasons(session, search_id)
        return {
            "rows": rows,
            "kept": file.kept,
            **await results.contact_counts(session, search_id),
            "verdicts": _counted(await results.verdicts(session, search_id)),
            "left": sum(step.open for step in steps),
            "waiting": [vars(wait) for wait in await search_progress.waits(session, search_id)],
            **await results.shortcomings(session, search_id),
            "bill": await spending.search_cost(session, search_id),
            "steps": search_progress.as_json(steps),
            "reasons": [reason._asdict() for reason in reasons],
        }


def _counted(verdicts: Mapping[str, str | None]) -> dict[str, int]:
    """How many addresses have each verdict; `not verified` where there is none yet."""
    given = Counter(verdict or "not verified" for verdict in verdicts.values())
    return {word: given[word] for word in (*Verdict, "not verified") if given[word]}
