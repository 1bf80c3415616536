"""Files of leads of a search or a campaign: the form of their filters, and the download."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from fastapi import Path
from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.line import leads
from scrapersky.api.line.leads import LeadFileQuery
from scrapersky.api.schemas.fields import RowId
from scrapersky.api.searches import searches
from scrapersky.console.gates import CurrentPage
from scrapersky.console.language import mark
from scrapersky.console.pages.listing.grid import wrong_filter
from scrapersky.core.vocabularies import Verdict
from scrapersky.extract.results import EmailKind
from scrapersky.store.leads.filters import LEAD_FILTERS

LeadFile = Annotated[Literal["csv", "jsonl", "xlsx"], Path(description="the file format")]
# The filters of lead files: each kind with its choices, or as a field in which one writes.
CHOICES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "flag": (("true", mark("yes")), ("false", mark("no"))),
    "verdict": tuple((str(one), str(one)) for one in Verdict),
    "email_kind": tuple((str(one), str(one)) for one in get_args(EmailKind)),
}
LABELS = {
    "has_email": mark("with an email address"),
    "has_phone": mark("with a phone number"),
    "verdict": mark("verdict of the address"),
    "email_kind": mark("kind of address"),
    "person": mark("name of the person contains"),
    "title": mark("position contains"),
    "found_since": mark("contact found since"),
    "new": mark("new in the latest run"),
    "changed_since": mark("changed since"),
    "seen_since": mark("seen since"),
    "gone": mark("gone in the latest run"),
    "country": mark("country"),
    "city": mark("city"),
    "category": mark("category contains"),
    "min_rating": mark("rating at least"),
    "max_rating": mark("rating at most"),
    "technology": mark("web site made with"),
    "language": mark("language of the web site"),
    "chains": mark("branch of a chain"),
    "exported": mark("in an earlier file"),
    "delivered": mark("delivered before"),
}
DAY_LENGTH = 10  # of 2026-11-15, as browsers send a day
INPUTS = {"moment": "date", "rating": "number"}


@dataclass(frozen=True)
class LeadChoice:
    """A filter of lead files as a field of the form."""

    name: str
    label: str
    hint: str
    choices: tuple[tuple[str, str], ...]  # empty: one writes the value
    input: str  # the type of the field
    example: str


LEAD_CHOICES = [
    LeadChoice(name, LABELS[name], one.help, CHOICES.get(one.kind, ()), INPUTS.get(one.kind, "text"), one.example)
    for name, one in LEAD_FILTERS.items()
]


async def download(row_id: RowId, ending: LeadFile, asked: CurrentPage) -> Response:
    """Stream the file of leads that match the filters of the address."""
    await searches.get_search(row_id, asked.application, asked.actor)  # or there is no such search
    sent = asked.request.query_params
    several = {name for name, declared in LEAD_FILTERS.items() if declared.several}
    given: dict[str, Any] = {
        name: sent.getlist(name) if name in several else sent[name]
        for name in LeadFileQuery.model_fields
        if sent.get(name)
    }
    moments = (name for name, declared in LEAD_FILTERS.items() if declared.kind == "moment" and name in given)
    given |= {name: f"{given[name]}T00:00:00Z" for name in moments if len(given[name]) == DAY_LENGTH}
    try:
        query = LeadFileQuery.model_validate(given)
    except ValidationError as error:
        raise wrong_filter(error) from None
    return await leads.send_leads(asked.application, asked.actor, f"leads of search {row_id}", (row_id,), ending, query)
