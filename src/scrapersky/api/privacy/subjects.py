"""Subjects: everything that is held about one person, to answer a request with."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.privacy.erasures import SubjectQuery
from scrapersky.store.privacy import subject_access

router = APIRouter(prefix="/subjects", tags=["subjects"], responses=problems(422, 503))


class SubjectMention(BaseModel):
    """A row elsewhere that mentions the person."""

    table: str
    id: list[str]
    columns: list[str]


class SubjectDelivery(BaseModel):
    """A destination that was sent the contact, or will be."""

    contact_id: UUID
    destination: str
    kind: str
    external_id: str | None
    delivered_at: datetime | None
    status: str


class SubjectSuppression(BaseModel):
    """Why the person is not written to."""

    kind: str
    origin: str
    reason: str | None
    since: datetime


class SubjectReport(BaseModel):
    """All there is."""

    contacts: list[dict[str, Any]] = Field(description="every fact, with `source_url`, `created_at` and `seen_at`")
    copies: list[SubjectMention]
    deliveries: list[SubjectDelivery]
    suppressions: list[SubjectSuppression]


@router.get("", summary="What is held about a person", openapi_extra=requires(ADMIN), responses=problems(400))
async def get_subject(
    whom: Annotated[SubjectQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> SubjectReport:
    """By `email`, by `phone`, or by `name` with `domain`. That you asked is audited, by hash."""
    async with application.database.session(actor.tenant_id) as session:
        return SubjectReport.model_validate(await subject_access.subject_data(session, actor, whom.named()))
