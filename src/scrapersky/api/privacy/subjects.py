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

    table: str = Field(description="the table of the row", examples=["audit"])
    id: list[str] = Field(description="the primary key of the row", examples=[["4711"]])
    columns: list[str] = Field(description="the columns that mention the person", examples=[["after"]])


class SubjectDelivery(BaseModel):
    """A delivery of the person's contact to a destination."""

    contact_id: UUID = Field(description="the contact that was delivered")
    destination: str = Field(description="the name of the destination", examples=["sales CRM"])
    kind: str = Field(description="the kind of destination", examples=["hubspot"])
    external_id: str | None = Field(description="the id of the person at the destination", examples=["10351"])
    delivered_at: datetime | None = Field(description="when the destination last accepted the contact")
    status: str = Field(description="the status of the delivery", examples=["Completed"])


class SubjectSuppression(BaseModel):
    """A suppression of the person."""

    kind: str = Field(description="email, domain, phone or person", examples=["email"])
    origin: str = Field(description="what caused it: person, import, erasure or destination", examples=["person"])
    reason: str | None = Field(description="the reason, as a person wrote it", examples=["asked us"])
    since: datetime = Field(description="since when the person is not contacted")


class SubjectReport(BaseModel):
    """Everything that is stored about the person."""

    contacts: list[dict[str, Any]] = Field(
        description="every fact, with `source_url`, `created_at` and `seen_at`",
        examples=[[{"name": "Anna Virtanen", "email": "anna.virtanen@kallio-dental.example"}]],
    )
    copies: list[SubjectMention] = Field(
        description="rows of other tables that mention the person: audit entries, cached responses, …"
    )
    deliveries: list[SubjectDelivery] = Field(description="what was delivered, and to whom")
    suppressions: list[SubjectSuppression] = Field(description="the suppressions of the person's addresses and numbers")


@router.get("", summary="What is stored about a person", **requires(ADMIN, 400))
async def get_subject(
    subject: Annotated[SubjectQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> SubjectReport:
    """Return what is stored about a person (`email`, `phone`, or `name` and `domain`). The request is audited."""
    async with application.database.session(actor.tenant_id) as session:
        return SubjectReport.model_validate(await subject_access.subject_data(session, actor, subject.named()))
