"""One row: its facts, its queues, the line before and after it, and its history."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line import websites
from scrapersky.api.line.contacts import ContactDetail
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

# Columns of a row that are no facts for people, or are drawn elsewhere.
NOT_FACTS = (
    "website_how",
    "website_confidence",
    "website_proof",
    "id",
    "created_at",
    "updated_at",
    "queues",
    "provenance",
    "curation_status",
    "priority",
)


@dataclass(frozen=True)
class RowPage:
    """One row with everything that its template shows."""

    grid: Grid
    row: Any
    history: Sequence[HistoryEntry]
    around: Surroundings = field(default_factory=Surroundings)  # of a contact

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
    return RowPage(grid, row, changes, around)


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


async def show(asked: PageRequest, grid: Grid, row_id: UUID) -> Response:
    """Draw one row with its queues, the rows before and after it in the line, and its history."""
    return page(asked, "row.html", opened=await read_row(asked, grid, row_id))
