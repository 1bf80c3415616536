"""One search from its wish to its file: asked for, worked on, watched, written."""

import asyncio
import contextlib
import signal
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast
from uuid import UUID

from scrapersky.cli.acting import acting
from scrapersky.cli.find_patience import DEFAULT_SECONDS, Patience
from scrapersky.cli.find_progress import FindProgress
from scrapersky.cli.opening import quiet_logs
from scrapersky.cli.output import print_json
from scrapersky.core.errors import BadRequest, ScraperSkyError
from scrapersky.core.settings import Environment
from scrapersky.core.status import Verdict
from scrapersky.destinations.lead_file import LeadFile
from scrapersky.extract.web_address import CompanyDomain, NoWebAddress, web_address
from scrapersky.providers.place import PlaceQuery, UnknownProvider, why_unknown
from scrapersky.store import orders, search_reasons, search_waits, searches, spending
from scrapersky.store.audit import Actor
from scrapersky.store.leads import Per, columns_of, leads
from scrapersky.store.rules import Rules
from scrapersky.store.searches import Asked
from scrapersky.worker import House, open_house

LOOK_SECONDS = 0.3  # how often the progress is read from the database


class NoSuchList(BadRequest):
    """The list of web sites cannot be used."""


@dataclass(frozen=True)
class Wish:
    """What somebody wants to find."""

    asked: Asked
    domains: tuple[CompanyDomain, ...] = ()
    refused: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        search: str,
        area: str | None,
        file: Path | None,
        provider: str,
        limit: int | None,
        pages: int,
        budget: float | None,
    ) -> Self:
        """A wish from what stood on the command line."""
        text, place = split_search(search, area)
        rules = Rules(pages_per_site=pages)
        cents = round(budget * 100) if budget is not None else None
        if file is None:
            return cls(Asked(text, place, provider, limit, cents, rules))
        found, refused = read_domains(file)
        return cls(Asked(search, None, "domains", None, None, rules), found, refused)


def split_search(search: str, area: str | None) -> tuple[str, str | None]:
    """`dentists in Helsinki` is what and where; the last ` in ` parts them unless the place is given."""
    what, parted, where = search.strip().rpartition(" in ")
    if area is not None or not parted or not what.strip():
        return search.strip(), area
    return what.strip(), where.strip()


