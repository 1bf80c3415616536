"""The tuning of a workflow: declared defaults, overridden by the environment, adapted to its queue."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment, bounded, explain


class Tuning(BaseModel):
    """The tuning of one workflow. `DEEP_SCAN_SCHEDULER_BATCH_SIZE` overrides `batch_size` of deep_scan, and so on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    interval_minutes: float = Field(
        1, gt=0, description="minutes between two checks of the queue if no notification arrives; it limits no rate"
    )
    interval_seconds: float | None = Field(None, gt=0, description="the same in seconds, for tests and demos")
    batch_size: int = Field(10, ge=1, le=10_000, description="rows claimed at once; the next batch follows at once")
    max_batch_size: int | None = Field(None, ge=1, le=10_000, description="maximum for a deep queue; empty: ten times")
    max_instances: int = Field(1, ge=1, le=32, description="concurrent cycles per process")
    concurrency: int = Field(10, ge=1, le=1_000, description="rows processed concurrently in one cycle")
    max_per_minute: int = Field(0, ge=0, le=1_000_000, description="rows a minute, by all hosts together; 0: no limit")
    timeout_seconds: float = Field(55, gt=0, description="timeout of one row")
    lease_seconds: float = Field(60, ge=1, description="rows without a heartbeat for this long are requeued")
    max_attempts: int = Field(5, ge=1, le=100, description="attempts until a row becomes a dead letter")
    backoff_seconds: float = Field(10, gt=0, description="delay after the first failure; doubles with each further one")
    max_backoff_seconds: float = Field(3600, gt=0, description="maximum delay between two attempts")
    high_water: int = Field(10_000, ge=1, description="queue depth above which the preceding step pauses")
    oldest_age_limit_seconds: float = Field(3600, gt=0, description="a ready row older than this is reported")
    breaker_error_rate: float = Field(0.5, gt=0, le=1, description="failure rate that opens the breaker")
    breaker_min_rows: int = Field(20, ge=1, description="rows in the window before the breaker can open")
    breaker_window_seconds: float = Field(60, gt=0, description="length of the window of the failure rate")
    breaker_pause_seconds: float = Field(30, gt=0, description="first pause when open; doubles while probes fail")
    breaker_max_pause_seconds: float = Field(900, gt=0, description="maximum pause of an open breaker")

    @field_validator("*")
    @classmethod
    def _check_numbers(cls, given: Any) -> Any:
        return bounded(given)

    @model_validator(mode="after")
    def _consistent(self) -> "Tuning":
        if self.max_batch_size is not None and self.max_batch_size < self.batch_size:
            raise ValueError(f"must leave MAX_BATCH_SIZE at least as large as BATCH_SIZE ({self.batch_size})")
        return self

    @property
    def interval(self) -> float:
        """Seconds between two scheduled runs."""
        return self.interval_seconds or self.interval_minutes * 60

    @property
    def burst(self) -> int:
        """The rows of one second of the throttle, at least one."""
        return max(1, math.ceil(self.max_per_minute / 60))

    @property
    def tokens_per_second(self) -> float:
        """The rate of the throttle; with a full burst at its start, no minute has more than max_per_minute rows."""
        return (self.max_per_minute - self.burst + 1) / 60

    @property
    def max_batch(self) -> int:
        """The maximum number of rows per claim."""
        return self.max_batch_size or self.batch_size * 10


def tuning_names(prefix: str) -> list[str]:
    """Return the names of the settings of one workflow."""
    return [prefix + field.upper() for field in Tuning.model_fields]


def tune(prefix: str, defaults: Tuning, environment: Environment, every: float | None = None) -> Tuning:
    """Override the declared tuning by the environment; `every` is an interval for all workflows."""
    given = {
        field: value for field in Tuning.model_fields if (value := environment.get(prefix + field.upper())) is not None
    }
    values: Mapping[str, Any] = {**defaults.model_dump(), **({"interval_seconds": every} if every else {}), **given}
    if "interval_minutes" in given and "interval_seconds" not in given and not every:
        values = {**values, "interval_seconds": None}
    try:
        return Tuning.model_validate(values)
    except ValidationError as error:
        raise BadSetting(_explain(error, prefix, given)) from None


def _explain(error: ValidationError, prefix: str, given: Mapping[str, str]) -> str:
    named = {prefix + field.upper(): value for field, value in given.items()}
    # Two inconsistent settings: name the one that was given.
    pair = "MAX_BATCH_SIZE" if "max_batch_size" in given else "BATCH_SIZE"
    renamed = ValidationError.from_exception_data(
        error.title,
        [
            {
                "type": "value_error",
                "loc": ((str(problem["loc"][0]).upper() if problem["loc"] else pair),),
                "input": problem.get("input"),
                "ctx": {"error": ValueError(problem["msg"].removeprefix("Input ").removeprefix("Value error, "))},
            }
            for problem in error.errors()
        ],
    )
    return explain(renamed, named, prefix)


@dataclass(frozen=True)
class Pace:
    """The current batch size and interval of a workflow."""

    batch_size: int
    interval_seconds: float


def pace_for(tuning: Tuning, depth: int, item_seconds: float) -> Pace:
    """Compute the pace: larger batches and shorter intervals for a deep queue, smaller batches for slow rows.

    A batch must end well within its lease, and an empty queue is checked no more often than declared.
    """
    wanted = min(max(tuning.batch_size, math.ceil(depth / 10)), tuning.max_batch)
    if item_seconds > 0:
        in_time = min(wanted, tuning.concurrency * tuning.lease_seconds / 3 / item_seconds)
        wanted = max(1, math.floor(in_time))
    batches_waiting = depth / wanted
    interval = max(min(tuning.interval, 1.0), tuning.interval / (1 + batches_waiting))
    return Pace(batch_size=wanted, interval_seconds=round(interval, 3))
