"""The periodic task that starts the runs of schedules."""

from collections import Counter

import structlog

from scrapersky.actions.searches.schedules import start_run
from scrapersky.core.database import Database
from scrapersky.engine.maintenance import MaintenanceTask
from scrapersky.providers.base import Providers
from scrapersky.store.searches import schedules

log = structlog.get_logger(__name__)


class RunSchedules(MaintenanceTask):
    """Starts the runs that are due. Whichever process looks first starts a run; a lock prevents a second start."""

    name = "run_schedules"
    interval_minutes = 0.25

    def __init__(self, providers: Providers) -> None:
        self._providers = providers

    async def run_on(self, database: Database) -> str:
        """Start each run in a transaction of its own. An error of one does not stop the others, and is raised then."""
        async with database.engine_connection() as connection:
            due = await schedules.due_runs(connection)
        outcomes, errors = Counter[str](), list[Exception]()
        for run in due:
            try:
                outcome = await start_run(database, self._providers, run)
            except Exception as error:  # noqa: BLE001 - it is raised at the end
                errors.append(error)
                continue
            if outcome is not None:
                outcomes[outcome] += 1
                log.info("schedule_run", schedule=str(run.schedule_id), search=str(run.search_id), outcome=outcome)
        if errors:
            raise errors[0]
        return ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "no run was due"
