"""A watchdog of the event loop: measures how long it was blocked, and logs where."""

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)

BEAT_SECONDS = 0.05
BLOCK_SECONDS = 0.1  # a longer block is logged and counted
LOG_SECONDS = 10.0  # at most one line in this time, about the longest of the blocks since the line before
FRAMES = 6


class LoopWatchdog:
    """Beats in the loop; a thread samples the stack of the loop when a beat is late.

    `longest_cpu_seconds` is the processor time of the longest block: a busy machine makes beats late, but only our own
    code uses processor time of the loop's thread. `report` is called with the seconds of each block.
    """

    def __init__(self, report: Callable[[float], None] | None = None) -> None:
        self.blocks = 0
        self.longest_seconds = 0.0
        self.longest_cpu_seconds = 0.0
        self._report = report
        self._beat_at = self._cpu_at = 0.0
        self._logged_at, self._unlogged = -LOG_SECONDS, 0
        self._worst = (0.0, 0.0, "")  # seconds, CPU seconds and place of the longest block that is not logged yet
        self._where: str | None = None
        self._loop_thread = 0
        self._handle: asyncio.TimerHandle | None = None
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin to watch the running loop."""
        self._loop_thread = threading.get_ident()
        self._beat_at, self._cpu_at = time.monotonic(), time.thread_time()
        self._schedule()
        threading.Thread(target=self._sample, name="scrapersky-watchdog", daemon=True).start()

    def stop(self) -> None:
        """End the watch."""
        self._stopped.set()
        if self._handle is not None:
            self._handle.cancel()

    def _schedule(self) -> None:
        self._handle = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beat)

    def _beat(self) -> None:
        now, cpu = time.monotonic(), time.thread_time()
        late, used = now - self._beat_at - BEAT_SECONDS, cpu - self._cpu_at
        where, self._where = self._where, None
        self._beat_at, self._cpu_at = now, cpu
        if late > BLOCK_SECONDS:
            self._count(late, min(used, late), where or "unknown")
        self._schedule()

    def _count(self, seconds: float, cpu_seconds: float, where: str) -> None:
        self.blocks += 1
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.longest_cpu_seconds = max(self.longest_cpu_seconds, cpu_seconds)
        self._unlogged += 1
        self._worst = max(self._worst, (seconds, cpu_seconds, where))
        if self._report is not None:
            self._report(seconds)
        if time.monotonic() - self._logged_at >= LOG_SECONDS:
            seconds, cpu_seconds, where = self._worst
            log.warning(
                "event_loop_blocked",
                seconds=round(seconds, 3),
                cpu_seconds=round(cpu_seconds, 3),
                blocks=self._unlogged,
                where=where,
            )
            self._logged_at, self._unlogged, self._worst = time.monotonic(), 0, (0.0, 0.0, "")

    def _sample(self) -> None:
        """Note what the loop does while its beat is late."""
        while not self._stopped.wait(BEAT_SECONDS):
            is_late = time.monotonic() - self._beat_at > BEAT_SECONDS + BLOCK_SECONDS
            if is_late and self._where is None:
                frame = sys._current_frames().get(self._loop_thread)
                stack = traceback.extract_stack(frame)[-FRAMES:] if frame is not None else []
                self._where = " < ".join(f"{each.name} ({each.filename}:{each.lineno})" for each in reversed(stack))
