"""Subject access: everything that is stored about one person."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.privacy.erasures import SubjectQuery
from scrapersky.store.privacy import subject_access

router = APIRouter(prefix="/subjects", tags=["subjects"])


class SubjectMention(BaseModel):
    """A row of another table that mentions the person."""

    table: str
    id: list[str]
    columns: list[str]


class SubjectDelivery(BaseModel):
    """A delivery of the person's contact to a destination."""

    contact_id: UUID
    destination: str
    kind: str
    external_id: str | None
    delivered_at: datetime | None
    status: str


class SubjectSuppression(BaseModel):
    """A suppression of the person."""

    kind: str
    origin: str
    reason: str | None
    since: datetime


class SubjectReport(BaseModel):
    """Everything that is stored about the person."""

    contacts: list[dict[str, Any]] = Field(description="every fact, with `source_url`, `created_at` and `seen_at`")
    copies: list[SubjectMention]
    deliveries: list[SubjectDelivery]
    suppressions: list[SubjectSuppression]


@router.get("", summary="What is stored about a person", **requires(ADMIN, 400))
async def get_subject(
    subject: Annotated[SubjectQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> SubjectReport:
    """Return what is stored about a person (`email`, `phone`, or `name` and `domain`). The request is audited."""
    async with application.database.session(actor.tenant_id) as session:
        return SubjectReport.model_validate(await subject_access.subject_data(session, actor, subject.named()))
