"""A job as responses show it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from scrapersky.api.schemas.listing import Summary


class JobSummary(Summary):
    """A job and its progress."""

    kind: str = Field(
        description="`sitemap_scan`, `curation`, `delivery`, `undo`, `import`, or `retry` and `drop` of dead letters",
        examples=["curation"],
    )
    state: str = Field(
        description="pending, processing, completed, failed, skipped or cancelled", examples=["processing"]
    )
    progress: float = Field(description="0 to 1", examples=[0.4])
    parameters: dict[str, Any] = Field(
        description="the parameters of the request", examples=[{"resource": "pages", "curation_status": "Selected"}]
    )
    result: dict[str, Any] | None = Field(description="the result so far", examples=[{"updated": 4000, "queued": 3990}])
    error: str | None = Field(description="why the job failed", examples=["the database was restarted"])
    subject_id: UUID | None = Field(description="the row that the job works on")
    finished_at: datetime | None = Field(description="when the job ended; empty: it has not")
