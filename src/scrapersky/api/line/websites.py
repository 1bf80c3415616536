"""The web site of a business, set or rejected by a person."""

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter
from pydantic import Field, StringConstraints

from scrapersky.actions.businesses import set_website as websites
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, CurrentActor, requires
from scrapersky.api.line.resources import BUSINESSES
from scrapersky.api.schemas.fields import RequestModel, RowId
from scrapersky.api.schemas.listing import CuratedSummary
from scrapersky.extract.company_domain import MAX_URL_LENGTH

if TYPE_CHECKING:
    BusinessSummary = CuratedSummary
else:
    BusinessSummary = BUSINESSES.summary

router = APIRouter(prefix="/businesses", tags=["businesses"])


NO_CONTROLS = r"^[^\x00-\x1f\x7f]+$"


class BusinessWebsite(RequestModel):
    """The web site of a business."""

    website: Annotated[str, StringConstraints(min_length=1, max_length=MAX_URL_LENGTH, pattern=NO_CONTROLS)] | None = (
        Field(
            description="its address; null: the site that the business has is not its own",
            examples=["https://kallio-dental.example/"],
        )
    )


@router.put("/{id}/website", summary="Set or reject the web site", **requires(CURATOR, 400, 404))
async def put_business_website(
    row_id: RowId, body: BusinessWebsite, application: CurrentApplication, actor: CurrentActor
) -> BusinessSummary:
    """Set the web site by hand: nothing overwrites it, and its domain is queued. Null rejects the site for good."""
    async with application.database.session(actor.tenant_id) as session:
        business = await websites.set_website(session, actor, row_id, body.website)
        return BusinessSummary.model_validate(business)
