"""How the server runs the engine's statements: by index, touching as many pages as the batch needs, at any size."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import pytest

from scrapersky.core.database import ENGINE_ROLE, ENGINE_SETTINGS
from scrapersky.engine.outcomes import COMPLETED
from scrapersky.engine.queue import MIN_ORDER_KEY, Queue, Settlement
from scrapersky.engine.queue_sql import QueueStatements
from scrapersky.engine.workflow import Workflow
from scrapersky.pipeline import build_pipeline
from scrapersky.sandbox.example_workflows import example_pipeline
from tests.conftest import Server

BATCH = 50
ROWS = 1_000_000
FEWER_ROWS = 30_000
# Each row costs the pages of its heap tuple and of its entries in the table's indexes, whatever the table's size.
PAGES = 40 * BATCH
MANY_INDEXES = 12  # on a table with more, every one that a changed row must be entered into costs its few pages

LINES = [build_pipeline({}), example_pipeline()]
WORKFLOWS = [workflow for line in LINES for workflow in line]


def walk(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from walk(child)


class Plan:
    """What EXPLAIN says of one statement."""

    def __init__(self, answer: str) -> None:
        self.top = json.loads(answer)[0]
        self.nodes = list(walk(self.top["Plan"]))

    @property
    def indexes(self) -> set[str]:
        return {node["Index Name"] for node in self.nodes if "Index Name" in node}

    def scanned(self, table: str) -> list[dict[str, Any]]:
        return [node for node in self.nodes if node["Node Type"] == "Seq Scan" and node["Relation Name"] == table]

    @property
    def pages(self) -> int:
        plan = self.top["Plan"]
        return sum(plan.get(f"Shared {what} Blocks", 0) for what in ("Hit", "Read"))

    @property
    def rows(self) -> int:
        return self.top["Plan"]["Actual Rows"]


async def explain(connection: asyncpg.Connection, statement: str, *literals: str) -> Plan:
    """The generic plan, as the engine's sessions use it, and what it cost; what it did is undone."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute(f"PREPARE guarded AS {statement}")
        values = f"({', '.join(literals)})" if literals else ""
        return Plan(await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE guarded {values}"))
    finally:
        await transaction.rollback()
        await connection.execute("DEALLOCATE ALL")


def array(values: list[Any], kind: str) -> str:
    return f"ARRAY[{', '.join(map(str, values))}]::{kind}[]"


def settled_as(rows: list[asyncpg.Record], status: str) -> list[str]:
    """The nine parameters of a settlement, as literals."""
    each = len(rows)
    return [
        array([f"'{row['id']}'" for row in rows], "uuid"),
        array([row["attempts"] for row in rows], "int"),
        array([f"'{status}'"] * each, "text"),
        array(["'why'"] * each, "text"),
        array(["NULL"] * each, "float8"),
        array(["true"] * each, "bool"),
        array(["'Error'"] * each, "text"),
        array(["NULL"] * each, "text"),
        array(["NULL"] * each, "text"),
    ]


async def fill(connection: asyncpg.Connection, table: str, queues: list[str], rows: int) -> None:
    """Insert finished, waiting, held and ready rows, one in ten of them ready; only the columns of the queues matter.

    Rows are due for more than a minute or in two hours: a slow run finds as many overdue rows as a fast one.
    """
    await connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    indexes = await connection.fetch(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = $1 AND indexdef NOT LIKE '%UNIQUE%'", table
    )
    for index in indexes:
        await connection.execute(f"DROP INDEX {index['indexname']}")
    strict = await connection.fetch(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attnotnull "
        "AND NOT atthasdef AND attname NOT IN ('id', 'tenant_id')",
        table,
    )
    for column in strict:
        await connection.execute(f"ALTER TABLE {table} ALTER {column['attname']} DROP NOT NULL")
    await connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_one_subject")
    names = ", ".join(f"{queue}_status, {queue}_attempts, {queue}_order, {queue}_due_at" for queue in queues)
    values = ", ".join("s.status, 1, n, s.due" for _ in queues)
    await connection.execute(
        f"""
        INSERT INTO {table} (tenant_id, {names})
        SELECT t.id, {values} FROM generate_series(1, $1::int) n, (SELECT id FROM tenant LIMIT 1) t, LATERAL (SELECT
            CASE WHEN n % 10 IN (0, 1) THEN 'Queued' WHEN n % 1000 = 2 THEN 'Processing'
                WHEN n % 10 = 3 THEN 'Skipped' WHEN n % 100 = 4 THEN 'Error' ELSE 'Completed' END AS status,
            CASE WHEN n % 10 = 1 OR n % 1000 = 2 THEN now() + interval '1 second' * (n % 7200
                + CASE WHEN n % 7200 < 540 THEN -600 ELSE 7200 END) END AS due) s
        """,
        rows,
    )
    for index in indexes:
        await connection.execute(index["indexdef"])
    await connection.execute(f"VACUUM ANALYZE {table}")


@pytest.fixture(scope="module")
def crowded(server: Server, template: str) -> Iterator[str]:
    """A database with a million parcels, and tens of thousands of everything else that has a queue."""
    name = "crowded"

    async def build() -> None:
        await server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        connection = await asyncpg.connect(server.url(name))
        try:
            await connection.execute(
                "SET session_replication_role = replica"
            )  # commits stay synchronous: VACUUM knows them
            await connection.execute("SET maintenance_work_mem = '256MB'")
            for table in sorted({workflow.table for workflow in WORKFLOWS}):
                queues = [workflow.queue for workflow in WORKFLOWS if workflow.table == table]
                await fill(connection, table, queues, ROWS if table == "parcel" else FEWER_ROWS)
        finally:
            await connection.close()

    asyncio.run(build())
    yield server.url(name)
    asyncio.run(server.execute(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
async def engine(crowded: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(crowded, server_settings={**ENGINE_SETTINGS, "role": ENGINE_ROLE})
    yield connection
    await connection.close()


async def held_rows(connection: asyncpg.Connection, workflow: Workflow[Any, Any, Any]) -> list[asyncpg.Record]:
    return await connection.fetch(
        f"SELECT id, {workflow.queue}_attempts AS attempts FROM {workflow.table} "
        f"WHERE {workflow.queue}_status = 'Processing' LIMIT {BATCH}"
    )


each_workflow = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.name)


@each_workflow
@pytest.mark.parametrize("name", ["claim", "claim_renotified"])
async def test_a_claim_walks_the_claim_index_and_touches_what_its_batch_needs(engine, workflow, name):
    plan = await explain(engine, getattr(QueueStatements.of(workflow), name), str(BATCH), "60", f"({MIN_ORDER_KEY})")
    assert f"{workflow.table}_{workflow.queue}_claim" in plan.indexes
    assert not plan.scanned(workflow.table)
    assert plan.pages < allowed_pages(workflow)
    assert plan.rows == BATCH


def allowed_pages(workflow: Workflow[Any, Any, Any]) -> int:
    return PAGES + 3 * BATCH * max(0, len(workflow.model.__table__.indexes) - MANY_INDEXES)


@each_workflow
async def test_settling_and_claiming_at_once_finds_its_rows_by_key(engine, workflow):
    done = settled_as(await held_rows(engine, workflow), "Completed")
    plan = await explain(engine, QueueStatements.of(workflow).fused, *done, str(BATCH), "60", f"({MIN_ORDER_KEY})")
    assert {f"{workflow.table}_{workflow.queue}_claim", f"{workflow.table}_pkey"} <= plan.indexes
    assert not plan.scanned(workflow.table)
    assert plan.pages < 2 * allowed_pages(workflow)


@each_workflow
@pytest.mark.parametrize(("name", "status"), [("settle", "Completed"), ("settle_dead", "Error")])
async def test_settling_finds_its_rows_by_key(engine, workflow, name, status):
    done = settled_as(await held_rows(engine, workflow), status)
    plan = await explain(engine, getattr(QueueStatements.of(workflow), name), *done)
    assert f"{workflow.table}_pkey" in plan.indexes
    assert not plan.scanned(workflow.table)
    assert plan.pages < 2 * allowed_pages(workflow)


@each_workflow
async def test_a_heartbeat_finds_its_rows_by_key(engine, workflow):
    held = await held_rows(engine, workflow)
    plan = await explain(engine, QueueStatements.of(workflow).renew_leases, *settled_as(held, "Processing")[:2], "60")
    assert f"{workflow.table}_pkey" in plan.indexes
    assert not plan.scanned(workflow.table)
    assert plan.pages < PAGES


@each_workflow
async def test_a_sweep_walks_the_clock_index(engine, workflow):
    plan = await explain(engine, QueueStatements.of(workflow).sweep, str(BATCH), "5")
    assert f"{workflow.table}_{workflow.queue}_due" in plan.indexes
    assert not plan.scanned(workflow.table)
    assert plan.pages < 2 * allowed_pages(workflow)


@each_workflow
@pytest.mark.parametrize(
    ("name", "literals", "pages"),
    # An index scan visits a page for each row that is overdue, and fewer than one in a hundred is.
    [("work", [], PAGES), ("busy", ["60"], PAGES), ("count", ["1000"], PAGES), ("overdue", ["60"], ROWS // 100)],
)
async def test_looking_at_a_queue_reads_no_table(engine, workflow, name, literals, pages):
    plan = await explain(engine, getattr(QueueStatements.of(workflow), name), *literals)
    assert not plan.scanned(workflow.table)
    assert plan.pages < pages


@each_workflow
async def test_opening_the_next_inbox_finds_its_rows_by_key(engine, workflow):
    ids = settled_as(await held_rows(engine, workflow), "Queued")[0]
    plan = await explain(engine, QueueStatements.of(workflow).open, ids)
    assert f"{workflow.table}_pkey" in plan.indexes
    assert not plan.scanned(workflow.table)


async def test_an_old_snapshot_and_its_dead_entries_do_not_slow_a_busy_claim(crowded, engine):
    """The head of the index fills with entries that nobody may remove; a running drain starts behind them."""
    packing = next(workflow for workflow in WORKFLOWS if workflow.name == "packing")
    queue, old = Queue(packing), await asyncpg.connect(crowded)
    try:
        await old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM tenant")
        last = 0
        for _ in range(4):
            rows = await queue.claim(engine, 5_000, 600)
            last = max(row["order_key"] for row in rows)
            await queue.settle(engine, [Settlement(row["id"], row["attempts"], COMPLETED) for row in rows])
        statement = QueueStatements.of(packing).claim
        behind = await explain(engine, statement, str(BATCH), "60", str(last))
        from_the_head = await explain(engine, statement, str(BATCH), "60", f"({MIN_ORDER_KEY})")
        assert "parcel_packing_claim" in behind.indexes
        assert behind.rows == from_the_head.rows == BATCH
        assert behind.pages < PAGES
        assert from_the_head.pages > 5 * behind.pages  # the dead entries are really there
    finally:
        await old.close()
