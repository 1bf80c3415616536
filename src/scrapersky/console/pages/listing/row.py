"""One row: its facts, its queues, the line before and after it, and its history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line import same_business, websites
from scrapersky.api.line.contacts import ContactDetail
from scrapersky.api.line.same_business import JoinRequest
from scrapersky.api.line.websites import BusinessWebsite
from scrapersky.api.resources.rows import row_detail
from scrapersky.api.schemas.fields import RowId
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS, Grid
from scrapersky.console.forms import BadForm
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import gettext as _
from scrapersky.store.audit import history
from scrapersky.store.audit.history import HistoryEntry
from scrapersky.store.contacts import surroundings
from scrapersky.store.contacts.surroundings import Surroundings
from scrapersky.store.line import business_sources

# Columns of a row that are no facts for people, or are drawn elsewhere.
NOT_FACTS = (
    "website_how",
    "website_confidence",
    "website_proof",
    "same_reason",
    "same_confidence",
    "same_by",
    "id",
    "created_at",
    "updated_at",
    "queues",
    "provenance",
    "curation_status",
    "priority",
)


SINGULAR = {"searches": "search", **{grid.name: grid.api.singular for grid in GRIDS.values()}}
# The filter of the lists behind a row; those behind places and businesses are filtered by their domain.
OWN_FILTERS = {"domains": "domain_id", "sitemaps": "sitemap_id", "pages": "page_id"}


@dataclass(frozen=True)
class RowPage:
    """One row with everything that its template shows."""

    grid: Grid
    row: Any
    history: Sequence[HistoryEntry]
    around: Surroundings = field(default_factory=Surroundings)  # of a contact
    records: Sequence[Mapping[str, Any]] = ()  # of a business: what each provider knows about it

    @property
    def id(self) -> UUID:
        """The id of the row."""
        found: UUID = self.row.id
        return found

    @property
    def facts(self) -> list[tuple[str, Any]]:
        """The columns that have a value, for a noun without a template of its own."""
        return [
            (name, value)
            for name, value in self.row
            if name not in NOT_FACTS
            and not name.endswith(("_id", "_status", "_error"))
            and value not in (None, "", [], {})
        ]

    def noun_of(self, noun: str) -> str:
        """Return what the related rows of a noun are called: in the singular where there is one."""
        return noun if len(self.row.provenance[noun].items) > 1 else SINGULAR[noun]

    def list_of(self, noun: str) -> str | None:
        """Return the list of all related rows of a noun; None where no filter selects them."""
        name, rows = OWN_FILTERS.get(self.grid.name, "domain_id"), [self.row]
        if self.grid.name not in OWN_FILTERS:
            rows = self.row.provenance["domains"].items
        is_filter = noun in GRIDS and name in GRIDS[noun].api.resource.filters
        return f"{CONSOLE}/{noun}?{name}={rows[0].id}" if is_filter and len(rows) == 1 else None

    def name_of(self, noun: str, row_id: UUID | None) -> str | None:
        """Return the name of a row before or after this one."""
        related = self.row.provenance.get(noun)
        return next((one.name for one in related.items if one.id == row_id), None) if related else None


async def read_row(asked: PageRequest, grid: Grid, row_id: UUID) -> RowPage:
    """Read one row. Raises UnknownRow."""
    api, tenant_id = grid.api, asked.actor.tenant_id
    is_contact = grid.name == "contacts"
    detail = ContactDetail if is_contact else api.detail
    row: Any = await row_detail(asked.application, asked.actor, api.resource, detail, row_id)
    bulk = [api.resource.name, *(step.workflow for step in api.resource.steps)]
    async with asked.application.database.session(tenant_id) as session:
        changes = await history.of_row(session, tenant_id, row_id, f"{api.singular} {row_id}", bulk)
        around = await surroundings.of_contact(session, row_id) if is_contact else Surroundings()
        records = await business_sources.of_business(session, row_id) if grid.name == "businesses" else ()
    return RowPage(grid, row, changes, around, cast("Sequence[Mapping[str, Any]]", records))


async def set_website(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Set the web site of a business, or reject the one it has."""
    api = GRIDS["businesses"].api
    await row_detail(asked.application, asked.actor, api.resource, api.detail, row_id)  # or there is no such row
    try:
        body = BusinessWebsite(website=None if form.get("act") == "reject" else form.get("website"))
    except ValidationError:
        raise BadForm(_("Write the address of the web site, such as https://kallio-dental.example.")) from None
    done = await websites.put_business_website(row_id, body, asked.application, asked.actor)
    said = _("The web site is set, and is read next.") if body.website else _("The web site is rejected for good.")
    return redirect(asked, own_path(form.get("back") or f"{CONSOLE}/businesses/{done.id}"), said)


async def split_business(row_id: RowId, asked: CurrentPage) -> Response:
    """Make a record of a business a business of its own, for good."""
    done = await same_business.split_business(row_id, asked.application, asked.actor)
    said = _("%(name)s is a business of its own now. If that was wrong, join the two again below.")
    return redirect(asked, f"{CONSOLE}/businesses/{row_id}", said % {"name": done.items[0].name[:120]})


async def join_business(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Make two businesses one, with all their records."""
    await row_detail(
        asked.application, asked.actor, GRIDS["businesses"].api.resource, GRIDS["businesses"].api.detail, row_id
    )  # or there is no such row
    try:
        other = UUID(form.get("other").partition("?")[0].rstrip("/").rpartition("/")[2])
    except ValueError:
        raise BadForm(_("Paste the address of the other business's page, or its id.")) from None
    body = JoinRequest(business=row_id, other=other)
    done = await same_business.join_businesses(body, asked.application, asked.actor)
    said = _("They are one business now, with %(count)s records. Split one off if that was wrong.")
    return redirect(asked, f"{CONSOLE}/businesses/{done.items[0].id}", said % {"count": len(done.items)})


async def show(asked: PageRequest, grid: Grid, row_id: UUID) -> Response:
    """Draw one row with its queues, the rows before and after it in the line, and its history."""
    return page(asked, "row.html", opened=await read_row(asked, grid, row_id))
