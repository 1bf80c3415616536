"""One search from its wish to its file: asked for, worked on, watched, written."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from scrapersky.actions import request_search
from scrapersky.bootstrap import Application, open_application
from scrapersky.cli.finding.estimate import Forecast, forecast
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
from scrapersky.models import Search
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.read import Per, columns_of, leads
from scrapersky.store.money import spending
from scrapersky.store.searches import reasons as search_reasons
from scrapersky.store.searches import searches, waits


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
    cost = Forecast() if wish.sites else await forecast(application, wish.asked, actor)
    search, known = await _ask(application, wish, cost, actor, refresh)
    progress = FindProgress(wish.asked.text, wish.asked.area, known)
    if freed:
        progress.say(f"{freed} rows were in the hands of a process that is gone: they are taken up again.")
    if (sentence := cost.sentence()) and search.place_search_status in searches.OPEN:
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
        "estimate": cost.as_json(),
        "seconds": round(progress.seconds, 1),
        "first_contact_seconds": progress.first_contact_seconds,
        "last_contact_seconds": progress.last_contact_seconds,
        "stopped": stopped,
        "refused_lines": list(wish.sites.refused) if wish.sites else [],
        "progress": progress,
    }


async def _ask(
    application: Application, wish: FindRequest, cost: Forecast, actor: Actor, refresh: bool
) -> tuple[Search, bool]:
    asked, is_done = cost.bounded(wish.asked), wish.sites is not None
    async with application.database.session(actor.tenant_id) as session:
        search, known = await request_search.order(
            session, actor, asked, refresh, estimate_cents=cost.cents, is_done=is_done
        )
        if wish.sites:
            await searches.start_from_domains(session, search, wish.sites.found)
        return search, known


async def _written(application: Application, tenant_id: UUID, search_id: UUID, out: Path, per: Per) -> dict[str, Any]:
    """Write the file, unless nothing was found and there is an older one; and everything that can be told."""
    async with application.database.session(tenant_id) as session:
        with LeadFile(out, list(columns_of(per))) as file:
            rows = await file.write(leads(session, search_id, per), keep_old=True)
        steps = await searches.progress(session, search_id)
        reasons = await search_reasons.top_reasons(session, search_id)
        return {
            "rows": rows,
            "kept": file.kept,
            **await searches.contact_counts(session, search_id),
            "verdicts": _counted(await searches.verdicts(session, search_id)),
            "left": sum(step.open for step in steps),
            "waiting": [vars(wait) for wait in await waits.waits(session, search_id)],
            "cut_short": await searches.cut_short(session, search_id),
            "bill": await spending.bill(session, search_id),
            "steps": searches.as_json(steps),
            "reasons": [dict(zip(("step", "status", "reason", "rows"), reason, strict=True)) for reason in reasons],
        }


def _counted(verdicts: Mapping[str, str | None]) -> dict[str, int]:
    """How many addresses have each verdict; `not verified` where there is none yet."""
    given = Counter(verdict or "not verified" for verdict in verdicts.values())
    return {word: given[word] for word in (*Verdict, "not verified") if given[word]}
