"""Find rows of every noun by how their name begins."""

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.line.find import FindQuery, find_rows
from scrapersky.console.answers import page
from scrapersky.console.columns import GRIDS
from scrapersky.console.gates import CurrentPage

WITH_PAGE = ("searches", *GRIDS)  # nouns whose rows have a page


async def show(asked: CurrentPage) -> Response:
    """Draw the rows that begin with the text of the address."""
    text = asked.request.query_params.get("find", "").strip()
    try:
        query = FindQuery(text=text)
    except ValidationError:  # nothing to find yet, or more than a name can have
        return page(asked, "find.html", text=text[:200], found=[])
    found = (await find_rows(query, asked.application, asked.actor)).items
    return page(asked, "find.html", text=text, found=[group for group in found if group.resource in WITH_PAGE])
