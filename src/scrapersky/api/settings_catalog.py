"""All settings with values, defaults and sources: for the API, `scrapersky settings` and the pages about settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from scrapersky.bootstrap import read_settings
from scrapersky.core.settings import Environment, Settings
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.tuning import Tuning
from scrapersky.store.operations.retention import RETAINED

MASK = "********"
# The first prefix that matches is the group.
GROUPS = {
    "DATABASE_": "The database",
    "MIGRATION_": "The database",
    "SCRAPERSKY_DATABASE_": "The database",
    "SCRAPERSKY_": "The process",
    "SCHEDULER_": "The scheduler",
    "CRAWL_": "The crawler",
    "DESTINATION_": "The destinations",
    "PROVIDER_": "The providers",
    "SITE_SEARCH_": "The search for missing web sites",
}


@dataclass(frozen=True)
class Setting:
    """A variable with its value, default and source."""

    group: str
    name: str
    value: Any
    default: Any
    source: str
    description: str


def every_setting(environment: Environment, pipeline: Pipeline) -> list[Setting]:
    """Return the settings of the process, then those of each workflow. Raises BadSetting."""
    settings, tunings = read_settings(environment, pipeline)
    return [*_of_process(environment, settings), *_of_workflows(environment, settings, pipeline, tunings)]


def of_database(days: Mapping[str, int] | None) -> list[Setting]:
    """Return the settings that the database holds for all hosts; without its values, their default and why."""
    source = "the database does not respond" if days is None else "database"
    return [
        Setting(
            "The database, for all hosts",
            f"retention {name}",
            None if days is None else days[name],
            kind.default_days,
            source,
            f"days after which these are deleted: {kind.meaning}",
        )
        for name, kind in RETAINED.items()
    ]


def grouped(settings: Iterable[Setting]) -> dict[str, list[Setting]]:
    """Group the settings; groups are ordered by their first setting."""
    groups: dict[str, list[Setting]] = {}
    for setting in settings:
        groups.setdefault(setting.group, []).append(setting)
    return groups


def shown(value: Any) -> str:
    """Format a value as in .env."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_process(environment: Environment, settings: Settings) -> Iterator[Setting]:
    for field_name, field in Settings.model_fields.items():
        name = field.alias or field_name
        yield Setting(
            group=next(group for prefix, group in GROUPS.items() if name.startswith(prefix)),
            name=name,
            value=_plain(getattr(settings, field_name)),
            # The default directory is different on each machine.
            default=None if isinstance(field.default, Path) else _plain(field.default),
            source=environment.source(name),
            description=(field.description or "")
            + (" (default: scrapersky in the user's data directory)" if isinstance(field.default, Path) else ""),
        )


def _of_workflows(
    environment: Environment, settings: Settings, pipeline: Pipeline, tunings: dict[str, Tuning]
) -> Iterator[Setting]:
    for workflow in pipeline:
        for field_name, field in Tuning.model_fields.items():
            name = workflow.settings_prefix + field_name.upper()
            source = environment.source(name)
            if field_name == "interval_seconds" and source == "default" and settings.interval_seconds:
                source = "SCHEDULER_INTERVAL_SECONDS"
            yield Setting(
                group=f"WF{workflow.number} {workflow.name}",
                name=name,
                value=_plain(getattr(tunings[workflow.name], field_name)),
                default=_plain(getattr(workflow.tuning, field_name)),
                source=source,
                description=field.description or "",
            )


def _plain(value: Any) -> Any:
    """Convert a value to JSON types, and mask secrets."""
    match value:
        case SecretStr():
            return MASK
        case bool() | None:
            return value
        case float() if value.is_integer():
            return int(value)
        case int() | float():
            return value
        case _:
            return str(value)
