"""A job as responses show it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from scrapersky.api.schemas.listing import Summary


class JobSummary(Summary):
    """A job and its progress."""

    kind: str = Field(description="`sitemap_scan`, `curation`, `delivery` or `undo`")
    state: str = Field(description="pending, processing, completed, failed, skipped or cancelled")
    progress: float = Field(description="0 to 1")
    parameters: dict[str, Any] = Field(description="the parameters of the request")
    result: dict[str, Any] | None = Field(description="the result so far")
    error: str | None
    subject_id: UUID | None = Field(description="the row that the job works on")
    finished_at: datetime | None
