"""What each noun's grid shows: one declaration per noun."""

from dataclasses import dataclass

from scrapersky.api.line.contacts import CONTACTS
from scrapersky.api.line.resources import BUSINESSES, DOMAINS, PAGES, PLACES, SITEMAPS
from scrapersky.api.resources.routes import ApiResource


@dataclass(frozen=True)
class Column:
    """A column of a grid: the field of the row, its heading, and how a value is drawn (a macro `cell_…`)."""

    field: str
    label: str
    kind: str = "text"
    sort: str | None = None  # the sort key of the list


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

    @property
    def name(self) -> str:
        """The noun as in the URL."""
        return self.api.resource.name


DECISION = Column("curation_status", "decision", "curation")
CHANGED = Column("updated_at", "changed", "time", "updated_at")

GRIDS = {
    grid.name: grid
    for grid in (
        Grid(
            PLACES,
            "Places",
            ("name",),
            "name",
            (
                Column("address", "address"),
                Column("categories", "categories", "words"),
                Column("rating", "rating", "rating"),
                Column("website", "website", "web"),
                Column("deep_scan_status", "deep scan", "status"),
                DECISION,
                CHANGED,
            ),
            "Places are what a provider's map returns for a search.",
            "name",
        ),
        Grid(
            BUSINESSES,
            "Businesses",
            ("name",),
            "name",
            (
                Column("city", "city"),
                Column("phone", "phone", "phone"),
                Column("website", "website", "web"),
                Column("rating", "rating", "rating"),
                Column("domain_extraction_status", "domain extraction", "status"),
                DECISION,
                CHANGED,
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
                Column("title", "title"),
                Column("country", "country"),
                Column("domain_metadata_status", "metadata", "status"),
                Column("sitemap_analysis_status", "sitemap analysis", "status"),
                Column("sitemap_result", "sitemap"),
                DECISION,
                CHANGED,
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
                Column("domain", "domain"),
                Column("kind", "kind"),
                Column("discovered_by", "found by"),
                Column("url_count", "pages", "number"),
                Column("sitemap_import_status", "import", "status"),
                DECISION,
                CHANGED,
            ),
            "A sitemap lists the pages of a domain.",
        ),
        Grid(
            PAGES,
            "Pages",
            ("url",),
            "page",
            (
                Column("domain", "domain"),
                Column("kind", "kind"),
                Column("title", "title"),
                Column("contact_count", "contacts", "number"),
                Column("page_processing_status", "reading", "status"),
                DECISION,
                CHANGED,
            ),
            "A page appears when the sitemap of its domain was read.",
        ),
        Grid(
            CONTACTS,
            "Contacts",
            ("name", "email", "phone", "fax", "address", "profiles"),
            "name",
            (
                Column("email", "email", "email", "email"),
                Column("verdict", "verdict", "verdict"),
                Column("phone", "phone", "phone"),
                Column("business", "business"),
                Column("title", "position"),
                Column("source_url", "found on", "path"),
                Column("confidence", "sure", "share"),
                DECISION,
                CHANGED,
            ),
            "A contact appears when a page with an email address, a phone number or a person was read.",
            "name",
        ),
    )
}
