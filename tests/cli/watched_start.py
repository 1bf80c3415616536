"""`scrapersky` with a watchdog of the event loop from its first step; prints the CPU seconds of the longest block."""

import sys
from collections.abc import Coroutine
from typing import Any

from scrapersky.__main__ import main
from scrapersky.cli.shared import service
from scrapersky.cli.shared.application import run_async
from scrapersky.observe.loop_watchdog import LoopWatchdog


async def watched(work: Coroutine[Any, Any, None]) -> None:
    watchdog = LoopWatchdog()
    watchdog.start()
    try:
        await work
    finally:
        watchdog.stop()
        print(f"longest block: {watchdog.longest_cpu_seconds:.3f}", file=sys.stderr)


if __name__ == "__main__":
    vars(service)["run_async"] = lambda work: run_async(watched(work))
    main()
