"""A process without the web: builds the house, runs its engine until it is told to stop."""

import asyncio
import signal
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from scrapersky.actions.jobs import RunJobs
from scrapersky.core.cancellation import heed_cancel
from scrapersky.core.database import Database, check_server, is_connection_error
from scrapersky.core.errors import BadSetting
from scrapersky.core.migrations import check_schema
from scrapersky.core.settings import Environment, Settings, load, refuse_unknown, setting_names
from scrapersky.core.vault import Vault, open_vault
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.web import Web
from scrapersky.destinations.registry import Couriers
from scrapersky.engine.events import Events
from scrapersky.engine.maintenance import standard_maintenance
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.runtime import Runtime
from scrapersky.engine.tuning import Tuning, tune, tuning_names
from scrapersky.maintenance.expire_contacts import ForgetContacts
from scrapersky.maintenance.expire_provider_data import PurgeExpired
from scrapersky.maintenance.prune import PruneAudit, PruneJobs
from scrapersky.maintenance.refresh_place_ids import RefreshIds
from scrapersky.observe.event_log import log_event
from scrapersky.observe.metrics import Metrics
from scrapersky.observe.run_history import record_runs
from scrapersky.pipeline import the_line
from scrapersky.providers.base import Providers
from scrapersky.providers.google.provider import GooglePlaces
from scrapersky.providers.registry import configured_providers
from scrapersky.store.accounts.sessions import ForgetSessions
from scrapersky.store.deliveries.outbox import Outbox
from scrapersky.store.money.detail_budget import StoredPurses
from scrapersky.store.money.quota_reschedule import Rebook
from scrapersky.store.searches.journal import StoredJournals
from scrapersky.store.shared.host_limits import ForgetHosts, SharedHostLimits
from scrapersky.store.shared.provider_cooldowns import StoredRests
from scrapersky.store.shared.rate_limits import ForgetBuckets
from scrapersky.store.shared.response_cache import ForgetAnswers, StoredAnswers

log = structlog.get_logger(__name__)

IDLE_HORIZON_SECONDS = 60.0  # rows that wait longer than this do not keep `--until-idle` up


@dataclass(frozen=True)
class House:
    """The built objects of a process."""

    settings: Settings
    database: Database
    web: Web
    providers: Providers
    pipeline: Pipeline
    tunings: dict[str, Tuning]
    events: Events
    metrics: Metrics
    runtime: Runtime
    system_user_id: UUID
    vault: Vault
    couriers: Couriers

    async def close(self) -> None:
        """Give back every connection and end every child."""
        await self.couriers.close()
        await self.web.close()
        await self.database.close()


def read_settings(environment: Environment, pipeline: Pipeline) -> tuple[Settings, dict[str, Tuning]]:
    """Every setting, checked: a wrong value or an unknown name of ours is a sentence, not a surprise."""
    prefixes = [workflow.settings_prefix for workflow in pipeline]
    known = [*setting_names(), *(name for prefix in prefixes for name in tuning_names(prefix))]
    refuse_unknown(environment, known, prefixes)
    settings = load(environment)
    tunings = {
        workflow.name: tune(workflow.settings_prefix, workflow.tuning, environment, settings.interval_seconds)
        for workflow in pipeline
    }
    return settings, tunings


