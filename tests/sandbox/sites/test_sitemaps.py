"""Sitemaps: the real search finds what the truth says, for every kind."""

import pytest

from scrapersky.crawl.crawler import Crawler
from scrapersky.crawl.sitemaps.discover import discover
from scrapersky.crawl.sitemaps.entry import SitemapEntry
from scrapersky.crawl.sitemaps.fetcher import VisitFetcher
from scrapersky.crawl.sitemaps.result import SearchOutcome
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.sites.plan import SitemapStyle, SitePlan
from scrapersky.sandbox.sites.sitemaps import sitemap_truth
from scrapersky.sandbox.world.conditions import Condition


def site_with(sandbox: Sandbox, style: SitemapStyle) -> SitePlan:
    sites = (sandbox.sites.site(one.host or "") for one in sandbox.world if one.condition is Condition.HEALTHY)
    return next(site for site in sites if site and site.sitemap is style)


@pytest.mark.parametrize("style", [style for style in SitemapStyle if style is not SitemapStyle.NONE])
async def test_the_search_finds_what_is_there(sandbox: Sandbox, crawler: Crawler, style: SitemapStyle):
    site = site_with(sandbox, style)
    urls: list[str] = []

    def take(url: str, entries: list[SitemapEntry]) -> bool:
        urls.extend(entry.loc for entry in entries)
        return True

    async with crawler.visit() as visit:
        found = await discover(site.origin + "/", VisitFetcher(visit), sink=take)

    truth = sitemap_truth(site)
    assert found.outcome is SearchOutcome.FOUND
    assert {sitemap.url for sitemap in found.sitemaps} == set(truth.files)
    assert sorted(urls) == sorted(truth.urls)


async def test_where_there_is_none_the_search_says_so(sandbox: Sandbox, crawler: Crawler):
    site = site_with(sandbox, SitemapStyle.NONE)

    async with crawler.visit() as visit:
        found = await discover(site.origin + "/", VisitFetcher(visit))

    assert found.outcome is SearchOutcome.NONE
    assert sitemap_truth(site) == ((), ())


async def test_a_soft_404_is_no_sitemap(sandbox: Sandbox, crawler: Crawler):
    owner = next(one for one in sandbox.world if one.condition is Condition.SOFT_404)
    site = sandbox.sites.site(owner.host or "")
    assert site is not None

    async with crawler.visit() as visit:
        found = await discover(site.origin + "/", VisitFetcher(visit))

    assert {sitemap.url for sitemap in found.sitemaps} == set(sitemap_truth(site).files)


async def test_the_broken_one_ends_in_the_middle(sandbox: Sandbox, crawler: Crawler):
    site = site_with(sandbox, SitemapStyle.BROKEN)

    answer = await crawler.fetch(site.origin + "/sitemap.xml")

    assert not answer.text.rstrip().endswith("</urlset>")
    assert len(sitemap_truth(site).urls) == len(site.pages) - 1


async def test_some_sites_ask_for_a_delay(sandbox: Sandbox, crawler: Crawler):
    asking = next(
        site
        for one in sandbox.world
        if one.condition is Condition.HEALTHY and (site := sandbox.sites.site(one.host or "")) and site.crawl_delay
    )

    answer = await crawler.fetch(asking.origin + "/robots.txt")

    assert "Crawl-delay: 1" in answer.text
