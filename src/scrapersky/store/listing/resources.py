"""The nouns of the line as lists see them: what they are called, sorted by, filtered by, and which queues they have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, literal, select, union_all
from sqlalchemy.orm import aliased

from scrapersky.models import (
    Contact,
    Delivery,
    Destination,
    Domain,
    Job,
    LocalBusiness,
    Page,
    Place,
    Search,
    SearchBusiness,
    SearchContact,
    SearchDomain,
    SearchPlace,
    SitemapFile,
    Suppression,
)

Condition = Callable[[Any], ColumnElement[bool]]

LAST_CHARACTER = "\U0010ffff"  # whatever begins with a text comes before the text and this


@dataclass(frozen=True)
class Resource:
    """One kind of row."""

    name: str  # as in the URL: places
    model: type[Any]
    label: str  # the column people know a row by
    filters: Mapping[str, Condition]
    sorts: Mapping[str, str] = field(default_factory=lambda: {"updated_at": "updated_at"})  # word to column, indexed
    queues: tuple[str, ...] = ()  # the prefixes of the queues' columns
    steps: tuple[str, ...] = ()  # the queues that Selected opens: the first of them that is not Completed
    standing: tuple[ColumnElement[bool], ...] = ()  # what holds for rows that stand for themselves


def word(column: Any) -> Condition:
    """Equal to a word of a vocabulary, written into the statement: only so does the planner see partial indexes."""
    return lambda value: column == literal(str(value), literal_execute=True)


def same(column: Any) -> Condition:
    """Equal."""
    return lambda value: column == value


def same_id(column: Any) -> Condition:
    """Equal to an id, also to one that was kept as text."""
    return lambda value: column == UUID(str(value))


def is_there(column: Any) -> Condition:
    """Filled in, or not."""
    return lambda value: column.is_not(None) if value else column.is_(None)


def begins(column: Any) -> Condition:
    """Begins with a text, letter by letter."""
    return lambda value: and_(column.op("~>=~")(value), column.op("~<~")(value + LAST_CHARACTER))


def named(column: Any) -> Condition:
    """The name begins with a text; capitals do not matter."""
    return lambda value: and_(column >= func.lower(value), column < func.lower(value).concat(LAST_CHARACTER))


def of_search(domain_id: Any) -> Condition:
    """The domain belongs to a search."""
    return lambda value: domain_id.in_(select(SearchDomain.domain_id).where(SearchDomain.search_id == UUID(str(value))))


def _found_by(value: Any) -> ColumnElement[bool]:
    return Place.id.in_(select(SearchPlace.place_id).where(SearchPlace.search_id == UUID(str(value))))


def _business_of(value: Any) -> ColumnElement[bool]:
    return LocalBusiness.id.in_(select(SearchBusiness.business_id).where(SearchBusiness.search_id == UUID(str(value))))


def _contact_of(value: Any) -> ColumnElement[bool]:
    """Contacts of the domains of a search, of its businesses that have none, and of its file that have neither."""
    one, search_id = aliased(Contact), UUID(str(value))
    of_domains = select(one.id).join(SearchDomain, SearchDomain.domain_id == one.domain_id)
    of_businesses = select(one.id).join(SearchBusiness, SearchBusiness.business_id == one.business_id)
    of_files = select(one.id).join(SearchContact, SearchContact.contact_id == one.id)
    return Contact.id.in_(
        union_all(
            of_domains.where(SearchDomain.search_id == search_id),
            of_businesses.where(SearchBusiness.search_id == search_id, one.domain_id.is_(None)),
            of_files.where(SearchContact.search_id == search_id, one.domain_id.is_(None), one.business_id.is_(None)),
        )
    )


BY_NAME = {"updated_at": "updated_at", "name": "name_key"}

SEARCHES = Resource(
    "searches",
    Search,
    "text",
    {
        "provider": same(Search.provider),
        "place_search_status": word(Search.place_search_status),
    },
    queues=("place_search",),
)
PLACES = Resource(
    "places",
    Place,
    "name",
    {
        "curation_status": word(Place.curation_status),
        "deep_scan_status": word(Place.deep_scan_status),
        "search_id": _found_by,
        "provider": same(Place.provider),
        "has_website": is_there(Place.website),
        "text": named(Place.name_key),
    },
    BY_NAME,
    ("deep_scan",),
    ("deep_scan",),
)
BUSINESSES = Resource(
    "businesses",
    LocalBusiness,
    "name",
    {
        "curation_status": word(LocalBusiness.curation_status),
        "domain_extraction_status": word(LocalBusiness.domain_extraction_status),
        "search_id": _business_of,
        "has_website": is_there(LocalBusiness.website),
        "has_phone": is_there(LocalBusiness.phone),
        "text": named(LocalBusiness.name_key),
    },
    BY_NAME,
    ("domain_extraction",),
    ("domain_extraction",),
)
DOMAINS = Resource(
    "domains",
    Domain,
    "name",
    {
        "curation_status": word(Domain.curation_status),
        "domain_metadata_status": word(Domain.domain_metadata_status),
        "sitemap_analysis_status": word(Domain.sitemap_analysis_status),
        "search_id": of_search(Domain.id),
        "text": begins(Domain.name),
    },
    {"updated_at": "updated_at", "name": "name"},
    ("domain_metadata", "sitemap_analysis"),
    ("domain_metadata", "sitemap_analysis"),
)
SITEMAPS = Resource(
    "sitemaps",
    SitemapFile,
    "url",
    {
        "curation_status": word(SitemapFile.curation_status),
        "sitemap_import_status": word(SitemapFile.sitemap_import_status),
        "search_id": of_search(SitemapFile.domain_id),
        "domain_id": same_id(SitemapFile.domain_id),
        "kind": same(SitemapFile.kind),
        "text": begins(SitemapFile.url),
    },
    queues=("sitemap_import",),
    steps=("sitemap_import",),
)
PAGES = Resource(
    "pages",
    Page,
    "url",
    {
        "curation_status": word(Page.curation_status),
        "page_processing_status": word(Page.page_processing_status),
        "search_id": of_search(Page.domain_id),
        "domain_id": same_id(Page.domain_id),
        "sitemap_id": same_id(Page.sitemap_file_id),
        "kind": same(Page.kind),
        "text": begins(Page.url),
    },
    queues=("page_processing",),
    steps=("page_processing",),
)
CONTACTS = Resource(
    "contacts",
    Contact,
    "identity",
    {
        "curation_status": word(Contact.curation_status),
        "contact_verification_status": word(Contact.contact_verification_status),
        "verdict": word(Contact.verdict),
        "suppressed": is_there(Contact.suppressed_at),
        "search_id": _contact_of,
        "domain_id": same_id(Contact.domain_id),
        "business_id": same_id(Contact.business_id),
        "page_id": same_id(Contact.page_id),
        "has_email": is_there(Contact.email),
        "has_phone": is_there(Contact.phone),
        "has_name": is_there(Contact.name),
        "email_kind": same(Contact.email_kind),
        "email": begins(Contact.email),
        "text": named(Contact.name_key),
    },
    queues=("contact_verification",),
    steps=("contact_verification",),
    standing=(Contact.merged_into_id.is_(None),),  # another one stands for those that were merged into it
)
SUPPRESSIONS = Resource(
    "suppressions",
    Suppression,
    "value",
    {
        "kind": same(Suppression.kind),
        "origin": same(Suppression.origin),
        "text": begins(Suppression.value),
    },
)
JOBS = Resource("jobs", Job, "kind", {"kind": same(Job.kind), "state": same(Job.state)})
DESTINATIONS = Resource(
    "destinations",
    Destination,
    "name",
    {"kind": same(Destination.kind), "enabled": lambda value: is_there(Destination.disabled_at)(not value)},
)
DELIVERIES = Resource(
    "deliveries",
    Delivery,
    "contact_id",
    {
        "delivery_status": word(Delivery.delivery_status),
        "destination_id": same_id(Delivery.destination_id),
        "contact_id": same_id(Delivery.contact_id),
    },
    queues=("delivery",),
)

NOUNS = {noun.name: noun for noun in (SEARCHES, PLACES, BUSINESSES, DOMAINS, SITEMAPS, PAGES, CONTACTS, JOBS)}
