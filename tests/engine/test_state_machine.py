"""Three workers at one queue, in every order Hypothesis can think of, against a model that fits on a page."""

import asyncio
import itertools
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from scrapersky.core.database import ENGINE_ROLE, ENGINE_SETTINGS
from scrapersky.core.vocabularies import Status
from scrapersky.engine import queue
from scrapersky.engine.outcomes import COMPLETED, RETURNED, Outcome, OutcomeKind
from scrapersky.engine.queue import Queue, Settlement
from scrapersky.sandbox.example_workflows import Packing

WORKERS = st.integers(0, 2)
ENDS = {
    "complete": COMPLETED,
    "skip": Outcome(OutcomeKind.SKIPPED, Status.SKIPPED, "nothing to do"),
    "retry": Outcome(OutcomeKind.RETRIED, Status.QUEUED, "tape tore", "RuntimeError", wait_seconds=3600),
    "die": Outcome(OutcomeKind.FAILED, Status.ERROR, "tape gone", "RuntimeError"),
    "later": Outcome(OutcomeKind.POSTPONED, Status.QUEUED, "shop closed", wait_seconds=3600, counts=False),
    "give back": RETURNED,
}


@dataclass
class Row:
    """The model of a row: what the table must say about it."""

    status: str = "Queued"
    attempts: int = 0
    allowance: int = 0
    ready: bool = True  # due_at is empty
    dead: bool = False
    order: int = 0

    def claim(self) -> None:
        self.status, self.attempts, self.ready = "Processing", self.attempts + 1, False

    def settle(self, outcome: Outcome) -> None:
        self.status, self.ready = outcome.status.value, outcome.wait_seconds is None
        self.allowance += not outcome.counts
        self.dead = outcome.status is Status.ERROR

    def time_is_up(self, limit: int) -> None:
        """What a sweep does to a row whose due_at has passed."""
        tries, was = self.attempts - self.allowance, self.status
        if was == "Processing" and tries >= limit:
            self.status, self.dead, self.ready = "Error", True, True
        else:
            self.status, self.ready = "Queued", not (was == "Processing" and tries >= 2)

    def queue_again(self) -> None:
        if self.status == "Queued":
            return
        self.ready = True
        self.status, self.allowance, self.dead = "Queued", self.attempts, False


