"""The resources that lists, exports and bulk actions work on: name, table, sort keys, filters and queues of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from sqlalchemy import ColumnElement, TextClause, and_, func, literal, or_, select, text

from scrapersky.core.vocabularies import CAMPAIGN, Curation, HiddenReason, Status, Verdict
from scrapersky.destinations.registry import KindName
from scrapersky.extract.pages.vocabulary import PageKind
from scrapersky.extract.results import EmailKind
from scrapersky.models import (
    CampaignSearch,
    Contact,
    Delivery,
    Destination,
    Domain,
    Job,
    LocalBusiness,
    Page,
    Place,
    Schedule,
    Search,
    SitemapFile,
    Suppression,
)
from scrapersky.store.left_behind import is_left_behind, is_undecided, reason_of, without_names
from scrapersky.store.listing.map_cells import cover, parse_box
from scrapersky.store.steps import LISTED_OF_SEARCH, LineStep, steps_of

Condition = Callable[[Any], ColumnElement[bool] | TextClause]


def _check_box(text: str) -> str:
    return str(parse_box(text))


_NUMBER = r"-?[0-9]{1,3}(\.[0-9]{1,12})?"
BoxText = Annotated[
    str,
    StringConstraints(max_length=100),
    AfterValidator(_check_box),
    WithJsonSchema({"type": "string", "pattern": f"^{_NUMBER}(,{_NUMBER}){{3}}$", "examples": ["24.8,60.1,25.1,60.3"]}),
]
Word = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_-]{1,60}$"), Field(examples=["osm"])]
CountryCode = Annotated[str, StringConstraints(pattern="^[A-Za-z]{2}$", to_upper=True), Field(examples=["FI"])]
LanguageCode = Annotated[str, StringConstraints(pattern="^[A-Za-z]{2,3}$", to_lower=True), Field(examples=["fi"])]
Rating = Annotated[float, Field(ge=0, le=5, examples=[4.5])]
JobKind = Literal["sitemap_scan", "curation", "delivery", "undo", "import", "retry", "drop"]
JobState = Literal["pending", "processing", "completed", "failed", "skipped", "cancelled"]
SitemapType = Literal["urlset", "index", "text", "rss", "atom", "links"]
SuppressionKind = Literal["email", "domain", "phone", "person"]
SuppressionOrigin = Literal["person", "import", "erasure", "destination"]

LAST_CHARACTER = "\U0010ffff"  # every text with a given prefix sorts before the prefix followed by this character


@dataclass(frozen=True)
class Filter:
    """A filter of a resource: the type of its value, its description, and the SQL condition for a value.

    `type` is what pydantic validates; `str` is free text, `bool` is a presence filter, `datetime` a timestamp. Values
    that were stored as JSON (the parameters of a job) are accepted too. With `several` a list of values matches any.
    """

    type: Any
    description: str
    condition: Condition
    several: bool = False
    example: str = ""  # of free text; those of other types follow from the type


@dataclass(frozen=True)
class Resource:
    """One kind of row."""

    name: str  # as in the URL: places
    model: type[Any]
    label: str  # the column that identifies a row for people
    filters: Mapping[str, Filter]
    # sort key to column; every column is indexed
    # A row without a value of the key comes after all others.
    sorts: Mapping[str, str] = field(default_factory=lambda: {"updated_at": "updated_at"})
    unmerged: tuple[ColumnElement[bool], ...] = ()  # conditions for rows that were not merged into another row
    lists_merged: bool = True  # lists and counts of the API have rows that were merged, too
    only: tuple[ColumnElement[bool], ...] = ()  # conditions for the rows of the table that belong to the resource
    shown_as: Any = None  # the column with the row that is shown instead: one decision holds for both

    @property
    def steps(self) -> tuple[LineStep, ...]:
        """The steps that process its rows; Selected opens the first of them that is not Completed."""
        return steps_of(self.model)

    @property
    def queues(self) -> tuple[str, ...]:
        """The prefixes of the queues' columns."""
        return tuple(step.queue for step in self.steps)


def one_of(column: Any, vocabulary: Any, description: str) -> Filter:
    """Filter by a word of a vocabulary. The word is a literal in the SQL, so that the planner uses partial indexes."""
    return _any_of(column, vocabulary, description, lambda value: literal(str(value), literal_execute=True))


def equal(column: Any, kind: Any, description: str) -> Filter:
    """Filter by equality."""
    return _any_of(column, kind, description, lambda value: value)


def with_id(column: Any, description: str) -> Filter:
    """Filter by an id."""
    return _any_of(column, UUID, description, lambda value: UUID(str(value)))


def same_text(column: Any, description: str, example: str) -> Filter:
    """Filter by a text, ignoring case; `column` holds texts in lower case."""
    return replace(_any_of(column, str, description, func.lower), example=example)


