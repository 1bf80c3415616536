"""Erasures: delete everything about a person, after a preview."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from scrapersky.actions import erase_person as erasure
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.schemas.fields import RequestModel, ResponseModel
from scrapersky.core.text_rules import Text
from scrapersky.store.privacy.identify import PersonQuery

router = APIRouter(prefix="/erasures", tags=["erasures"])


class SubjectQuery(RequestModel):
    """A person: by email address, by phone number with its country code, or by name and domain."""

    email: Text | None = None
    phone: Text | None = Field(None, description="E.164: +358401234567")
    name: Text | None = Field(None, description="only together with `domain`")
    domain: Text | None = Field(None, description="the website with the name")

    def named(self) -> PersonQuery:
        """Return the person as the store expects it."""
        return PersonQuery(self.email, self.phone, self.name, self.domain)


class ErasureRequest(SubjectQuery):
    """The person to erase; nothing is changed unless `preview` is false."""

    preview: bool = Field(True, strict=True, description="only report what would be erased")


class ReceiverSummary(ResponseModel):
    """A destination that received the person's data."""

    destination: str
    kind: str
    external_id: str | None = Field(description="the id of the person at the destination")
    delivered_at: datetime | None


class ErasureReport(ResponseModel):
    """What is erased, or would be."""

    preview: bool
    contacts: int = Field(description="contacts that are deleted")
    stripped: int = Field(description="shared contacts that lose the person's name, title and number")
    deliveries: int = Field(description="deliveries that are deleted with them")
    mentions: dict[str, int] = Field(description="other rows from which mentions are removed, by table")
    receivers: list[ReceiverSummary] = Field(
        description="who received the data: ask them to delete it; this list is not stored"
    )
    hashes: list[str] = Field(description="what is kept: SHA-256 of each address, number and name at a website")


@router.post("", summary="Erase a person", **requires(ADMIN, 400))
async def erase_person(body: ErasureRequest, application: CurrentApplication, actor: CurrentActor) -> ErasureReport:
    """Delete contacts, deliveries and every mention in other rows and in the audit log, in one transaction.

    The hash is kept also if nothing was found, so that the person is not stored later.
    """
    async with application.database.session(actor.tenant_id) as session:
        do = erasure.preview if body.preview else erasure.erase
        done = await do(session, actor, body.named())
    return ErasureReport.model_validate({**vars(done), "preview": body.preview})
