"""A quiet engine leaves few rows, and a lost database is one line of the log."""

from datetime import UTC, datetime, timedelta

from structlog.testing import capture_logs

from scrapersky.engine import histogram
from scrapersky.engine.events import CycleEnded, DatabaseAvailable, DatabaseUnavailable
from scrapersky.engine.outcomes import OutcomeKind
from scrapersky.observe.event_log import log_events
from scrapersky.observe.run_history import record_runs

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def cycle(second: int, claimed: int = 0) -> CycleEnded:
    counts = {OutcomeKind.COMPLETED: claimed}
    return CycleEnded("packing", NOON + timedelta(seconds=second), 0.1, claimed, counts, 0, histogram.empty())


async def test_idle_cycles_of_a_minute_share_one_row(database, admin):
    record = record_runs(database)
    for second in range(0, 180, 2):
        await record(cycle(second))
    rows = await admin.fetch("SELECT started_at, cycles FROM run ORDER BY id")
    assert [tuple(row) for row in rows] == [
        (NOON, 30),
        (NOON + timedelta(minutes=1), 30),
        (NOON + timedelta(minutes=2), 1),  # the others are added with the next row
    ]


async def test_a_cycle_with_rows_is_a_row_of_its_own(database, admin):
    record = record_runs(database)
    for second, claimed in ((0, 0), (1, 5), (2, 0), (3, 7), (4, 0)):
        await record(cycle(second, claimed))
    rows = await admin.fetch("SELECT claimed, cycles FROM run ORDER BY id")
    assert [tuple(row) for row in rows] == [(0, 2), (5, 1), (7, 1)]


async def test_a_lost_database_is_logged_once_and_its_return_once():
    log = log_events()
    with capture_logs() as lines:
        for _ in range(2):
            for where in ("pulse", "listen", "packing", "pulse"):
                await log(DatabaseUnavailable(where, "ConnectionRefusedError: …"))
            await log(DatabaseAvailable(3.0))
    loud = [(line["event"], line["log_level"]) for line in lines if line["log_level"] != "debug"]
    assert loud == [("database_unavailable", "error"), ("database_available", "info")] * 2


async def test_a_part_that_notices_an_outage_after_its_end_begins_no_new_one():
    log = log_events()
    with capture_logs() as lines:
        for _ in range(2):  # the second outage follows at once, and is told like the first
            await log(DatabaseUnavailable("pulse", "ConnectionRefusedError: …"))
            await log(DatabaseAvailable(3.0))
            await log(DatabaseUnavailable("listen", "ConnectionDoesNotExistError: …"))
            await log(DatabaseUnavailable("packing", "TimeoutError"))
    loud = [line["event"] for line in lines if line["log_level"] != "debug"]
    assert loud == ["database_unavailable", "database_available"] * 2
