"""Resources whose routes all come from the factory: places, businesses, domains, sitemaps and pages."""

from scrapersky.api.resources.routes import curated_resource
from scrapersky.store.listing import resources

PLACES = curated_resource(
    resources.PLACES,
    "place",
    "A place as a provider describes it.",
    summary="search_id provider provider_id name address phone website categories rating rating_count business_status "
    "deep_scan_status deep_scan_error",
    detail="latitude longitude licence fetched_at expires_at details",
    curation="Selected queues the deep scan; any other status withdraws queued work.",
)
BUSINESSES = curated_resource(
    resources.BUSINESSES,
    "business",
    "A local business.",
    summary="search_id place_id name address city country phone website website_how website_confidence categories "
    "rating rating_count business_status chain site_search_status site_search_error domain_extraction_status "
    "domain_extraction_error",
    detail="same_as_id same_reason same_confidence same_by website_proof rejected_websites street region "
    "postcode latitude longitude timezone price_level profiles hours details",
    curation="Selected queues the search for a missing web site, or the domain extraction of a known one; "
    "any other status withdraws queued work of both.",
)
DOMAINS = curated_resource(
    resources.DOMAINS,
    "domain",
    "The website of one or more businesses.",
    summary="search_id name unicode_name country title language generator http_status hidden_reason sitemap_result "
    "sitemap_reason "
    "domain_metadata_status domain_metadata_error sitemap_analysis_status sitemap_analysis_error",
    detail="start_url final_url description favicon logo technologies facts",
    curation="Selected queues the metadata, or the sitemap analysis if the metadata is Completed; "
    "any other status withdraws queued work of both.",
)
SITEMAPS = curated_resource(
    resources.SITEMAPS,
    "sitemap",
    "A sitemap file of a domain.",
    summary="domain_id url kind discovered_by url_count size_bytes last_modified "
    "sitemap_import_status sitemap_import_error",
    detail="parent_id partial_reason",
    curation="Selected queues the import; any other status withdraws queued work.",
)
PAGES = curated_resource(
    resources.PAGES,
    "page",
    "A page of a domain, and what its URL suggests about its content.",
    summary="domain_id sitemap_file_id url kind kind_score kind_reason title last_modified contact_count hidden_reason "
    "page_processing_status page_processing_error",
    detail="country depth http_status fetched_at",
    curation="Selected queues the processing of the page; any other status withdraws queued work.",
)

RESOURCES = (
    PLACES,
    BUSINESSES,
    DOMAINS,
    SITEMAPS,
    PAGES,
)
