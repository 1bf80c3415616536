"""The composition root: reads the settings and builds the objects of a process."""

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from scrapersky.actions.jobs import RunJobs
from scrapersky.actions.searches.run_schedules import RunSchedules
from scrapersky.core.database import WORKER_CONNECTIONS, Database, check_server
from scrapersky.core.errors import BadSetting
from scrapersky.core.open_files import raise_open_file_limit
from scrapersky.core.schema.migrations import check_schema
from scrapersky.core.secrets.vault import Vault, open_vault
from scrapersky.core.server_start import StartWait, when_available
from scrapersky.core.settings import Environment, Settings, load, refuse_unknown, setting_names
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.politeness.host_limits import HostPolicy
from scrapersky.crawl.web import Web
from scrapersky.destinations.registry import DestinationAdapters
from scrapersky.engine.events import Events
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.runtime import Runtime
from scrapersky.engine.tuning import Tuning, tune, tuning_names
from scrapersky.maintenance.tasks import maintenance_tasks
from scrapersky.maintenance.watch_alarms import WatchAlarms
from scrapersky.observe.event_log import log_events
from scrapersky.observe.loop_watchdog import LoopWatchdog
from scrapersky.observe.metrics import Metrics
from scrapersky.observe.run_history import record_runs
from scrapersky.pipeline import build_pipeline
from scrapersky.providers.base import Providers
from scrapersky.providers.osm.nominatim import Nominatim, build_nominatim
from scrapersky.providers.registry import configured_providers, guarded
from scrapersky.providers.web_search import web_search_of
from scrapersky.store.accounts import users
from scrapersky.store.deliveries.outbox import Outbox
from scrapersky.store.line.known_sites import StoredKnownSites
from scrapersky.store.money.call_budget import StoredCallBudgets
from scrapersky.store.searches.browser_rule import BrowserRules
from scrapersky.store.searches.journal import StoredJournals
from scrapersky.store.shared.body_cache import SharedBodyCache
from scrapersky.store.shared.host_limits import SharedHostLimits
from scrapersky.store.shared.provider_cooldowns import StoredCooldowns
from scrapersky.store.shared.response_cache import StoredResponseCache


@dataclass(frozen=True)
class Application:
    """The objects of a process."""

    environment: Environment = field(repr=False)  # where each setting came from
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
    adapters: DestinationAdapters
    watchdog: LoopWatchdog

    @cached_property
    def geocoder(self) -> Nominatim:
        """The geocoder of all providers, with the limits and the cache that all workers share."""

        async def client() -> Client:
            return (await self.web.crawler()).client

        def limits(policy: HostPolicy) -> SharedHostLimits:
            return SharedHostLimits(self.database, self.settings, policy)

        return build_nominatim(self.settings, client, limits, StoredResponseCache(self.database))

    async def close(self) -> None:
        """Close all connections and child processes."""
        self.watchdog.stop()
        await self.adapters.close()
        await self.web.close()
        await self.database.close()


async def open_application(
    environment: Environment,
    providers: Providers | None = None,
    pipeline: Pipeline | None = None,
    connections: int = WORKER_CONNECTIONS,
    wait: StartWait | None = None,
) -> Application:
    """Build the objects of a process, after waiting for its database. Raises BadSetting or Unavailable."""
    settings, tunings = read_settings(environment, pipeline or build_pipeline({}))
    raise_open_file_limit()
    database = await asyncio.to_thread(Database.from_settings, settings, connections)  # may start the embedded server
    vault = open_vault(settings)
    web = Web(settings, SharedHostLimits(database, settings), SharedBodyCache(database, settings))
    adapters = DestinationAdapters(web.delivery_client)
    if providers is None:
        providers = _build_providers(settings, database, web)
    if pipeline is None:
        journals, outbox, budgets = StoredJournals(database), Outbox(database, vault), StoredCallBudgets(database)
        sites = StoredKnownSites(database), web_search_of(settings, web.client), settings
        services = journals, outbox, adapters, budgets, BrowserRules(database), *sites
        pipeline = build_pipeline(providers, web, *services)
    try:
        system_user_id = await when_available(lambda: _check_database(database, settings), wait or StartWait())
    except BaseException:
        await web.close()
        await database.close()
        raise
    database.system_user_id = system_user_id
    events, metrics = Events(), Metrics()
    if web.browser is not None:
        web.browser.on_visit = metrics.count_browser_visit
    watchdog = LoopWatchdog(metrics.loop_blocks.observe)
    for listener in (log_events(), metrics.count_event, record_runs(database)):
        events.subscribe(listener)
    watch = WatchAlarms(pipeline, tunings, adapters, vault)
    own = maintenance_tasks(pipeline, tunings, settings, database, providers)
    maintenance = [*own, RunJobs(pipeline), RunSchedules(providers), watch]
    runtime = Runtime(pipeline, tunings, database, events, settings, maintenance)
    watchdog.start()
    watched = (events, metrics, runtime, system_user_id, vault, adapters, watchdog)
    return Application(environment, settings, database, web, providers, pipeline, tunings, *watched)


def read_settings(environment: Environment, pipeline: Pipeline) -> tuple[Settings, dict[str, Tuning]]:
    """Read all settings, and the tuning of each workflow by name. Raises BadSetting."""
    prefixes = [workflow.settings_prefix for workflow in pipeline]
    known = [*setting_names(), *(name for prefix in prefixes for name in tuning_names(prefix))]
    refuse_unknown(environment, known, prefixes)
    settings = load(environment)
    tunings = {
        workflow.name: tune(workflow.settings_prefix, workflow.tuning, environment, settings.interval_seconds)
        for workflow in pipeline
    }
    return settings, tunings


def _build_providers(settings: Settings, database: Database, web: Web) -> Providers:
    cooldowns = StoredCooldowns(database)
    providers = configured_providers(
        settings,
        web,
        lambda policy: SharedHostLimits(database, settings, policy),
        cooldowns,
        StoredResponseCache(database),
    )
    return guarded(providers, settings, cooldowns)


async def _check_database(database: Database, settings: Settings) -> UUID:
    """Check the server and the schema; return the user that workflows act as. Raises BadSetting if there is none."""
    await check_server(database)
    await check_schema(database)
    configured = settings.system_user_id
    async with database.engine_session() as session:
        user_id = await users.system_user_id(session, configured)
    if user_id is None:
        raise BadSetting(
            f"SCHEDULER_SYSTEM_USER_ID={configured} is not an active user of an operator tenant. "
            "Set it to one, or remove it to use the built-in user."
            if configured
            else "The database has no system user; set SCHEDULER_SYSTEM_USER_ID to an existing user."
        )
    return user_id
