"""The sites, visited by the real guarded crawler."""

import pytest

from scrapersky.crawl.crawler import Crawler
from scrapersky.crawl.errors import BlockedByPolicy, FetchError, PageNotFound, PermanentFetchError, RetryLater
from scrapersky.extract.site_metadata import read_metadata
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.sites.plan import SitePageKind, SitePlan, Style
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.conditions import Condition


def one_of(sandbox: Sandbox, condition: Condition) -> Business:
    return next(business for business in sandbox.world if business.condition is condition)


def site_of(sandbox: Sandbox, condition: Condition) -> SitePlan:
    site = sandbox.sites.site(one_of(sandbox, condition).host or "")
    assert site is not None
    return site


def healthy(sandbox: Sandbox, style: Style) -> SitePlan:
    sites = (sandbox.sites.site(one.host or "") for one in sandbox.world if one.condition is Condition.HEALTHY)
    return next(site for site in sites if site and site.style is style and not site.crawl_delay)


@pytest.mark.parametrize("style", list(Style))
async def test_every_page_of_every_style_is_reached(sandbox: Sandbox, crawler: Crawler, style: Style):
    site = healthy(sandbox, style)

    for page in site.pages:
        answer = await crawler.fetch(site.url(page))
        assert answer.status == 200
        assert answer.content_type == "text/html"
        assert 10_000 < len(answer.body) < 60_000
        assert site.owner.name in answer.text
        assert f"<title>{page.title}" in answer.text


@pytest.mark.parametrize(
    ("style", "told"),
    [(Style.WORDPRESS, "WordPress"), (Style.WIX, "Wix"), (Style.SQUARESPACE, "Squarespace")],
)
async def test_a_style_is_recognised_by_its_markup(sandbox: Sandbox, crawler: Crawler, style: Style, told: str):
    site = healthy(sandbox, style)

    answer = await crawler.fetch(site.origin + "/")
    metadata = read_metadata(answer.text, answer.final_url, dict(answer.headers), site.owner.country.code)

    assert any(told in technology.name for technology in metadata.technologies)
    assert metadata.language == site.owner.language.code


async def test_links_lead_from_the_home_page_to_every_page_worth_reading(sandbox: Sandbox, crawler: Crawler):
    for style in Style:
        site = healthy(sandbox, style)
        home = await crawler.fetch(site.origin + "/")
        for kind in (SitePageKind.CONTACT, SitePageKind.TEAM, SitePageKind.IMPRINT, SitePageKind.ABOUT):
            assert f'href="{site.page(kind).path}"' in home.text


async def test_the_bare_name_redirects_to_www(sandbox: Sandbox, crawler: Crawler):
    for business in sandbox.world:
        if business.condition is not Condition.WWW:
            continue
        answer = await crawler.fetch(f"http://{business.host}/")

        if business.secure:
            assert [hop.url for hop in answer.redirects] == [f"http://{business.host}/", f"https://{business.host}/"]
            assert answer.final_url == f"https://www.{business.host}/"
        else:
            assert [hop.status for hop in answer.redirects] == [301]
            assert answer.final_url == f"http://www.{business.host}/"


async def test_a_slow_site_drips_and_arrives(sandbox: Sandbox, crawler: Crawler):
    site = site_of(sandbox, Condition.SLOW)

    answer = await crawler.fetch(site.origin + "/")

    assert 1 <= answer.seconds < 3
    assert answer.text.rstrip().endswith("</html>")


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        (Condition.BROKEN, RetryLater),
        (Condition.BUSY, RetryLater),
        (Condition.TRUNCATED, RetryLater),
        (Condition.DEAD, FetchError),
        (Condition.BLOCKED, PermanentFetchError),
        (Condition.ROBOTS, BlockedByPolicy),
    ],
)
async def test_a_site_that_is_unwell_fails_in_its_own_way(
    sandbox: Sandbox, crawler: Crawler, condition: Condition, error: type[FetchError]
):
    with pytest.raises(error):
        await crawler.fetch(one_of(sandbox, condition).website or "")


async def test_a_login_wall_shows_nothing_else(sandbox: Sandbox, crawler: Crawler):
    site = site_of(sandbox, Condition.LOGIN)

    answer = await crawler.fetch(site.url(site.page(SitePageKind.CONTACT)))

    assert answer.final_url.endswith("/login")
    assert site.owner.phone not in answer.text


async def test_a_parked_domain_offers_itself_for_sale(sandbox: Sandbox, crawler: Crawler):
    answer = await crawler.fetch(one_of(sandbox, Condition.PARKED).website or "")

    assert "for sale" in answer.text


async def test_a_page_that_is_not_there_is_gone(sandbox: Sandbox, crawler: Crawler):
    site = healthy(sandbox, Style.HAND_MADE)

    with pytest.raises(PageNotFound):
        await crawler.fetch(site.origin + "/no-such-page")


async def test_a_soft_404_answers_everything(sandbox: Sandbox, crawler: Crawler):
    site = site_of(sandbox, Condition.SOFT_404)

    answer = await crawler.fetch(site.origin + "/no-such-page")

    assert answer.status == 200
    assert site.owner.name in answer.text


async def test_a_name_outside_the_world_is_no_site(sandbox: Sandbox, crawler: Crawler):
    with pytest.raises(PageNotFound):
        await crawler.fetch("http://www.nobody-at-all.fi/")


async def test_a_page_that_has_not_changed_is_not_sent_again(sandbox: Sandbox, crawler: Crawler):
    site = healthy(sandbox, Style.WORDPRESS)
    first = await crawler.fetch(site.origin + "/")

    again = await crawler.fetch(site.origin + "/", validators=first.validators)

    assert again.not_modified


async def test_a_page_is_rendered_once(sandbox: Sandbox):
    site = next(one for host in sandbox.world if host.host and (one := sandbox.sites.site(host.host)))
    host, page = site.owner.host or "", site.pages[0]

    assert sandbox.sites._page(host, page) is sandbox.sites._page(host, page)