def read_domains(file: Path) -> tuple[tuple[CompanyDomain, ...], tuple[str, ...]]:
    """The web sites of a file, one a line or in the first column; lines that are none are named."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise NoSuchList(f"{file} cannot be read: {why}.") from None
    found: list[CompanyDomain] = []
    refused: list[str] = []
    for number, line in enumerate(lines, 1):
        cell = line.split(",")[0].split("\t")[0].strip().strip('"')
        if not cell or (number == 1 and cell.lower() in ("domain", "website", "url", "site")):
            continue
        try:
            where = web_address(cell)
        except NoWebAddress as error:
            refused.append(f"line {number}: {error}")
            continue
        if isinstance(where, CompanyDomain):
            found.append(where)
        else:
            refused.append(f"line {number}: a page on {where.platform} is nobody's own web site")
    if not found:
        raise NoSuchList(f"{file} has no web site in it; write one a line, such as example.com.")
    return tuple(found), tuple(refused)


async def run_find(
    wish: Wish, out: Path, per: str, tenant: str, refresh: bool, as_json: bool, patience: float = DEFAULT_SECONDS
) -> dict[str, Any]:
    """Open the house, find, and say what came of it."""
    environment = Environment()
    quiet_logs(environment)
    kind = cast(Per, per)
    LeadFile(out, list(columns_of(kind))).discard()  # a file that cannot be written is better known now
    house = await open_house(environment)
    try:
        summary = await find_in(house, wish, out, kind, tenant, refresh, patience)
    finally:
        await house.close()
    progress: FindProgress = summary.pop("progress")
    if as_json:
        print_json(summary)
    else:
        progress.summarise(summary)
    return summary


async def find_in(
    house: House, wish: Wish, out: Path, per: Per, tenant: str, refresh: bool, patience: float = DEFAULT_SECONDS
) -> dict[str, Any]:
    """Ask, work until nothing is left or Ctrl-C, and write the file; what came of it."""
    actor = await acting(house, tenant)
    tenant_id = actor.tenant_id
    search_id, known = await _ask(house, wish, actor, refresh)
    progress = FindProgress(wish.asked.text, wish.asked.area, known)
    stopped = await _work(house, tenant_id, search_id, progress, Patience(patience))
    async with house.database.session(tenant_id) as session:
        with LeadFile(out, list(columns_of(per))) as file:
            written = await file.write(leads(session, search_id, per))
        steps = await searches.progress(session, search_id)
        reasons = await search_reasons.top_reasons(session, search_id)
        counts = await searches.contact_counts(session, search_id)
        verdicts = await searches.verdicts(session, search_id)
        cut_short = await searches.cut_short(session, search_id)
        bill = await spending.bill(session, search_id)
        waits = await search_waits.waits(session, search_id)
    return {
        "search": wish.asked.text,
        "area": wish.asked.area,
        "search_id": search_id,
        "tenant_id": tenant_id,
        "file": str(out),
        "rows": written,
        **counts,
        "verdicts": _counted(verdicts),
        "seconds": round(progress.seconds, 1),
        "first_contact_seconds": progress.first_contact_seconds,
        "last_contact_seconds": progress.last_contact_seconds,
        "stopped": stopped,
        "left": sum(step.open for step in steps),
        "waiting": [vars(wait) for wait in waits],
        "cut_short": cut_short,
        "bill": bill,
        "steps": searches.as_json(steps),
        "reasons": [dict(zip(("step", "status", "reason", "rows"), reason, strict=True)) for reason in reasons],
        "refused_lines": list(wish.refused),
        "progress": progress,
    }


def _counted(verdicts: Mapping[str, str | None]) -> dict[str, int]:
    """How many addresses have each verdict; `not verified` where there is none yet."""
    given = Counter(verdict or "not verified" for verdict in verdicts.values())
    return {word: given[word] for word in (*Verdict, "not verified") if given[word]}


async def _ask(house: House, wish: Wish, actor: Actor, refresh: bool) -> tuple[UUID, bool]:
    is_done, cents = bool(wish.domains), None if wish.domains else await _estimate(house, wish.asked, actor)
    async with house.database.session(actor.tenant_id) as session:
        search, known = await orders.order(session, actor, wish.asked, refresh, estimate_cents=cents, is_done=is_done)
        if wish.domains:
            await searches.start_from_domains(session, search, wish.domains)
        return search.id, known


async def _estimate(house: House, asked: Asked, actor: Actor) -> int | None:
    """What the search will probably cost; a provider that cannot say it now is no reason to refuse."""
    provider = house.providers.get(asked.provider)
    if provider is None:
        raise UnknownProvider(why_unknown(asked.provider, house.providers))
    try:
        said = await provider.estimate(PlaceQuery(asked.text, asked.area, asked.limit))
    except ScraperSkyError:
        return None
    async with house.database.session(actor.tenant_id) as session:
        return said.with_details(await searches.foreseen_details(session, actor.tenant_id, asked)).cents


async def _work(house: House, tenant_id: UUID, search_id: UUID, progress: FindProgress, patience: Patience) -> bool:
    """Run the engine until the search is done or the patience is over; true if somebody stopped it before."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    house.runtime.start()
    started = time.monotonic()
    try:
        with progress:
            while True:
                async with house.database.session(tenant_id) as session:
                    steps = await searches.progress(session, search_id)
                    contacts = (await searches.contact_counts(session, search_id))["contacts"]
                    busy = any(step.working for step in steps)
                    waits = [] if busy else await search_waits.waits(session, search_id)
                progress.show(steps, contacts, time.monotonic() - started)
                if searches.is_done(steps) or stop.is_set() or patience.is_over(steps, waits, time.monotonic()):
                    return stop.is_set()
                progress.wait(waits)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await stop.wait()
    finally:
        await house.runtime.stop(grace_seconds=5 if stop.is_set() else None)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