def at_least(column: Any, kind: Any, description: str) -> Filter:
    """Filter by a minimum."""
    return Filter(kind, description, lambda value: column >= value)


def updated_since(model: Any) -> Filter:
    """Filter by the time of the last change."""
    return Filter(
        datetime,
        "only rows that were changed at or after this timestamp",
        lambda value: model.updated_at >= datetime.fromisoformat(str(value)),
    )


def created_since(model: Any) -> Filter:
    """Filter by the time of creation. A row is changed no earlier than created: the index by change is used."""

    def condition(value: Any) -> ColumnElement[bool]:
        moment = datetime.fromisoformat(str(value))
        return and_(model.created_at >= moment, model.updated_at >= moment)

    return Filter(datetime, "only rows that were created at or after this timestamp", condition)


def changed_since(model: Any) -> Filter:
    """Filter by the time of the latest change of a fact. It is no later than that of the row, whose index is used."""

    def condition(value: Any) -> ColumnElement[bool]:
        moment = datetime.fromisoformat(str(value))
        return and_(func.greatest(model.created_at, model.changed_at) >= moment, model.updated_at >= moment)

    return Filter(datetime, "only rows that are new, or of which a fact changed, at or after this timestamp", condition)


def new_of_search(model: Any) -> Filter:
    """Filter by the search whose latest run found the row for the first time."""
    table = model.__tablename__
    found = LISTED_OF_SEARCH[table].found.format(row=table).replace(":search", ":new_of")
    if table == "local_business":
        is_new = "HAVING min(coalesce(f.found_at, '-infinity')) >= {run}"  # of all its records
        found = found.replace("search_id = :new_of", f"search_id = :new_of GROUP BY 1 {is_new}")
    else:
        found = f"({found}) AND {table}.created_at >= {{run}}"
    run = "(SELECT max(began_at) FROM search_run WHERE search_id = :new_of)"
    condition = found.format(run=run)
    return Filter(
        UUID,
        "only rows that the latest run of this search or campaign found for the first time",
        lambda value: text(condition).bindparams(new_of=UUID(str(value))),
    )


def _any_of(column: Any, kind: Any, description: str, convert: Callable[[Any], Any]) -> Filter:
    """Filter by one value, or by several of which one must match."""

    def condition(value: Any) -> ColumnElement[bool]:
        if isinstance(value, list):
            return cast("ColumnElement[bool]", column.in_([convert(each) for each in value]))
        return cast("ColumnElement[bool]", column == convert(value))

    return Filter(kind, description, condition, several=True)


def within_box(model: Any) -> Filter:
    """Filter by a part of the map; its cells are ranges of an index, its edges are exact."""

    def condition(value: Any) -> ColumnElement[bool]:
        box = parse_box(str(value))
        sides = [model.longitude.between(part.west, part.east) for part in box.parts]
        cells = [model.cell.between(first, last) for first, last in cover(box)]
        return and_(or_(*cells), or_(*sides), model.latitude.between(box.south, box.north))

    return Filter(BoxText, "only within this part of the map: west,south,east,north in degrees", condition)


def present(column: Any, description: str) -> Filter:
    """Filter by whether the column has a value."""
    return Filter(bool, description, lambda value: column.is_not(None) if value else column.is_(None))


def starts_with(column: Any, description: str, example: str) -> Filter:
    """Filter by a case-sensitive prefix."""
    return Filter(
        str,
        description,
        lambda value: and_(column.op("~>=~")(value), column.op("~<~")(value + LAST_CHARACTER)),
        example=example,
    )


def name_starts_with(column: Any) -> Filter:
    """Filter by a prefix of the name, ignoring case; `column` holds names in lower case."""
    return Filter(
        str,
        "how the name begins; case is ignored",
        lambda value: and_(column >= func.lower(value), column < func.lower(value).concat(LAST_CHARACTER)),
        example="Kallio",
    )


def person_starts_with(name: Any, last_name: Any) -> Filter:
    """Filter by a prefix of the name or of the last name, ignoring case."""
    by_name, by_last_name = name_starts_with(name).condition, name_starts_with(last_name).condition
    return Filter(
        str,
        "how the name or the last name begins; case is ignored",
        lambda value: or_(cast("Any", by_name(value)), cast("Any", by_last_name(value))),
        example="hal",
    )


def found_by_search(model: Any) -> Filter:
    """Filter by the search that found the row."""
    table = model.__tablename__
    condition = LISTED_OF_SEARCH[table].found.format(row=table)
    return Filter(UUID, "only rows of this search", lambda value: text(condition).bindparams(search=UUID(str(value))))


