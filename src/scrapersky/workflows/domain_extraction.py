"""WF3: a business's website becomes its web domain."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, PlatformProfile, parse_website
from scrapersky.models import LocalBusiness
from scrapersky.store.line import domains
from scrapersky.store.line.advance_rules import advance, rules_of
from scrapersky.store.steps import step_after


class DomainExtraction(Workflow[LocalBusiness, str | None, CompanyDomain | PlatformProfile]):
    """A website becomes a registrable domain; a page on a platform is kept as a profile."""

    number = 3
    name = "domain_extraction"
    model = LocalBusiness
    reads = ("website",)
    feeds = step_after(name).workflow
    tuning = Tuning(interval_minutes=2, batch_size=20, max_instances=1)

    def read(self, row: Claimed) -> str | None:
        """Read the website as the provider gave it."""
        website: str | None = row.website
        return website

    async def work(self, website: str | None) -> CompanyDomain | PlatformProfile:
        """Parse the website; nothing is fetched."""
        if not website or not website.strip():
            raise Skip("no website")
        try:
            return parse_website(website)
        except InvalidWebsite as error:
            raise Skip(f"no usable website: {error}") from None

    async def write_batch(
        self, session: AsyncSession, found: Sequence[tuple[LocalBusiness, CompanyDomain | PlatformProfile]]
    ) -> Iterable[UUID]:
        """Link each business to its domain, or keep the profile with it."""
        for business, where in found:
            if isinstance(where, PlatformProfile):
                business.profiles = {**(business.profiles or {}), where.platform: where.url}
        linked = await domains.link(
            session, [(business, where) for business, where in found if isinstance(where, CompanyDomain)]
        )
        rules = await rules_of(session, linked.values())
        return await advance(session, self.name, {row_id: rules[search_id] for row_id, search_id in linked.items()})
