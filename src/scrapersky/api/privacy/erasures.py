"""Erasures: a person wants to be forgotten. Seen first, then done, for good."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from scrapersky.actions import erase_person as erasure
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas.fields import RequestModel, Text
from scrapersky.store.privacy.identify import PersonQuery

router = APIRouter(prefix="/erasures", tags=["erasures"], responses=problems(422, 503))


class SubjectQuery(RequestModel):
    """The person: by email address, by phone number with its country, or by name with its domain."""

    email: Text | None = None
    phone: Text | None = Field(None, description="E.164: +358401234567")
    name: Text | None = Field(None, description="only together with `domain`")
    domain: Text | None = Field(None, description="the web site where the name stands")

    def named(self) -> PersonQuery:
        """The same for the store."""
        return PersonQuery(self.email, self.phone, self.name, self.domain)


class ErasureRequest(SubjectQuery):
    """Whom to erase; unless `preview` is false nothing is changed."""

    preview: bool = Field(True, strict=True, description="only tell what would go")


class ReceiverSummary(BaseModel):
    """A destination that has the person."""

    model_config = ConfigDict(from_attributes=True)

    destination: str
    kind: str
    external_id: str | None = Field(description="what the destination calls them")
    delivered_at: datetime | None


class ErasureReport(BaseModel):
    """What goes, or what went."""

    model_config = ConfigDict(from_attributes=True)

    preview: bool
    contacts: int = Field(description="contacts that are deleted")
    stripped: int = Field(description="contacts of an office that lose the person's name, title and number")
    deliveries: int = Field(description="deliveries that are deleted with them")
    mentions: dict[str, int] = Field(description="other rows that lose a mention, by table")
    receivers: list[ReceiverSummary] = Field(
        description="who else has the person: ask them to delete, too; not kept here"
    )
    hashes: list[str] = Field(description="all that is left: SHA-256 of each address, number and name at a web site")


@router.post("", summary="Forget a person", openapi_extra=requires(ADMIN), responses=problems(400))
async def erase_person(body: ErasureRequest, application: CurrentApplication, actor: CurrentActor) -> ErasureReport:
    """In one transaction: contacts, deliveries, every mention in other rows and in the audit.

    Nothing found is fine: the hash is kept, and the person is not stored later either.
    """
    async with application.database.session(actor.tenant_id) as session:
        do = erasure.preview if body.preview else erasure.erase
        done = await do(session, actor, body.named())
    return ErasureReport.model_validate({**vars(done), "preview": body.preview})