def _statuses(model: Any) -> dict[str, Filter]:
    """Build the filters of every curated resource: curation status, status in each of its queues, search."""
    return {
        "curation_status": one_of(model.curation_status, Curation, "only rows with this curation status"),
        **{f"{step.queue}_status": _status(model, step.queue) for step in steps_of(model)},
        **{f"{step.queue}_error": _error(model, step.queue) for step in steps_of(model)},
        "undecided": _undecided(model),
        "search_id": found_by_search(model),
        "updated_since": updated_since(model),
        "created_since": created_since(model),
    }


def _status(model: Any, queue: str) -> Filter:
    return one_of(getattr(model, f"{queue}_status"), Status, "only rows with this status in the queue")


def _error(model: Any, queue: str) -> Filter:
    """Filter by why a row was skipped, failed or waits; names of sites and numbers may differ.

    Use it together with a search: the reason of each row with such a status is compared.
    """
    table, value = model.__tablename__, f"{queue}_error"
    same = f"{without_names(reason_of(queue, table))} = {without_names(f'cast(:{value} AS text)')}"
    condition = f"({is_left_behind(queue, table)} AND {same})"
    return Filter(
        str,
        "only rows that the queue has skipped, given up or postponed for this reason; names of sites and numbers in it "
        "may differ",
        lambda wanted: text(condition).bindparams(**{value: str(wanted)}),
        example="a site answers 403 Forbidden.",
    )


def _undecided(model: Any) -> Filter:
    """Filter by the step that a row enters once a person selects it."""
    steps = {step.workflow: step for step in steps_of(model)}
    word = Annotated[str, StringConstraints(pattern=f"^({'|'.join(steps)})$"), Field(examples=[next(iter(steps))])]
    return Filter(
        word,
        "only rows that wait for the decision of a person before they enter this step",
        lambda value: text(is_undecided(steps[value], model.__tablename__)),
    )


def _of_campaign() -> Filter:
    """Filter searches by their campaign."""

    def condition(value: Any) -> ColumnElement[bool]:
        members = select(CampaignSearch.search_id).where(CampaignSearch.campaign_id == UUID(str(value)))
        return Search.id.in_(members)

    return Filter(UUID, "only searches of this campaign", condition)


BY_NAME = {"updated_at": "updated_at", "name": "name_key"}

