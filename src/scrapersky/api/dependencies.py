"""What the routes are given: the opened house, and what was learned when it was opened."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from scrapersky.api.http.downloads import Downloads
from scrapersky.core.database import Database
from scrapersky.core.passwords import Passwords
from scrapersky.core.settings import Settings
from scrapersky.core.vault import Vault
from scrapersky.destinations.registry import Couriers
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.runtime import Runtime
from scrapersky.engine.tuning import Tuning
from scrapersky.observe.metrics import Metrics
from scrapersky.providers.base import Providers


@dataclass(frozen=True)
class Office:
    """The objects behind the counter."""

    settings: Settings
    database: Database
    pipeline: Pipeline
    tunings: Mapping[str, Tuning]
    metrics: Metrics
    runtime: Runtime
    runs_engine: bool  # whether this process works on the queues, or only answers
    providers: Providers  # who can be asked for places
    passwords: Passwords
    signing_key: bytes = field(repr=False)  # of the tokens of those who are logged in
    revision: str  # the schema this process was started on
    vault: Vault  # opens the secrets of destinations
    couriers: Couriers  # know the way to them
    downloads: Downloads  # the files that are on their way out


async def office_of(request: Request) -> Office:
    """The office of the application that was asked."""
    office: Office = request.app.state.office
    return office


Given = Annotated[Office, Depends(office_of)]
