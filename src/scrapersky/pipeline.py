"""The pipeline of scrapersky: its workflows in their order."""

from scrapersky.core.settings import Settings
from scrapersky.crawl.site_reader import SiteReader
from scrapersky.crawl.web import Web
from scrapersky.destinations.registry import DestinationAdapters
from scrapersky.engine.pipeline import Pipeline
from scrapersky.providers.base import Providers
from scrapersky.providers.call_budget import CallBudgets
from scrapersky.providers.search_journal import Journals
from scrapersky.providers.web_search import WebSearch
from scrapersky.store.deliveries.outbox import Outbox
from scrapersky.store.line.known_sites import KnownSites
from scrapersky.store.searches.browser_rule import BrowserRules
from scrapersky.workflows.contact_verification import ContactVerification
from scrapersky.workflows.deep_scan import DeepScan
from scrapersky.workflows.delivery import ContactDelivery
from scrapersky.workflows.domain_extraction import DomainExtraction
from scrapersky.workflows.domain_metadata import DomainMetadata
from scrapersky.workflows.page_curation import PageCuration
from scrapersky.workflows.place_search import PlaceSearch
from scrapersky.workflows.site_search import SiteSearch
from scrapersky.workflows.sitemap_analysis import SitemapAnalysis
from scrapersky.workflows.sitemap_import import SitemapImport


def build_pipeline(
    providers: Providers,
    web: Web | None = None,
    journals: Journals | None = None,
    outbox: Outbox | None = None,
    adapters: DestinationAdapters | None = None,
    call_budgets: CallBudgets | None = None,
    browser_rules: BrowserRules | None = None,
    known_sites: KnownSites | None = None,
    web_search: WebSearch | None = None,
    settings: Settings | None = None,
) -> Pipeline:
    """Search ─1─▶ Place ─2─▶ LocalBusiness ─3─▶ Domain ─4─▶ Domain ─5─▶ SitemapFile ─6─▶ Page ─7─▶ Contact ─8─▶ ─9─▶.

    A business without a web site passes through step 10 before step 3.

    Without arguments the workflows can only be inspected: their declarations are complete, their services are not.
    """
    settings = settings or Settings()
    web = web or Web(settings)
    return Pipeline(
        [
            PlaceSearch(providers, journals, call_budgets),
            DeepScan(providers, call_budgets),
            SiteSearch(SiteReader(web), settings, known_sites, web_search, call_budgets),
            DomainExtraction(),
            DomainMetadata(web, browser_rules),
            SitemapAnalysis(web),
            SitemapImport(web),
            PageCuration(web, browser_rules),
            ContactVerification(web.mx_lookup),
            ContactDelivery(outbox, adapters),
        ]
    )
