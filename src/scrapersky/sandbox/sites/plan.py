"""A business's web site as a plan: its style, its pages, its sitemap, and in which form each contact is written."""

import random
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.conditions import Condition
from scrapersky.sandbox.world.slugs import slug
from scrapersky.sandbox.world.stratified_draw import build_pool, draw
from scrapersky.sandbox.world.world import World


class Style(StrEnum):
    """What the site was made with."""

    HAND_MADE = "hand_made"
    WORDPRESS = "wordpress"
    WIX = "wix"
    SQUARESPACE = "squarespace"


class SitemapStyle(StrEnum):
    """How the site announces its sitemaps."""

    XML = "xml"  # /sitemap.xml
    INDEX = "index"  # /sitemap_index.xml with two children
    WORDPRESS = "wordpress"  # /wp-sitemap.xml, named in robots.txt
    ROBOTS = "robots"  # an odd address that only robots.txt names
    GZIP = "gzip"  # /sitemap.xml.gz
    TEXT = "text"  # /sitemap.txt
    RSS = "rss"  # only a feed of posts, linked from the home page
    BROKEN = "broken"  # /sitemap.xml, cut off in the middle of a record
    NONE = "none"  # nothing but links


class SitePageKind(StrEnum):
    """What a page is about."""

    HOME = "home"
    CONTACT = "contact"
    ABOUT = "about"
    TEAM = "team"
    IMPRINT = "imprint"
    SERVICES = "services"
    BLOG = "blog"
    POST = "post"
    PRIVACY = "privacy"


STYLE_SHARES = {Style.HAND_MADE: 8, Style.WORDPRESS: 7, Style.WIX: 3, Style.SQUARESPACE: 2}
SITEMAP_SHARES = {
    SitemapStyle.XML: 13,
    SitemapStyle.INDEX: 6,
    SitemapStyle.WORDPRESS: 6,
    SitemapStyle.ROBOTS: 3,
    SitemapStyle.GZIP: 2,
    SitemapStyle.TEXT: 2,
    SitemapStyle.RSS: 1,
    SitemapStyle.BROKEN: 2,
    SitemapStyle.NONE: 5,
}
EMAIL_SHARES = {
    "text": 8,
    "mailto": 12,
    "entities": 3,
    "cloudflare": 4,
    "cloudflare_link": 2,
    "written_out": 2,
    "round_brackets": 2,
    "attributes": 2,
    "script": 2,
    "codes": 1,
    "split_spans": 1,
    "reversed": 1,
    "base64": 1,
    "structured": 2,
}
PHONE_SHARES = {"link": 6, "national": 5, "international": 3, "table": 3, "dotted": 1, "trunk": 2, "structured": 2}
TEAM_LAYOUTS = ("cards", "cards", "lines", "table", "list", "definition")
STYLES, SITEMAPS = build_pool(STYLE_SHARES), build_pool(SITEMAP_SHARES)
EMAIL_FORMS, PHONE_FORMS = build_pool(EMAIL_SHARES), build_pool(PHONE_SHARES)


@dataclass(frozen=True, slots=True)
class SitePage:
    """One page of a site."""

    kind: SitePageKind
    path: str
    title: str
    number: int = 0  # of a post


@dataclass(frozen=True, slots=True)
class SitePlan:
    """The plan from which pages, sitemaps and the truth are made."""

    owner: Business
    others: tuple[Business, ...]  # those that share the site
    style: Style
    sitemap: SitemapStyle
    origin: str
    pages: tuple[SitePage, ...]
    email_form: str
    second_form: str
    phone_form: str
    team_layout: str
    has_linked_data: bool
    email_on_home: bool
    header_phone: bool
    crawl_delay: bool
    salt: int  # for everything else that differs between two sites

    @property
    def businesses(self) -> tuple[Business, ...]:
        """The businesses that the site belongs to."""
        return (self.owner, *self.others)

    def page(self, kind: SitePageKind) -> SitePage:
        """Return the first page of this kind."""
        return next(page for page in self.pages if page.kind is kind)

    def at(self, path: str) -> SitePage | None:
        """Return the page at this path, with or without a trailing slash."""
        wanted = path.rstrip("/")
        return next((page for page in self.pages if page.path.rstrip("/") == wanted), None)

    def url(self, page: SitePage) -> str:
        """Return the URL of a page."""
        return self.origin + page.path


def plan(world: World, owner: Business) -> SitePlan:
    """Build the site plan of a business, the same on every call."""
    seed, number = world.seed, owner.number
    chance = random.Random(f"{seed} site {number}")
    sitemap = draw(seed, "sitemaps", SITEMAPS, number)
    style = Style.WORDPRESS if sitemap is SitemapStyle.WORDPRESS else draw(seed, "styles", STYLES, number)
    sharing = world.sharing(owner)
    www = owner.condition is Condition.WWW or "://www." in (owner.website or "")
    return SitePlan(
        owner=owner,
        others=(sharing,) if sharing else (),
        style=style,
        sitemap=sitemap,
        origin=f"{'https' if owner.secure else 'http'}://{'www.' if www else ''}{owner.host}",
        pages=_pages(owner, style),
        email_form=draw(seed, "email forms", EMAIL_FORMS, number),
        second_form=chance.choice(EMAIL_FORMS),
        phone_form=draw(seed, "phone forms", PHONE_FORMS, number),
        team_layout=chance.choice(TEAM_LAYOUTS),
        has_linked_data=chance.random() < 0.5,
        email_on_home=chance.random() < 0.6,
        header_phone=chance.random() < 0.7,
        crawl_delay=chance.random() < 0.05,
        salt=chance.randrange(1 << 30),
    )


@lru_cache(256)
def _titles(language_pages: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((slug(title), title) for title in language_pages)


def _pages(owner: Business, style: Style) -> tuple[SitePage, ...]:
    """Return the pages: home first, posts last."""
    words = owner.language
    ending = {Style.HAND_MADE: ".html", Style.WORDPRESS: "/"}.get(style, "")
    kinds = (
        SitePageKind.CONTACT,
        SitePageKind.ABOUT,
        SitePageKind.TEAM,
        SitePageKind.SERVICES,
        SitePageKind.IMPRINT,
        SitePageKind.PRIVACY,
    )
    named = _titles((words.contact, words.about, words.team, words.services, words.imprint, words.privacy))
    pages = [SitePage(SitePageKind.HOME, "/", words.home)]
    pages += [SitePage(kind, f"/{name}{ending}", title) for kind, (name, title) in zip(kinds, named, strict=True)]
    blog = slug(words.blog)
    pages.append(SitePage(SitePageKind.BLOG, f"/{blog}{'/' if style is Style.WORDPRESS else ''}", words.blog))
    pages += [
        SitePage(SitePageKind.POST, f"/{blog}/{name}{ending}", title, number)
        for number, (name, title) in enumerate(_titles(words.posts))
    ]
    return tuple(pages)
