"""WF2: a place becomes a local business."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.engine.outcomes import GiveUp
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Produced, Workflow
from scrapersky.models import Place
from scrapersky.providers.base import PlaceDetails, Providers
from scrapersky.providers.call_budget import CallBudgets, InMemoryCallBudgets
from scrapersky.store.contacts import from_provider
from scrapersky.store.deliveries import deliveries
from scrapersky.store.line import businesses, places, same_business
from scrapersky.store.line.advance_rules import advance, rules_of
from scrapersky.store.steps import AdvanceRules, step_after, step_named

SITE_SEARCH = step_named("site_search").workflow
WITH_WEBSITE = step_after(SITE_SEARCH).workflow


@dataclass(frozen=True)
class PlaceToScan:
    """A place of a provider, with the details that the search returned."""

    provider: str
    provider_id: str
    details: dict[str, Any] | None
    fetched_at: datetime | None
    tenant_id: UUID
    search_id: UUID | None


class DeepScan(Workflow[Place, PlaceToScan, PlaceDetails]):
    """A place becomes a local business: address, hours, phone, website, rating, categories."""

    number = 2
    name = "deep_scan"
    model = Place
    reads = ("provider", "provider_id", "details", "fetched_at", "search_id")
    feeds = step_after(name).workflow
    also_feeds = (WITH_WEBSITE,)
    tuning = Tuning(interval_minutes=5, batch_size=10, max_instances=1)

    def __init__(self, providers: Providers, call_budgets: CallBudgets | None = None) -> None:
        self._providers = providers
        self._call_budgets = call_budgets or InMemoryCallBudgets()

    def read(self, row: Claimed) -> PlaceToScan:
        """Read the place's id at its provider."""
        known = (row.provider, row.provider_id, row.details, row.fetched_at)
        return PlaceToScan(*known, row.tenant_id, row.search_id)

    async def work(self, place: PlaceToScan) -> PlaceDetails:
        """Ask the provider, unless the search returned fresh details (which is much cheaper).

        An imported place has no provider: the details in the file are always used. The cost of a call is charged to the
        budget of the place's search and to its tenant's monthly quota.
        """
        provider = self._providers.get(place.provider)
        if place.details and (provider is None or _is_fresh(place.fetched_at)):
            return PlaceDetails(place.provider, place.provider_id, **place.details)
        if provider is None:
            raise GiveUp(f"No provider named {place.provider!r} is configured, so this place cannot be looked up.")
        return await provider.details(
            place.provider_id, self._call_budgets.of(place.tenant_id, place.search_id, place.provider, "details")
        )

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Place, PlaceDetails]]) -> Produced:
        """Store places and businesses; those that are not rejected advance as the rules of their search allow.

        A business with a web site passes by the search for one. Records of one business are joined.
        """
        tenant_id = found[0][0].tenant_id
        await same_business.lock(session, tenant_id)
        places.refresh(found)
        await places.follow(session, found)
        wanted = await businesses.upsert(session, found)
        if await same_business.compare(session, tenant_id, [one.id for one in wanted]):
            wanted = await businesses.still_wanted(session, wanted)
        rules = await rules_of(session, {place.search_id for place, _ in found})
        await businesses.skip_closed(session, wanted, rules)
        await _keep_contacts(session, wanted, rules, found)
        going_on = {one.id: one for one in wanted if one.may_go_on(rules[one.search_id])}
        without = {one.id: rules[one.search_id] for one in going_on.values() if not one.has_website}
        searched = await advance(session, self.name, without)
        passing = {one.id: rules[one.search_id] for one in going_on.values() if one.id not in set(searched)}
        return Produced(searched, {WITH_WEBSITE: await advance(session, SITE_SEARCH, passing)})


async def _keep_contacts(
    session: AsyncSession,
    wanted: Sequence[businesses.ScannedBusiness],
    rules: Mapping[UUID | None, AdvanceRules],
    found: Sequence[tuple[Place, PlaceDetails]],
) -> None:
    """Store the provider's contact data of businesses that are not permanently closed; deliver numbers by rule."""
    known = {place.id: (place, details) for place, details in found}
    kept = [one for one in wanted if one.may_go_on(rules[one.search_id])]
    verified = [one.id for one in kept if rules[one.search_id].contact_verification == "all"]
    numbers = await from_provider.store(session, {one.id: known[one.place_id] for one in kept}, verified)
    await deliveries.queue_by_rule(session, numbers)


def _is_fresh(fetched_at: datetime | None) -> bool:
    return fetched_at is not None and clock.now() - fetched_at < places.DETAILS_VALIDITY