async def open_house(
    environment: Environment, providers: Providers | None = None, pipeline: Pipeline | None = None
) -> House:
    """Build everything a process needs, and refuse to start on what cannot work."""
    settings, tunings = read_settings(environment, pipeline or the_line({}))
    database = Database.from_settings(settings)
    vault = open_vault(settings)
    host_limits = SharedHostLimits(database, settings)
    web = Web(settings, host_limits)
    if providers is None:
        providers = configured_providers(
            settings,
            web,
            lambda manners: SharedHostLimits(database, settings, manners),
            StoredRests(database),
            StoredAnswers(database),
        )
    couriers = _couriers(web)
    journals, purses = StoredJournals(database), StoredPurses(database)
    line = pipeline or the_line(providers, web, journals, Outbox(database, vault), couriers, purses)
    try:
        await check_server(database)
        await check_schema(database)
        system_user_id = await _system_user(database, settings)
    except BaseException:
        await database.close()
        raise
    events, metrics = Events(), Metrics()
    for listener in (log_event, metrics.count_event, record_runs(database)):
        events.subscribe(listener)
    forgetting = [ForgetHosts(), ForgetBuckets(), ForgetAnswers(), ForgetSessions(), PurgeExpired()]
    forgetting += [PruneAudit(settings), PruneJobs(settings), ForgetContacts(settings)]
    maintenance = [*standard_maintenance(line, tunings, settings), *forgetting, RunJobs(database), Rebook(database)]
    maintenance.append(RefreshIds(database, [one for one in providers.values() if isinstance(one, GooglePlaces)]))
    runtime = Runtime(line, tunings, database, events, settings, maintenance)
    return House(
        settings, database, web, providers, line, tunings, events, metrics, runtime, system_user_id, vault, couriers
    )


def _couriers(web: Web) -> Couriers:
    """Deliveries go out through the same guarded client as everything else."""

    async def client() -> Client:
        return (await web.crawler()).client

    return Couriers(client)


async def _system_user(database: Database, settings: Settings) -> UUID:
    """The user that the workflows act as: the configured one must be in force, and of those who run the house."""
    wanted = settings.system_user_id
    async with database.engine_connection() as connection:
        if wanted is None:
            found: UUID | None = await connection.fetchval(
                'SELECT id FROM "user" WHERE is_system ORDER BY created_at LIMIT 1'
            )
        else:
            found = await connection.fetchval(
                'SELECT u.id FROM "user" u JOIN tenant t ON t.id = u.tenant_id WHERE u.id = $1 '
                "AND u.disabled_at IS NULL AND t.disabled_at IS NULL AND t.is_house",
                wanted,
            )
    if found is None:
        raise BadSetting(
            f"SCHEDULER_SYSTEM_USER_ID={wanted} is no active user of the tenant that runs the house. "
            "Name one that is, or remove it to use the built-in one."
            if wanted
            else "The database has no system user; set SCHEDULER_SYSTEM_USER_ID to an existing user."
        )
    return found


async def run_worker(house: House, until_idle: bool = False) -> None:
    """Work until SIGTERM or SIGINT (a second one hurries), or until nothing is left to do."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def asked_to_stop() -> None:
        if stop.is_set():
            log.warning("stopping_at_once")
            house.runtime.hurry()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked_to_stop)
    house.runtime.start()
    try:
        if until_idle:
            await _first_of(stop.wait(), wait_until_idle(house))
        else:
            await stop.wait()
    finally:
        await house.runtime.stop()
        await house.close()


async def wait_until_idle(house: House) -> None:
    """Return when no row is ready, being worked on, or due within a minute; a paused queue is not waited for."""
    while True:
        await asyncio.sleep(min(0.2, house.settings.poll_seconds))
        try:
            busy = await _is_busy(house)
        except Exception as error:
            heed_cancel(error)
            if not is_connection_error(error):
                raise
            continue  # a database that is away is waited for; the engine itself says so
        if not busy:
            return


async def _is_busy(house: House) -> bool:
    async with house.database.engine_connection() as connection:
        paused = await connection.fetch("SELECT workflow FROM workflow_control WHERE paused_at IS NOT NULL")
        resting = {row["workflow"] for row in paused}
        for name, queue in house.pipeline.queues.items():
            if name in resting:
                busy = house.runtime.stations[name].running > 0  # it finishes what it has in hand
            else:
                busy = await queue.is_busy(connection, IDLE_HORIZON_SECONDS)
            if busy:
                return True
    return False


async def _first_of(*awaited: Coroutine[Any, Any, Any]) -> None:
    tasks = [asyncio.create_task(one) for one in awaited]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
