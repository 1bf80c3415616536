"""The composition root: reads the settings and builds every object of a process."""

from dataclasses import dataclass
from uuid import UUID

from scrapersky.actions.jobs import RunJobs
from scrapersky.core.database import Database, check_server
from scrapersky.core.errors import BadSetting
from scrapersky.core.migrations import check_schema
from scrapersky.core.settings import Environment, Settings, load, refuse_unknown, setting_names
from scrapersky.core.vault import Vault, open_vault
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.web import Web
from scrapersky.destinations.registry import DestinationAdapters
from scrapersky.engine.events import Events
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.runtime import Runtime
from scrapersky.engine.tuning import Tuning, tune, tuning_names
from scrapersky.maintenance.tasks import maintenance_tasks
from scrapersky.observe.event_log import log_event
from scrapersky.observe.metrics import Metrics
from scrapersky.observe.run_history import record_runs
from scrapersky.pipeline import build_pipeline
from scrapersky.providers.base import Providers
from scrapersky.providers.registry import configured_providers
from scrapersky.store.deliveries.outbox import Outbox
from scrapersky.store.money.detail_budget import StoredDetailBudgets
from scrapersky.store.searches.journal import StoredJournals
from scrapersky.store.shared.host_limits import SharedHostLimits
from scrapersky.store.shared.provider_cooldowns import StoredCooldowns
from scrapersky.store.shared.response_cache import StoredResponseCache


@dataclass(frozen=True)
class Application:
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
    adapters: DestinationAdapters

    async def close(self) -> None:
        """Give back every connection and end every child."""
        await self.adapters.close()
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


async def open_application(
    environment: Environment, providers: Providers | None = None, pipeline: Pipeline | None = None
) -> Application:
    """Build everything a process needs, and refuse to start on what cannot work."""
    settings, tunings = read_settings(environment, pipeline or build_pipeline({}))
    database = Database.from_settings(settings)
    vault = open_vault(settings)
    host_limits = SharedHostLimits(database, settings)
    web = Web(settings, host_limits)
    if providers is None:
        providers = configured_providers(
            settings,
            web,
            lambda policy: SharedHostLimits(database, settings, policy),
            StoredCooldowns(database),
            StoredResponseCache(database),
        )
    adapters = _destination_adapters(web)
    journals, detail_budgets = StoredJournals(database), StoredDetailBudgets(database)
    line = pipeline or build_pipeline(providers, web, journals, Outbox(database, vault), adapters, detail_budgets)
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
    maintenance = [*maintenance_tasks(line, tunings, settings, database, providers), RunJobs(database)]
    runtime = Runtime(line, tunings, database, events, settings, maintenance)
    return Application(
        settings, database, web, providers, line, tunings, events, metrics, runtime, system_user_id, vault, adapters
    )


def _destination_adapters(web: Web) -> DestinationAdapters:
    """Build the adapters of destinations; deliveries use the same guarded client as the crawler."""

    async def client() -> Client:
        return (await web.crawler()).client

    return DestinationAdapters(client)


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
                "AND u.disabled_at IS NULL AND t.disabled_at IS NULL AND t.is_operator",
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