class Workers(RuleBasedStateMachine):
    """Every rule does one thing to the database and the same to the model."""

    url = ""
    in_order = True
    seen: set[str] = set()

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.queue = Queue(Packing())
        self.rows: dict[UUID, Row] = {}
        self.hands: list[dict[UUID, int]] = [{}, {}, {}]  # what each worker believes to hold, with its fence
        self.numbers = itertools.count(1)
        self.limit = 1
        self.connections: list[asyncpg.Connection] = []

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(coroutine)

    @initialize(limit=st.sampled_from([1, 2, 3]))
    def connect(self, limit: int) -> None:
        self.limit = limit
        role = {**ENGINE_SETTINGS, "role": ENGINE_ROLE}
        self.connections = [self.run(asyncpg.connect(self.url, server_settings=role)) for _ in range(3)]
        self.admin = self.run(asyncpg.connect(self.url))
        self.run(self.admin.execute("DELETE FROM parcel"))
        self.tenant = self.run(self.admin.fetchval("SELECT id FROM tenant WHERE name = 'default'"))
        self.insert_some(4)

    def teardown(self) -> None:
        for connection in self.connections:
            self.run(connection.close())
        if self.connections:
            self.run(self.admin.close())
        self.loop.close()

    # -- what people do --------------------------------------------------------------------------------------------

    @rule(count=st.integers(1, 4))
    def insert(self, count: int) -> None:
        self.insert_some(count)

    def insert_some(self, count: int) -> None:
        made = [UUID(int=next(self.numbers)) for _ in range(count)]
        self.run(
            self.admin.execute(
                "INSERT INTO parcel (id, tenant_id, packing_status) SELECT id, $1, 'Queued' FROM unnest($2::uuid[]) id",
                self.tenant,
                made,
            )
        )
        self.rows.update({row_id: Row() for row_id in made})
        self.put_last(made)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def queue_again_by_plain_sql(self, data: st.DataObject) -> None:
        row_id = self.any_row(data)
        self.run(self.admin.execute("UPDATE parcel SET packing_status = 'Queued' WHERE id = $1", row_id))
        if self.rows[row_id].status != "Queued":
            self.put_last([row_id])
        self.rows[row_id].queue_again()

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        row_id = self.any_row(data)
        self.run(self.admin.execute("DELETE FROM parcel WHERE id = $1", row_id))
        del self.rows[row_id]

    # -- what time does --------------------------------------------------------------------------------------------

    @precondition(lambda self: any(not row.ready for row in self.rows.values()))
    @rule(data=st.data())
    def expire_and_sweep(self, data: st.DataObject) -> None:
        timed = sorted(row_id for row_id, row in self.rows.items() if not row.ready)
        expired = data.draw(st.lists(st.sampled_from(timed), min_size=1, unique=True))
        self.run(
            self.admin.execute(
                "UPDATE parcel SET packing_due_at = now() - interval '1 second' WHERE id = ANY ($1)", expired
            )
        )
        swept = self.run(self.queue.sweep(self.connections[0], self.limit))
        before = [self.rows[row_id].status for row_id in expired]
        for row_id in expired:
            self.rows[row_id].time_is_up(self.limit)
        after = [self.rows[row_id].status for row_id in expired]
        self.put_last([row_id for row_id, was in zip(expired, before, strict=True) if was == "Queued"])
        assert swept.ready == before.count("Queued")
        assert swept.died == after.count("Error")
        assert swept.rescued == before.count("Processing") - swept.died
        self.seen |= {"died of silence"} if swept.died else set()
        self.seen |= {"rescued"} if swept.rescued else set()

    # -- what workers do -------------------------------------------------------------------------------------------

    @rule(worker=WORKERS, count=st.integers(1, 5))
    def claim(self, worker: int, count: int) -> None:
        claimed = self.run(self.queue.claim(self.connections[worker], count, 600))
        self.take(worker, claimed, count)

    @rule(worker=WORKERS, end=st.sampled_from(sorted(ENDS)), data=st.data())
    def settle(self, worker: int, end: str, data: st.DataObject) -> None:
        done = self.choose(worker, data)
        lost = self.run(self.queue.settle(self.connections[worker], self.settlements(done, ENDS[end])))
        self.let_go(worker, done, ENDS[end], lost)
        self.seen.add(end)

    @rule(worker=WORKERS, end=st.sampled_from(sorted(ENDS)), count=st.integers(1, 5), data=st.data())
    def exchange(self, worker: int, end: str, count: int, data: st.DataObject) -> None:
        done = self.choose(worker, data)
        ready = self.ready_rows()
        exchange = self.run(
            self.queue.settle_and_claim(self.connections[worker], self.settlements(done, ENDS[end]), count, 600)
        )
        self.let_go(worker, done, ENDS[end], exchange.lost)
        self.take(worker, exchange.claimed, count, ready)

    @precondition(lambda self: any(self.hands))
    @rule(worker=WORKERS)
    def heartbeat(self, worker: int) -> None:
        held = list(self.hands[worker].items())
        alive = set(self.run(self.queue.renew_leases(self.connections[worker], held, 600)) if held else ())
        assert alive == {row_id for row_id, fence in held if self.is_mine(row_id, fence)}
        self.seen |= {"lost to another"} if len(alive) < len(held) else set()

    # -- what must hold after every step ---------------------------------------------------------------------------

    @invariant()
    def the_table_is_as_the_model_says(self) -> None:
        if not self.connections:
            return
        found = self.run(
            self.admin.fetch(
                "SELECT p.id, packing_status AS status, packing_attempts AS attempts, packing_allowance AS allowance, "
                "packing_due_at IS NULL AS ready, d.id IS NOT NULL AS dead, packing_order AS order FROM parcel p "
                "LEFT JOIN dead_letter d ON d.row_id = p.id AND d.queue = 'parcel.packing'"
            )
        )
        table = {row["id"]: Row(**{name: value for name, value in row.items() if name != "id"}) for row in found}
        assert table == self.rows

    @invariant()
    def nobody_shares_a_row_and_attempts_are_bounded(self) -> None:
        holders = [row_id for hand in self.hands for row_id, fence in hand.items() if self.is_mine(row_id, fence)]
        assert len(holders) == len(set(holders))
        assert all(0 <= row.attempts - row.allowance <= self.limit for row in self.rows.values())

    def put_last(self, row_ids: list[UUID]) -> None:
        """The order that the clock would give, without the clock: a run must be the same each time."""
        for row_id in row_ids:
            self.rows[row_id].order = next(self.numbers)
            self.run(
                self.admin.execute(
                    "UPDATE parcel SET packing_order = $2 WHERE id = $1", row_id, self.rows[row_id].order
                )
            )

    # -- helpers ---------------------------------------------------------------------------------------------------

    def any_row(self, data: st.DataObject) -> UUID:
        return data.draw(st.sampled_from(sorted(self.rows)))

    def choose(self, worker: int, data: st.DataObject) -> dict[UUID, int]:
        hand = sorted(self.hands[worker].items())
        return dict(data.draw(st.lists(st.sampled_from(hand), min_size=1, unique=True))) if hand else {}

    def settlements(self, done: dict[UUID, int], outcome: Outcome) -> list[Settlement]:
        return [
            # A worker never retries beyond the limit: the last failure is final.
            Settlement(row_id, fence, self.final(row_id, fence, outcome))
            for row_id, fence in done.items()
        ]

    def final(self, row_id: UUID, fence: int, outcome: Outcome) -> Outcome:
        row = self.rows.get(row_id)
        last = row is not None and fence - row.allowance >= self.limit
        return ENDS["die"] if last and outcome is ENDS["retry"] else outcome

    def is_mine(self, row_id: UUID, fence: int) -> bool:
        row = self.rows.get(row_id)
        return row is not None and row.status == "Processing" and row.attempts == fence

    def ready_rows(self) -> set[UUID]:
        return {row_id for row_id, row in self.rows.items() if row.status == "Queued" and row.ready}

    def let_go(self, worker: int, done: dict[UUID, int], outcome: Outcome, lost: list[UUID]) -> None:
        assert set(lost) == {row_id for row_id, fence in done.items() if not self.is_mine(row_id, fence)}
        self.seen |= {"late write refused"} if lost else set()
        for row_id, fence in done.items():
            if row_id not in lost:
                self.rows[row_id].settle(self.final(row_id, fence, outcome))
            del self.hands[worker][row_id]

    def take(self, worker: int, claimed: list[Any], count: int, ready: set[UUID] | None = None) -> None:
        now_ready = self.ready_rows()
        taken = {row["id"] for row in claimed}
        assert taken <= now_ready
        # A fused exchange may miss rows that it gives back itself, but none that were ready before.
        there = now_ready if ready is None else ready & now_ready
        if self.in_order:
            assert len(taken) >= min(count, len(there))
            passed_over = [self.rows[row_id].order for row_id in there - taken]
            assert not passed_over or all(self.rows[row_id].order < min(passed_over) for row_id in taken & there)
        else:
            assert taken or not there
        for row in claimed:
            ours = self.rows[row["id"]]
            ours.claim()
            assert (row["attempts"], row["allowance"]) == (ours.attempts, ours.allowance)
            self.hands[worker][row["id"]] = row["attempts"]
        self.seen |= {"claimed again"} if any(row["attempts"] > 1 for row in claimed) else set()


@pytest.mark.parametrize(
    ("watermark_seconds", "in_order"), [(0, True), (1e9, False)], ids=["from the head", "behind the last claim"]
)
def test_a_queue_behaves_like_its_model_whatever_three_workers_do(
    database_url: str, monkeypatch: pytest.MonkeyPatch, watermark_seconds: float, in_order: bool
):
    monkeypatch.setattr(queue, "WATERMARK_SECONDS", watermark_seconds)
    machine: Any = type("Workers", (Workers,), {"url": database_url, "in_order": in_order, "seen": set()})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],  # to shrink on a real database takes longer than to read forty steps
            suppress_health_check=list(HealthCheck),
        ),
    )
    rare = {"rescued", "died of silence", "late write refused", "lost to another", "claimed again", *ENDS}
    assert rare <= machine.seen  # a run in which nothing rare happened proves nothing
