"""WF7: a page becomes contacts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import REJECTED
from scrapersky.crawl.page import Validators
from scrapersky.crawl.web import Web
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.results import Contacts
from scrapersky.models import Page
from scrapersky.store.contacts import upsert as contacts
from scrapersky.store.contacts.upsert import PageContacts, Stored
from scrapersky.store.line import pages
from scrapersky.store.line.advance_rules import advance, rules_of_domains
from scrapersky.store.line.pages import Visited
from scrapersky.store.steps import step_after

HTML = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class PageToRead:
    """A page, the country of its phone numbers, and the ETag of its last fetch."""

    url: str
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


class PageCuration(Workflow[Page, PageToRead, PageRead]):
    """A page is fetched politely; every contact of that business on it is stored with its source."""

    number = 7
    name = "page_curation"
    model = Page
    queue = "page_processing"
    reads = ("url", "country", "etag")
    feeds = step_after(name).workflow
    reason_code_column = "hidden_reason"
    visits_sites = True
    tuning = Tuning(interval_minutes=1, batch_size=10, max_batch_size=200, max_instances=1, concurrency=50)

    def __init__(self, web: Web) -> None:
        self._web = web

    def read(self, row: Claimed) -> PageToRead:
        """Read the URL and the ETag of the last fetch."""
        return PageToRead(row.url, row.country, row.etag)

    async def work(self, page: PageToRead) -> PageRead:
        """Fetch the page and extract its contacts in a child process."""
        crawler = await self._web.crawler()
        found: Contacts | None = None
        async with crawler.visit() as visit:
            response = await visit.fetch(page.url, validators=Validators(page.etag) if page.etag else None)
            if not response.not_modified:
                if response.content_type not in HTML:
                    raise Skip(f"filtered: it is {response.content_type}, not a page")
                found = await self._web.read(
                    read_contacts, response.encoded, url=response.final_url, region=page.country
                )
        return PageRead(response.status, response.final_url, response.etag, response.fetched_at, found)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Page, PageRead]]) -> Iterable[UUID]:
        """Store each contact once per domain; those with an unverified address advance to verification."""
        said = [PageContacts(row, read.final_url, read.contacts) for row, read in found if read.contacts is not None]
        stored = await contacts.upsert(session, said)
        await contacts.confirm(session, [row.id for row, read in found if read.contacts is None])
        await pages.keep_visits(session, [_visit(row, read, stored.get(row.id)) for row, read in found])
        wanted_pages = [row for row, _ in found if row.id in stored and row.curation_status not in REJECTED]
        new = [(row.domain_id, stored[row.id].unverified) for row in wanted_pages]
        rules = await rules_of_domains(session, {domain_id for domain_id, unverified in new if unverified})
        produced = {contact_id: rules[domain_id] for domain_id, unverified in new for contact_id in unverified}
        return await advance(session, self.name, produced)


def _visit(row: Page, read: PageRead, stored: Stored | None) -> Visited:
    """Build the record of this visit; an unchanged page keeps its former contact count."""
    if stored is None:
        return Visited(row.id, read.fetched_at, read.status, row.etag, row.contact_count, row.hidden_reason)
    hidden = read.contacts.hidden if read.contacts is not None else None
    return Visited(row.id, read.fetched_at, read.status, read.etag, stored.count, hidden)