SEARCHES = Resource(
    "searches",
    Search,
    "text",
    {
        "provider": equal(Search.provider, Word, "only searches of this provider; `campaign` for campaigns"),
        "campaign_id": _of_campaign(),
        "place_search_status": _status(Search, "place_search"),
        "place_search_error": _error(Search, "place_search"),
        "stopped_by_budget": Filter(
            bool,
            "only searches that a larger budget continues, or only the others",
            lambda value: Search.stopped_by_budget.is_(value),
        ),
        "updated_since": updated_since(Search),
        "created_since": created_since(Search),
    },
)
CAMPAIGNS = Resource(
    "campaigns",
    Search,
    "text",
    {"updated_since": updated_since(Search), "created_since": created_since(Search)},
    only=(Search.provider == literal(CAMPAIGN, literal_execute=True),),
)
SCHEDULES = Resource(
    "schedules",
    Schedule,
    "id",
    {
        "search_id": with_id(Schedule.search_id, "only the schedule of this search or campaign"),
        "paused": present(Schedule.paused_at, "only paused schedules, or only the others"),
        "updated_since": updated_since(Schedule),
        "created_since": created_since(Schedule),
    },
)
PLACES = Resource(
    "places",
    Place,
    "name",
    {
        **_statuses(Place),
        "provider": equal(Place.provider, Word, "only places of this provider"),
        "has_website": present(Place.website, "with a website, or without"),
        "min_rating": at_least(Place.rating, Rating, "only with this rating or a better one"),
        "box": within_box(Place),
        "text": name_starts_with(Place.name_key),
    },
    BY_NAME,
)
BUSINESSES = Resource(
    "businesses",
    LocalBusiness,
    "name",
    {
        **_statuses(LocalBusiness),
        "changed_since": changed_since(LocalBusiness),
        "new_of_search": new_of_search(LocalBusiness),
        "has_website": present(LocalBusiness.website, "with a website, or without"),
        "has_phone": present(LocalBusiness.phone, "with a phone number, or without"),
        "city": same_text(LocalBusiness.city_key, "only in this city; case is ignored", "Helsinki"),
        "country": equal(LocalBusiness.country, CountryCode, "only in this country, two letters"),
        "min_rating": at_least(LocalBusiness.rating, Rating, "only with this rating or a better one"),
        "chains": present(LocalBusiness.chain, "only branches of a chain, or none of them"),
        "text": name_starts_with(LocalBusiness.name_key),
    },
    BY_NAME,
    unmerged=(LocalBusiness.same_as_id.is_(None),),
    lists_merged=False,
    shown_as=LocalBusiness.same_as_id,
)
DOMAINS = Resource(
    "domains",
    Domain,
    "name",
    {
        **_statuses(Domain),
        "country": equal(Domain.country, CountryCode, "only of this country, two letters"),
        "hidden_reason": one_of(
            Domain.hidden_reason, HiddenReason, "only whose home page shows nothing to a plain reader, for this reason"
        ),
        "text": starts_with(Domain.name, "how the domain begins, in lower case", "kallio"),
    },
    {"updated_at": "updated_at", "name": "name"},
)
SITEMAPS = Resource(
    "sitemaps",
    SitemapFile,
    "url",
    {
        **_statuses(SitemapFile),
        "domain_id": with_id(SitemapFile.domain_id, "only sitemaps of this domain"),
        "kind": equal(
            SitemapFile.kind, SitemapType, "only of this kind; `links` is a home page that replaces a missing sitemap"
        ),
        "text": starts_with(SitemapFile.url, "how the URL begins, with its https://", "https://www.kallio"),
    },
)
PAGES = Resource(
    "pages",
    Page,
    "url",
    {
        **_statuses(Page),
        "domain_id": with_id(Page.domain_id, "only pages of this domain"),
        "sitemap_id": with_id(Page.sitemap_file_id, "only pages of this sitemap"),
        "kind": equal(Page.kind, PageKind, "only of this kind"),
        "hidden_reason": one_of(
            Page.hidden_reason, HiddenReason, "only those that show nothing to a plain reader, for this reason"
        ),
        "text": starts_with(Page.url, "how the URL begins, with its https://", "https://www.kallio"),
    },
)
CONTACTS = Resource(
    "contacts",
    Contact,
    "identity",
    {
        **_statuses(Contact),
        "changed_since": changed_since(Contact),
        "new_of_search": new_of_search(Contact),
        "verdict": one_of(Contact.verdict, Verdict, "only with this result of the verification"),
        "suppressed": present(Contact.suppressed_at, "only suppressed contacts, or only the others"),
        "domain_id": with_id(Contact.domain_id, "only contacts of this domain"),
        "business_id": with_id(Contact.business_id, "only contacts of this business"),
        "page_id": with_id(Contact.page_id, "only contacts found on this page"),
        "has_email": present(Contact.email, "with an email address, or without"),
        "has_phone": present(Contact.phone, "with a phone number, or without"),
        "has_name": present(Contact.name, "with a person's name, or without"),
        "has_name_or_email": present(
            func.coalesce(Contact.name, Contact.email),
            "people and mailboxes: with a name or an email address; or the other facts, as bare numbers and profiles",
        ),
        "email_kind": equal(Contact.email_kind, EmailKind, "only email addresses of this kind"),
        "email": starts_with(Contact.email, "how the email address begins, in lower case", "info@"),
        "text": person_starts_with(Contact.name_key, Contact.last_name_key),
    },
    {**BY_NAME, "email": "email"},
    unmerged=(Contact.merged_into_id.is_(None),),
)
SUPPRESSIONS = Resource(
    "suppressions",
    Suppression,
    "value",
    {
        "kind": equal(Suppression.kind, SuppressionKind, "only of this kind"),
        "origin": equal(Suppression.origin, SuppressionOrigin, "what caused the suppression"),
        "updated_since": updated_since(Suppression),
        "created_since": created_since(Suppression),
        "text": starts_with(Suppression.value, "how the value begins, in lower case", "anna@"),
    },
)
JOBS = Resource(
    "jobs",
    Job,
    "kind",
    {
        "kind": equal(Job.kind, JobKind, "only jobs of this kind"),
        "state": equal(Job.state, JobState, "only jobs in this state"),
        "updated_since": updated_since(Job),
        "created_since": created_since(Job),
    },
)
DESTINATIONS = Resource(
    "destinations",
    Destination,
    "name",
    {
        "kind": equal(Destination.kind, KindName, "only destinations of this kind"),
        "enabled": Filter(
            bool,
            "only enabled destinations, or only the others",
            lambda value: Destination.disabled_at.is_(None) if value else Destination.disabled_at.is_not(None),
        ),
    },
)
DELIVERIES = Resource(
    "deliveries",
    Delivery,
    "contact_id",
    {
        "destination_id": with_id(Delivery.destination_id, "only deliveries to this destination"),
        "contact_id": with_id(Delivery.contact_id, "only deliveries of this contact"),
        "delivery_status": _status(Delivery, "delivery"),
        "updated_since": updated_since(Delivery),
        "created_since": created_since(Delivery),
    },
)

RESOURCES = {
    resource.name: resource
    for resource in (
        SEARCHES,
        PLACES,
        BUSINESSES,
        DOMAINS,
        SITEMAPS,
        PAGES,
        CONTACTS,
        JOBS,
    )
}
