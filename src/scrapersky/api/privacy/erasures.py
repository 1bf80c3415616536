"""Erasures: delete everything about a person, after a preview."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from scrapersky.actions import erase_person as erasure
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.schemas.fields import Count, RequestModel, ResponseModel
from scrapersky.core.text_rules import Text
from scrapersky.store.privacy.identify import PersonQuery

router = APIRouter(prefix="/erasures", tags=["erasures"])


class SubjectQuery(RequestModel):
    """A person: by email address, by phone number with its country code, or by name and domain."""

    email: Text | None = Field(
        None, description="the email address of the person", examples=["anna.virtanen@kallio-dental.example"]
    )
    phone: Text | None = Field(None, description="E.164: +358401234567", examples=["+358401234567"])
    name: Text | None = Field(None, description="only together with `domain`", examples=["Anna Virtanen"])
    domain: Text | None = Field(None, description="the website with the name", examples=["kallio-dental.example"])

    def named(self) -> PersonQuery:
        """Return the person as the store expects it."""
        return PersonQuery(self.email, self.phone, self.name, self.domain)


class ErasureRequest(SubjectQuery):
    """The person to erase; nothing is changed unless `preview` is false."""

    preview: bool = Field(True, strict=True, description="only report what would be erased", examples=[True])


class ReceiverSummary(ResponseModel):
    """A destination that received the person's data."""

    destination: str = Field(description="the name of the destination", examples=["sales CRM"])
    kind: str = Field(description="the kind of destination", examples=["hubspot"])
    external_id: str | None = Field(description="the id of the person at the destination", examples=["10351"])
    delivered_at: datetime | None = Field(description="when the data was last delivered; empty: never accepted")


class ErasureReport(ResponseModel):
    """What is erased, or would be."""

    preview: bool = Field(description="whether nothing was changed")
    contacts: Count = Field(description="contacts that are deleted", examples=[1])
    stripped: Count = Field(description="shared contacts that lose the person's name, title and number", examples=[0])
    deliveries: Count = Field(description="deliveries that are deleted with them", examples=[1])
    mentions: dict[str, Count] = Field(
        description="other rows from which mentions are removed, by table", examples=[{"audit": 2}]
    )
    receivers: list[ReceiverSummary] = Field(
        description="who received the data: ask them to delete it; this list is not stored"
    )
    hashes: list[str] = Field(
        description="what is kept: SHA-256 of each address, number and name at a website",
        examples=[["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]],
    )


@router.post("", summary="Erase a person", **requires(ADMIN, 400))
async def erase_person(body: ErasureRequest, application: CurrentApplication, actor: CurrentActor) -> ErasureReport:
    """Delete contacts, deliveries and every mention in other rows and in the audit log, in one transaction.

    The hash is kept also if nothing was found, so that the person is not stored later.
    """
    async with application.database.session(actor.tenant_id) as session:
        do = erasure.preview if body.preview else erasure.erase
        done = await do(session, actor, body.named())
    return ErasureReport.model_validate({**vars(done), "preview": body.preview})
