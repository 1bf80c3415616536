"""What each noun's grid shows: one declaration per noun."""

from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import create_model

from scrapersky.api.line.contacts import CONTACTS
from scrapersky.api.line.resources import BUSINESSES, DOMAINS, PAGES, PLACES, SITEMAPS
from scrapersky.api.resources.routes import ApiResource
from scrapersky.api.schemas.listing import Summary
from scrapersky.store.listing import suppressed_numbers


@dataclass(frozen=True)
class Column:
    """A column of a grid: the field of the row, its heading, and how a value is drawn (a macro `cell_…`)."""

    field: str
    label: str
    kind: str = "text"
    sort: str | None = None  # the sort key of the list
    is_extra: bool = False  # shown only to who chooses it
    hint: str = ""  # what the heading alone does not say


@dataclass(frozen=True)
class Grid:
    """The grid of one noun. The first of `heading` that a row has names the row."""

    api: ApiResource
    title: str
    heading: tuple[str, ...]
    heading_label: str
    columns: tuple[Column, ...]
    empty: str  # why there may be no row
    heading_sort: str | None = None
    below_heading: str = ""  # the field that stands below the name

    @property
    def name(self) -> str:
        """The noun as in the URL."""
        return self.api.resource.name


def _with_suppression(api: ApiResource) -> ApiResource:
    """Let the rows of a list say whether their phone number is suppressed."""
    fields: dict[str, Any] = {suppressed_numbers.FIELD: (bool, False)}
    listed = create_model(api.summary.__name__, __base__=api.summary, **fields)
    return replace(api, summary=cast("type[Summary]", listed), complete=suppressed_numbers.phones)


DECISION = Column("curation_status", "decision", "curation")
CHANGED = Column("updated_at", "changed", "time", "updated_at")
FOUND = Column("created_at", "found", "time", is_extra=True)

GRIDS = {
    grid.name: grid
    for grid in (
        Grid(
            _with_suppression(PLACES),
            "Places",
            ("name",),
            "name",
            (
                DECISION,
                Column("address", "address"),
                Column("categories", "categories", "words"),
                Column("rating", "rating", "rating"),
                Column("website", "website", "web"),
                Column("deep_scan_status", "deep scan", "status", hint="The step that reads the details of a place"),
                CHANGED,
                Column("phone", "phone", "phone", is_extra=True),
                Column("rating_count", "ratings", "number", is_extra=True),
                Column("business_status", "open", is_extra=True),
                Column("provider", "provider", is_extra=True),
                FOUND,
            ),
            "Places are what a provider's map returns for a search.",
            "name",
        ),
        Grid(
            _with_suppression(BUSINESSES),
            "Businesses",
            ("name",),
            "name",
            (
                DECISION,
                Column("city", "city"),
                Column("phone", "phone", "phone"),
                Column("website", "website", "web"),
                Column("rating", "rating", "rating"),
                Column(
                    "domain_extraction_status",
                    "domain extraction",
                    "status",
                    hint="The step that makes a domain of the web site",
                ),
                CHANGED,
                Column(
                    "site_search_status",
                    "site search",
                    "status",
                    is_extra=True,
                    hint="The search for a missing web site",
                ),
                Column("website_how", "website found by", is_extra=True),
                Column("website_confidence", "website, how sure", "number", is_extra=True),
                Column("address", "address", is_extra=True),
                Column("country", "country", is_extra=True),
                Column("categories", "categories", "words", is_extra=True),
                Column("rating_count", "ratings", "number", is_extra=True),
                Column("business_status", "open", is_extra=True),
                FOUND,
            ),
            "A business appears when the details of a place were read.",
            "name",
        ),
        Grid(
            DOMAINS,
            "Domains",
            ("unicode_name", "name"),
            "domain",
            (
                DECISION,
                Column("title", "title"),
                Column("country", "country"),
                Column("domain_metadata_status", "metadata", "status", hint="The step that reads the home page"),
                Column(
                    "sitemap_analysis_status", "sitemap analysis", "status", hint="The step that looks for sitemaps"
                ),
                Column("sitemap_result", "sitemap"),
                CHANGED,
                Column("language", "language", is_extra=True),
                Column("generator", "made with", is_extra=True),
                Column("http_status", "answer", "number", is_extra=True),
                Column("hidden_reason", "hidden", is_extra=True),
                Column("sitemap_reason", "sitemap, why", is_extra=True),
                FOUND,
            ),
            "A domain appears when a business has a website.",
            "name",
        ),
        Grid(
            SITEMAPS,
            "Sitemaps",
            ("url",),
            "sitemap",
            (
                DECISION,
                Column("domain", "domain"),
                Column("kind", "kind"),
                Column("discovered_by", "found by"),
                Column("url_count", "URLs", "number", hint="How many URLs the file lists; not all become pages"),
                Column("sitemap_import_status", "import", "status", hint="The step that stores the listed pages"),
                CHANGED,
                Column("size_bytes", "bytes", "number", is_extra=True),
                Column("last_modified", "last modified", "time", is_extra=True),
                FOUND,
            ),
            "A sitemap lists the pages of a domain.",
        ),
        Grid(
            PAGES,
            "Pages",
            ("url",),
            "page",
            (
                DECISION,
                Column("domain", "domain"),
                Column("kind", "kind"),
                Column("kind_reason", "kind, why"),
                Column(
                    "contact_count", "contacts seen", "number", hint="With those that other pages of the site show, too"
                ),
                Column("page_processing_status", "reading", "status", hint="The step that reads the page for contacts"),
                CHANGED,
                Column("title", "title", is_extra=True),
                Column("last_modified", "last modified", "time", is_extra=True),
                Column("hidden_reason", "hidden", is_extra=True),
                FOUND,
            ),
            "A page appears when the sitemap of its domain was read.",
        ),
        Grid(
            CONTACTS,
            "Contacts",
            ("name", "email", "phone", "fax", "address", "profiles"),
            "name",
            (
                DECISION,
                Column("email", "email", "email", "email"),
                Column("verdict", "verdict", "verdict"),
                Column("phone", "phone", "phone"),
                Column("business", "business"),
                Column("source_url", "found on", "path"),
                Column("confidence", "sure", "share", hint="How sure it is that the page says so: 0 to 1"),
                Column("title", "position", is_extra=True),
                Column("suppressed_at", "suppressed", "time", is_extra=True),
                replace(CHANGED, is_extra=True),
                Column("domain", "domain", is_extra=True),
                Column("email_kind", "kind of address", is_extra=True),
                Column("company", "company", is_extra=True),
                Column("fax", "fax", "phone", is_extra=True),
                Column("address", "address", is_extra=True),
                FOUND,
            ),
            "A contact appears when a page with an email address, a phone number or a person was read.",
            "name",
            "title",
        ),
    )
}
