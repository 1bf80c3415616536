"""The periodic tasks of every process that runs the scheduler."""

from scrapersky.core.database import Database
from scrapersky.core.settings import Settings
from scrapersky.engine.maintenance import MaintenanceTask, standard_maintenance
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.tuning import Tuning
from scrapersky.maintenance.compare_businesses import CompareBusinesses
from scrapersky.maintenance.complete_runs import CompleteRuns
from scrapersky.maintenance.expire_contacts import ExpireContacts
from scrapersky.maintenance.expire_provider_data import ExpireProviderData
from scrapersky.maintenance.prune import (
    PruneAudit,
    PruneBodyCache,
    PruneHostLimits,
    PruneJobs,
    PruneRateLimits,
    PruneResponseCache,
    PruneSessions,
)
from scrapersky.maintenance.refresh_place_ids import RefreshPlaceIds
from scrapersky.maintenance.reschedule_quota_rows import RescheduleQuotaRows
from scrapersky.providers.base import Providers
from scrapersky.providers.registry import renewing_ids


def maintenance_tasks(
    pipeline: Pipeline, tunings: dict[str, Tuning], settings: Settings, database: Database, providers: Providers
) -> list[MaintenanceTask]:
    """Build all periodic tasks, but for the one that runs jobs (actions/jobs)."""
    return [
        *standard_maintenance(pipeline, tunings, settings),
        PruneHostLimits(),
        PruneRateLimits(),
        PruneResponseCache(),
        PruneBodyCache(),
        PruneSessions(),
        PruneAudit(),
        PruneJobs(),
        ExpireProviderData(),
        ExpireContacts(),
        CompareBusinesses(),
        RescheduleQuotaRows(),
        CompleteRuns(),
        RefreshPlaceIds(database, renewing_ids(providers)),
    ]
