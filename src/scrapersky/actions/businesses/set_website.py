"""Set the web site of a business by hand, or reject the one it has: both decisions last."""

from uuid import UUID

from sqlalchemy import func, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import Status, WebsiteHow
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.models import LocalBusiness
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import BUSINESSES
from scrapersky.store.operations.queue_rows import IN_QUEUE

MAX_REJECTED = 50  # of a business; the oldest are forgotten
AUDITED = ("website", "website_how", "website_confidence", "website_proof", "rejected_websites")


class BadWebsite(ScraperSkyError):
    """This is not the address of a web site."""

    status_code = 422
    fields = ("website",)


async def set_website(session: AsyncSession, actor: Actor, business_id: UUID, website: str | None) -> LocalBusiness:
    """Store the web site of a business and queue its domain; None rejects the site that the business has.

    The link to the domain of the former site is removed, with the results of searches that have it only through this
    business. Raises UnknownRow or BadWebsite.
    """
    domain = _domain_of(website) if website is not None else None
    business: LocalBusiness = await lists.get(session, BUSINESSES, actor.tenant_id, business_id, lock=True)
    before = {name: getattr(business, name) for name in AUDITED}
    if business.website and business.website != website:
        former = [business.website, *([name] if (name := _known_domain(business.website)) else [])]
        business.rejected_websites = list(dict.fromkeys([*business.rejected_websites, *former]))[-MAX_REJECTED:]
    business.website, business.website_how, business.website_confidence, business.website_proof = None, None, None, None
    if website is not None:
        kept = [one for one in business.rejected_websites if one not in (website, domain)]
        business.rejected_websites, business.website = kept, website
        business.website_how, business.website_confidence = WebsiteHow.PERSON, 1.0
        business.website_proof = f"set by {actor.name}"
        if business.domain_extraction_status not in IN_QUEUE:
            business.domain_extraction_status = Status.QUEUED
    business.updated_at = func.now()
    await session.flush()
    for statement in (_UNLINK_SEARCHES, _UNLINK):
        await session.execute(statement, {"business": business_id, "domain": domain})
    await session.refresh(business)
    after = {name: getattr(business, name) for name in AUDITED}
    await audit.record(session, actor, "set website", f"business {business_id}", before, after)
    return business


def _domain_of(website: str) -> str | None:
    """Return the domain of the site; None for a page on a platform. Raises BadWebsite."""
    try:
        found = parse_website(website)
    except InvalidWebsite as error:
        raise BadWebsite(f"{website[:80]!r} cannot be used: {error} Write https://www.kallio-dental.fi/.") from None
    return found.name if isinstance(found, CompanyDomain) else None


def _known_domain(website: str) -> str | None:
    try:
        return _domain_of(website)
    except BadWebsite:
        return None  # the provider gave something that is not an address


_OLD = """SELECT l.domain_id FROM business_domain l JOIN domain d ON d.id = l.domain_id
    WHERE l.business_id = :business AND d.name IS DISTINCT FROM cast(:domain AS text)"""
# A search keeps the domain if another of its businesses has it.
_UNLINK_SEARCHES = text(f"""
DELETE FROM search_domain f WHERE f.domain_id IN ({_OLD})
    AND f.search_id IN (SELECT search_id FROM search_business WHERE business_id = :business)
    AND NOT EXISTS (SELECT FROM business_domain l JOIN search_business o ON o.business_id = l.business_id
        WHERE l.domain_id = f.domain_id AND l.business_id <> :business AND o.search_id = f.search_id)""")  # noqa: S608
_UNLINK = text(f"DELETE FROM business_domain WHERE business_id = :business AND domain_id IN ({_OLD})")  # noqa: S608
