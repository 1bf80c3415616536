"""Resources whose routes all come from the factory: places, businesses, domains, sitemaps and pages."""

from scrapersky.api.resources.models import with_columns
from scrapersky.api.resources.routes import ApiResource
from scrapersky.api.schemas.listing import CuratedSummary, Detail
from scrapersky.models import Domain, LocalBusiness, Page, Place, SitemapFile
from scrapersky.store.listing import resources

PlaceSummary = with_columns(
    "PlaceSummary",
    CuratedSummary,
    Place,
    "A place as a provider describes it.",
    "search_id provider provider_id name address phone website categories rating rating_count business_status "
    "deep_scan_status deep_scan_error",
)
PLACES = ApiResource(
    resources.PLACES,
    "place",
    PlaceSummary,
    with_columns(
        "PlaceDetail",
        PlaceSummary,
        Place,
        "All columns of a place.",
        "latitude longitude licence fetched_at expires_at details",
        mixin=Detail,
    ),
    curation_description="Selected queues the deep scan; any other status withdraws queued work.",
)

BusinessSummary = with_columns(
    "BusinessSummary",
    CuratedSummary,
    LocalBusiness,
    "A local business.",
    "search_id place_id name address city country phone website categories rating rating_count business_status "
    "domain_extraction_status domain_extraction_error",
)
BUSINESSES = ApiResource(
    resources.BUSINESSES,
    "business",
    BusinessSummary,
    with_columns(
        "BusinessDetail",
        BusinessSummary,
        LocalBusiness,
        "All columns of a business.",
        "street region postcode latitude longitude timezone price_level profiles hours details",
        mixin=Detail,
    ),
    curation_description="Selected queues the domain extraction; any other status withdraws queued work.",
)

DomainSummary = with_columns(
    "DomainSummary",
    CuratedSummary,
    Domain,
    "The website of one or more businesses.",
    "search_id name unicode_name country title language generator http_status sitemap_result sitemap_reason "
    "domain_metadata_status domain_metadata_error sitemap_analysis_status sitemap_analysis_error",
)
DOMAINS = ApiResource(
    resources.DOMAINS,
    "domain",
    DomainSummary,
    with_columns(
        "DomainDetail",
        DomainSummary,
        Domain,
        "All columns of a domain.",
        "start_url final_url description favicon logo technologies facts",
        mixin=Detail,
    ),
    curation_description="Selected queues the metadata, or the sitemap analysis if the metadata is Completed; "
    "any other status withdraws queued work of both.",
)

SitemapSummary = with_columns(
    "SitemapSummary",
    CuratedSummary,
    SitemapFile,
    "A sitemap file of a domain.",
    "domain_id url kind discovered_by url_count size_bytes last_modified sitemap_import_status sitemap_import_error",
)
SITEMAPS = ApiResource(
    resources.SITEMAPS,
    "sitemap",
    SitemapSummary,
    with_columns(
        "SitemapDetail",
        SitemapSummary,
        SitemapFile,
        "All columns of a sitemap.",
        "parent_id partial_reason",
        mixin=Detail,
    ),
    curation_description="Selected queues the import; any other status withdraws queued work.",
)

PageSummary = with_columns(
    "PageSummary",
    CuratedSummary,
    Page,
    "A page of a domain, and what its URL suggests about its content.",
    "domain_id sitemap_file_id url kind kind_score kind_reason title last_modified contact_count "
    "page_processing_status page_processing_error",
)
PAGES = ApiResource(
    resources.PAGES,
    "page",
    PageSummary,
    with_columns(
        "PageDetail", PageSummary, Page, "All columns of a page.", "country depth http_status fetched_at", mixin=Detail
    ),
    curation_description="Selected queues the processing of the page; any other status withdraws queued work.",
)

RESOURCES = (
    PLACES,
    BUSINESSES,
    DOMAINS,
    SITEMAPS,
    PAGES,
)
