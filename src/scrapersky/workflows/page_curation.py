"""WF7: a page becomes contacts."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import REJECTED
from scrapersky.crawl.browser.browser import BrowserVisit
from scrapersky.crawl.errors import BotCheckRequired
from scrapersky.crawl.page import FetchedPage, Validators
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.web import DRAWN_REASONS, Web
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.pages.vocabulary import PageKind
from scrapersky.extract.readers import read_contacts
from scrapersky.extract.results import Contacts
from scrapersky.models import Page
from scrapersky.store.contacts import upsert as contacts
from scrapersky.store.contacts.upsert import PageContacts, Stored
from scrapersky.store.deliveries import deliveries
from scrapersky.store.line import pages
from scrapersky.store.line.advance_rules import advance, rules_of_domains
from scrapersky.store.line.browser_cost import add_cost
from scrapersky.store.line.pages import Visited
from scrapersky.store.searches.browser_rule import BrowserRules
from scrapersky.store.steps import step_after

HTML = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class PageToRead:
    """A page, the country of its phone numbers, and the ETag of its last fetch."""

    domain_id: UUID
    tenant_id: UUID
    url: str
    kind: str | None
    country: str | None
    etag: str | None


@dataclass(frozen=True)
class PageRead:
    """The result of reading a page: its contacts, perhaps none; None if the page has not changed."""

    status: int
    final_url: str
    etag: str | None
    fetched_at: datetime
    contacts: Contacts | None
    drawn: BrowserVisit | None = None


class PageCuration(Workflow[Page, PageToRead, PageRead]):
    """A page is fetched politely; every contact of that business on it is stored with its source."""

    number = 7
    name = "page_curation"
    model = Page
    queue = "page_processing"
    reads = ("domain_id", "url", "kind", "country", "etag")
    feeds = step_after(name).workflow
    reason_code_column = "hidden_reason"
    visits_sites = True
    # Most of these rows wait for their sites: enough of them that a slow site keeps no core idle.
    tuning = Tuning(interval_minutes=1, batch_size=10, max_batch_size=200, max_instances=1, concurrency=100)

    def __init__(self, web: Web, rules: BrowserRules | None = None) -> None:
        self._web = web
        self._rules = rules

    def read(self, row: Claimed) -> PageToRead:
        """Read the URL and the ETag of the last fetch."""
        return PageToRead(row.domain_id, row.tenant_id, row.url, row.kind, row.country, row.etag)

    async def work(self, page: PageToRead) -> PageRead:
        """Fetch the page and extract its contacts in a child process."""
        crawler = await self._web.crawler()
        found: Contacts | None = None
        async with crawler.visit() as visit:
            response, drawn = await self._fetch(visit, page)
            if not response.not_modified:
                if response.content_type not in HTML:
                    raise Skip(f"filtered: it is {response.content_type}, not a page")
                found = await self._read(response, page)
                if drawn is None and found.hidden in DRAWN_REASONS:
                    drawn = await self._web.draw(visit, response.final_url, response, partial(self._may_draw, page))
                    if drawn is not None and drawn.page is not None:
                        found = await self._read(drawn.page, page)
        return PageRead(response.status, response.final_url, response.etag, response.fetched_at, found, drawn)

    async def _fetch(self, visit: Visit, page: PageToRead) -> tuple[FetchedPage, BrowserVisit | None]:
        """Return the page, drawn by the browser if a plain reader meets a bot check."""
        # The home page is kept by domain_metadata; a look into the cache for every page would cost too much.
        fetch = visit.fetch_shared if page.kind == PageKind.HOME else visit.fetch_page
        try:
            return await fetch(page.url, validators=Validators(page.etag) if page.etag else None), None
        except BotCheckRequired as check:
            return await self._web.draw_past_check(visit, check, partial(self._may_draw, page))

    async def _read(self, response: FetchedPage, page: PageToRead) -> Contacts:
        return await self._web.read(read_contacts, response.encoded, url=response.final_url, region=page.country)

    async def _may_draw(self, page: PageToRead) -> bool:
        return self._rules is None or await self._rules.may_draw(page.tenant_id, page.domain_id)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Page, PageRead]]) -> Iterable[UUID]:
        """Store each contact once per domain; unverified addresses advance, numbers alone are delivered by rule."""
        said = [PageContacts(row, read.final_url, read.contacts) for row, read in found if read.contacts is not None]
        stored = await contacts.upsert(session, said)
        await contacts.confirm(session, [row.id for row, read in found if read.contacts is None])
        await pages.keep_visits(session, [_visit(row, read, stored.get(row.id)) for row, read in found])
        wanted_pages = [row for row, _ in found if row.id in stored and row.curation_status not in REJECTED]
        await deliveries.queue_by_rule(session, [each for row in wanted_pages for each in stored[row.id].new_numbers])
        new = [(row.domain_id, stored[row.id].unverified) for row in wanted_pages]
        rules = await rules_of_domains(session, {domain_id for domain_id, unverified in new if unverified})
        produced = {contact_id: rules[domain_id] for domain_id, unverified in new for contact_id in unverified}
        return await advance(session, self.name, produced)


def _visit(row: Page, read: PageRead, stored: Stored | None) -> Visited:
    """Build the record of this visit; an unchanged page keeps its former contact count."""
    total = add_cost(row.browser, read.drawn)
    cost = json.dumps(total) if total is not None else None
    if stored is None:
        kept = (row.etag, row.contact_count, row.hidden_reason, cost, row.has_contact_form)
        return Visited(row.id, read.fetched_at, read.status, *kept)
    found = Contacts() if read.contacts is None else read.contacts
    seen = (read.etag, stored.count, found.hidden, cost, found.has_contact_form)
    return Visited(row.id, read.fetched_at, read.status, *seen)
