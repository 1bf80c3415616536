"""The watchdog of the event loop: a block is counted, logged with its place, and told from a busy machine."""

import asyncio
import time

from structlog.testing import capture_logs

from scrapersky.observe.loop_watchdog import BLOCK_SECONDS, LOG_SECONDS, LoopWatchdog


def compute_for(cpu_seconds: float) -> None:
    until = time.thread_time() + cpu_seconds
    while time.thread_time() < until:
        pass


async def next_beat(watchdog: LoopWatchdog, blocks: int) -> None:
    while watchdog.blocks < blocks:
        await asyncio.sleep(0.01)


async def test_a_block_is_logged_with_the_place_of_the_code() -> None:
    seconds: list[float] = []
    watchdog = LoopWatchdog(seconds.append)
    watchdog.start()
    try:
        with capture_logs() as lines:
            await asyncio.sleep(0)
            compute_for(0.4)
            await next_beat(watchdog, 1)
            compute_for(0.3)
            await next_beat(watchdog, 2)
    finally:
        watchdog.stop()
    (line,) = [line for line in lines if line["event"] == "event_loop_blocked"]
    assert line["log_level"] == "warning"
    assert line["seconds"] >= BLOCK_SECONDS
    assert "compute_for" in line["where"]
    assert len(seconds) == watchdog.blocks >= 2, "one line in ten seconds, but every block is counted"
    assert watchdog.longest_cpu_seconds > 0.25


async def test_the_line_is_about_the_longest_block_since_the_line_before() -> None:
    watchdog = LoopWatchdog()
    with capture_logs() as lines:
        for seconds, where in ((0.2, "first"), (0.9, "longest"), (0.3, "last")):
            watchdog._count(seconds, 0.1, where)
        watchdog._logged_at -= LOG_SECONDS
        watchdog._count(0.4, 0.1, "later")
    assert [(line["where"], line["seconds"], line["blocks"]) for line in lines] == [
        ("first", 0.2, 1),
        ("longest", 0.9, 3),
    ]


async def test_waiting_without_processor_time_is_a_block_that_costs_none() -> None:
    watchdog = LoopWatchdog()
    watchdog.start()
    try:
        await asyncio.sleep(0)
        time.sleep(0.4)
        await next_beat(watchdog, 1)
    finally:
        watchdog.stop()
    assert watchdog.longest_seconds > 0.2
    assert watchdog.longest_cpu_seconds < 0.1
