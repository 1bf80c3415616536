"""Snapshots of the progress of searches: many readers of one search cost one count at a time, seldom repeated."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Search, SearchProgress
from scrapersky.store.left_behind import is_undecided
from scrapersky.store.line import hidden_sites
from scrapersky.store.line.advance_rules import read_rules
from scrapersky.store.searches import progress
from scrapersky.store.searches.progress import StepCount, StepReason, Wait, listed_rows_of
from scrapersky.store.searches.results import found_contacts
from scrapersky.store.steps import STEPS, LineStep

MIN_SECONDS = 1.0  # between two counts of one search
# The seconds that the next count of a search waits, in SQL: twenty times as long as the last one took, as far as its
# rows explain it. On a busy machine the count of a small search takes long, too.
COST_SECONDS = """least(20 * p.seconds, (SELECT sum(number::numeric) / 1000
    FROM jsonb_array_elements(p.snapshot -> 'steps') AS one(step),
        jsonb_each_text(step - 'workflow') AS part(name, number)))"""
MAX_SECONDS_DONE = 600.0  # a search without work left is counted again after this time
MAX_UNDECIDED = 10_000  # undecided rows are counted up to this number
REFRESHED_PER_LIST = 5  # searches of a list that one request counts; the next request counts others


@dataclass(frozen=True)
class ProgressSnapshot:
    """The progress of a search at one moment."""

    search_id: UUID
    counted_at: datetime
    is_done: bool
    steps: list[StepCount]
    reasons: list[StepReason]
    waits: list[Wait]
    found: dict[str, int]  # contacts, emails, phones, people, domains
    listed: dict[str, int]  # the rows of its lists: results.LISTED
    hidden: dict[str, int]  # sites that show nothing to a plain reader, by reason
    undecided: dict[str, int]  # rows that wait for the decision of a person, by the step that they would enter
    left_out: dict[str, int]  # contacts that files leave out, by reason: rejected, suppressed, merged
    first_contact_at: datetime | None  # when its first contact was found

    @property
    def share_done(self) -> float:
        """The share of the rows that have finished the step they are in, 0 to 1."""
        open_rows, settled = sum(step.open for step in self.steps), sum(step.settled for step in self.steps)
        return 1.0 if not open_rows else settled / (settled + open_rows)


async def current(session: AsyncSession, search: Search) -> ProgressSnapshot:
    """Return the snapshot of a search; count anew if it is due and no other reader is counting."""
    stored = (await _stored(session, [search.id])).get(search.id)
    if stored and not stored.is_due:
        return stored.snapshot
    key = {"key": f"search progress {search.id}"}
    if stored and not await session.scalar(_TRY_LOCK, key):
        return stored.snapshot  # another reader is counting
    if not stored:
        await session.execute(_LOCK, key)
    stored = (await _stored(session, [search.id])).get(search.id)  # another reader may have counted meanwhile
    return stored.snapshot if stored and not stored.is_due else await _count(session, search)


async def of_list(session: AsyncSession, ids: Sequence[UUID]) -> dict[UUID, ProgressSnapshot]:
    """Return the snapshots of searches; count a few of those that are due, the longest not counted first."""
    stored = await _stored(session, ids)
    found = {search_id: one.snapshot for search_id, one in stored.items()}
    due = [search_id for search_id in ids if search_id not in stored]
    due += [one.snapshot.search_id for one in sorted(stored.values(), key=_age) if one.is_due]
    if due:
        # One lock order for all requests prevents deadlocks.
        searches = select(Search).where(Search.id.in_(due[:REFRESHED_PER_LIST])).order_by(Search.id)
        for search in (await session.scalars(searches)).all():
            found[search.id] = await current(session, search)
    return found


async def forget(session: AsyncSession, search_ids: Sequence[UUID]) -> None:
    """Delete the snapshots of searches that a person has just changed: the next reader counts."""
    await session.execute(_FORGET, {"searches": list(search_ids)})


@dataclass(frozen=True)
class _Stored:
    snapshot: ProgressSnapshot
    is_due: bool


def _age(stored: _Stored) -> datetime:
    return stored.snapshot.counted_at


async def _stored(session: AsyncSession, ids: Sequence[UUID]) -> dict[UUID, _Stored]:
    rows = await session.execute(_STORED, {"ids": list(ids), "max_seconds": MAX_SECONDS_DONE})
    return {row.search_id: _Stored(read(row), row.is_due) for row in rows}


def read(row: Any) -> ProgressSnapshot:
    """Return the snapshot of a row of the table."""
    stored: Mapping[str, Any] = row.snapshot
    waits = [Wait(**{**wait, "until": datetime.fromisoformat(wait["until"])}) for wait in stored["waits"]]
    reasons = [StepReason(**{**one, "until": _moment(one.get("until"))}) for one in stored["reasons"]]
    return ProgressSnapshot(
        row.search_id,
        row.counted_at,
        row.is_done,
        [StepCount(**step) for step in stored["steps"]],
        reasons,
        waits,
        stored["found"],
        stored.get("listed", {}),  # snapshots of the version before have none of these
        stored.get("hidden", {}),
        stored["undecided"],
        stored.get("left_out", {}),
        _moment(stored.get("first_contact_at")),
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


async def _count(session: AsyncSession, search: Search) -> ProgressSnapshot:
    """Count the rows of the search and store the snapshot."""
    began, started = (await session.execute(select(func.clock_timestamp()))).scalar_one(), time.monotonic()
    steps = await progress.progress(session, search.id)
    waits = await progress.waits(session, search.id) if any(step.waiting for step in steps) else []
    is_left_behind = any(step.waiting or step.skipped or step.failed for step in steps)
    reasons = await progress.top_reasons(session, search.id) if is_left_behind else []
    contacts = await found_contacts(session, search.id)
    counted = ProgressSnapshot(
        search.id,
        began,
        progress.is_done(steps),
        steps,
        reasons,
        waits,
        contacts.found,
        contacts.listed,
        await hidden_sites.of_search(session, search.id),
        await _undecided(session, search),
        contacts.left_out,
        contacts.first_at,
    )
    await _store(session, search, counted, time.monotonic() - started)
    return counted


async def _undecided(session: AsyncSession, search: Search) -> dict[str, int]:
    """Count the rows that no rule lets into their next step, and about which nobody has decided."""
    rules = read_rules(search.rules)
    closed = [step for step in STEPS[1:] if rules.value_of(step) == "off"]
    if search.cancelled_by or not closed:
        return {}
    counts = text(" UNION ALL ".join(_UNDECIDED[step.workflow] for step in closed))
    rows = await session.execute(counts, {"search": search.id, "max_rows": MAX_UNDECIDED})
    return {row.workflow: row.rows for row in rows if row.rows}


async def _store(session: AsyncSession, search: Search, counted: ProgressSnapshot, seconds: float) -> None:
    """Store the snapshot instead of the former one."""
    waits = [{**asdict(wait), "until": wait.until.isoformat()} for wait in counted.waits]
    row = {
        "counted_at": counted.counted_at,
        "seconds": seconds,
        "is_done": counted.is_done,
        "snapshot": {
            "steps": [asdict(step) for step in counted.steps],
            "reasons": [
                {**reason._asdict(), "until": reason.until and reason.until.isoformat()} for reason in counted.reasons
            ],
            "waits": waits,
            "found": counted.found,
            "listed": counted.listed,
            "hidden": counted.hidden,
            "undecided": counted.undecided,
            "left_out": counted.left_out,
            "first_contact_at": counted.first_contact_at and counted.first_contact_at.isoformat(),
        },
    }
    new = insert(SearchProgress).values(search_id=search.id, tenant_id=search.tenant_id, **row)
    await session.execute(new.on_conflict_do_update(index_elements=["search_id"], set_=row))


def _undecided_rows(step: LineStep) -> str:
    return (
        f"SELECT '{step.workflow}' AS workflow, count(*) AS rows FROM "  # noqa: S608 - our own names
        f"(SELECT FROM {listed_rows_of(step)} AND {is_undecided(step, 't')} LIMIT :max_rows) u"
    )


_UNDECIDED = {step.workflow: _undecided_rows(step) for step in STEPS[1:]}
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:key, 0))")
_FORGET = text("DELETE FROM search_progress WHERE search_id = ANY (cast(:searches AS uuid[]))")
# A search without work left changes by what people do, which the audit records, within a transaction of a minute at
# most, or seldom by another search that finds the same web sites.
_STORED = text(f"""
SELECT p.*, age.seconds > greatest({MIN_SECONDS}, {COST_SECONDS})
    AND (NOT p.is_done OR age.seconds > :max_seconds OR p.snapshot -> 'listed' IS NULL
    OR EXISTS (SELECT FROM audit a WHERE a.tenant_id = p.tenant_id AND a.at > p.counted_at - interval '1 minute'))
    AS is_due
FROM search_progress p, extract(epoch FROM clock_timestamp() - p.counted_at) AS age(seconds)
WHERE p.search_id = ANY (:ids)""").bindparams(bindparam("ids", type_=ARRAY(Uuid())))  # noqa: S608 - our own constants
