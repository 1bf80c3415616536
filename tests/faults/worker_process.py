"""A real worker over the line made for faults: `python -m tests.faults.worker_process`, told by its environment."""

import asyncio
import datetime
import os
import sys
import time
from pathlib import Path
from typing import Any

from scrapersky.bootstrap import open_application
from scrapersky.core import clock
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment
from scrapersky.engine.events import LeaseLost, RowsRescued
from scrapersky.engine.maintenance import Statistics
from scrapersky.worker import run_worker
from tests.faults.line import Diary, Faults, fault_line


async def run(environment: dict[str, str]) -> None:
    diary = Diary(Path(environment["FAULT_DIARY"]))
    Statistics.interval_minutes = float(environment.get("FAULT_STATISTICS_SECONDS", "15")) / 60
    ours = {name: value for name, value in environment.items() if not name.startswith("FAULT")}
    pipeline = fault_line(Faults.from_environment(environment), diary)
    application = await open_application(Environment(ours, None), pipeline=pipeline)
    configure_logs(application.settings)

    async def tell(event: object) -> None:
        match event:
            case LeaseLost():
                diary.tell("lease_lost", where=event.where, workflow=event.workflow, rows=len(event.row_ids))
            case RowsRescued():
                diary.tell("rescued", workflow=event.workflow, requeued=event.requeued, died=event.died)

    application.events.subscribe(tell)
    diary.tell("started", clock=clock.now().timestamp())
    await run_worker(application)
    diary.tell("stopped")


def shift_the_clock(seconds: float) -> None:
    """Give everyone who asks Python for the wall clock the same wrong answer."""
    true_time, shift = time.time, datetime.timedelta(seconds=seconds)

    class Shifted(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return datetime.datetime.now(tz) + shift

    time.time = lambda: true_time() + seconds
    for name, module in list(sys.modules.items()):
        if name.startswith(("scrapersky", "apscheduler")) and getattr(module, "datetime", None) is datetime.datetime:
            vars(module)["datetime"] = Shifted


if __name__ == "__main__":
    asyncio.run(run(dict(os.environ)))
