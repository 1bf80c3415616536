"""Files: the rows of every noun, and the leads of searches, with what is left out and why."""

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.downloads import FileFormat
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.resources.models import set_filters
from scrapersky.api.resources.rows import list_page
from scrapersky.api.searches.searches import SEARCHES, SearchSummary
from scrapersky.api.transfer.exports import FILTERS, export_rows
from scrapersky.console.answers import page
from scrapersky.console.gates import CurrentPage
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.listing.grid import wrong_filter
from scrapersky.core.errors import UnknownName
from scrapersky.core.vocabularies import REJECTED
from scrapersky.store.listing import counts, paginate
from scrapersky.store.listing.export import EXPORTED
from scrapersky.store.listing.resources import CONTACTS

HERE = f"{CONSOLE}/files"
SHOWN_SEARCHES = 20
FileName = Annotated[str, Path(pattern="^[a-z]{1,20}$", description="the noun")]
LEAD_ENDINGS: tuple[Literal["xlsx", "csv", "jsonl"], ...] = ("xlsx", "csv", "jsonl")


async def show(asked: CurrentPage) -> Response:
    """Draw the files that can be downloaded, and how many contacts are left out."""
    query = SEARCHES.query.model_validate({"limit": SHOWN_SEARCHES, "count": False})
    searches = await list_page(asked.application, asked.actor, SEARCHES.resource, SearchSummary, query)
    tenant_id = asked.actor.tenant_id
    async with asked.application.database.session(tenant_id) as session:
        suppressed = await paginate.count(session, CONTACTS, tenant_id, {"suppressed": True}, unmerged=True)
        decided = await counts.by_value(session, CONTACTS, tenant_id, "curation_status", {}, unmerged=True)
    rejected = [one for one in decided if one.value in REJECTED]
    context: dict[str, Any] = {"searches": searches.items, "suppressed": suppressed, "rejected": rejected}
    return page(asked, "files.html", nouns=list(EXPORTED), endings=LEAD_ENDINGS, here=HERE, **context)


async def download(name: FileName, ending: FileFormat, asked: CurrentPage) -> Response:
    """Stream all rows of a noun that match the filters of the address. Raises UnknownListFilter."""
    if name not in EXPORTED:
        said = _("There is no file of %(name)s; there are files of %(names)s.")
        raise UnknownName(said % {"name": name, "names": ", ".join(EXPORTED)})
    resource = EXPORTED[name]
    sent = asked.request.query_params
    given = {
        field: sent.getlist(field) if declared.several else sent[field]
        for field, declared in resource.filters.items()
        if sent.get(field)
    }
    try:
        query = FILTERS[name].model_validate(given)
    except ValidationError as error:
        raise wrong_filter(error) from None
    return await export_rows(asked.application, asked.actor, resource, set_filters(query, resource), ending)
