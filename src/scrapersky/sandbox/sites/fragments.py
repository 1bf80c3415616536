"""The HTML fragments that every style arranges."""

from dataclasses import dataclass
from html import escape

from scrapersky.sandbox.sites.json_ld import linked_data
from scrapersky.sandbox.sites.page_bodies import credit, main_part, social_links
from scrapersky.sandbox.sites.plan import SitemapStyle, SitePage, SitePageKind, SitePlan
from scrapersky.sandbox.world.phone_numbers import national

IN_MENU = (
    SitePageKind.HOME,
    SitePageKind.ABOUT,
    SitePageKind.SERVICES,
    SitePageKind.TEAM,
    SitePageKind.BLOG,
    SitePageKind.CONTACT,
)
IN_SHORT_MENU = (SitePageKind.HOME, SitePageKind.SERVICES, SitePageKind.CONTACT)  # the sitemap has the others
SITEMAPS_WITHOUT_PAGES = (SitemapStyle.RSS, SitemapStyle.BROKEN, SitemapStyle.NONE)
IN_FOOTER = (SitePageKind.IMPRINT, SitePageKind.PRIVACY)


@dataclass(frozen=True, slots=True)
class Fragments:
    """A page in pieces of HTML."""

    language: str
    title: str
    name: str
    description: str
    url: str
    menu: tuple[tuple[str, str], ...]  # path, text
    legal: tuple[tuple[str, str], ...]
    phone: str
    main: str
    socials: str
    credit: str
    head: str  # structured data and links to feeds


def build_fragments(site: SitePlan, page: SitePage) -> Fragments:
    """Build the fragments of one page."""
    owner = site.owner
    phone = f'<a class="call" href="tel:{owner.phone}">{national(owner.phone)}</a>' if site.header_phone else ""
    feed = ""
    if site.sitemap is SitemapStyle.RSS:
        feed = '<link rel="alternate" type="application/rss+xml" title="RSS" href="/feed/">'
    return Fragments(
        language=owner.language.code,
        title=f"{escape(page.title)} – {escape(owner.name)}",
        name=escape(owner.name),
        description=f"{escape(owner.name)}, {owner.city.name}. {owner.language.blurbs[site.salt % 6]}",
        url=site.url(page),
        menu=_links(site, IN_SHORT_MENU if _has_short_menu(site) else IN_MENU),
        legal=_links(site, IN_FOOTER),
        phone=phone,
        main=main_part(site, page),
        socials=social_links(site),
        credit=credit(site),
        head=feed + linked_data(site, page.kind),
    )


def _has_short_menu(site: SitePlan) -> bool:
    """Return whether some pages of the site are in its sitemap only: one site in five of those with a good sitemap."""
    return site.salt % 5 == 0 and site.sitemap not in SITEMAPS_WITHOUT_PAGES


def _links(site: SitePlan, kinds: tuple[SitePageKind, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((page.path, page.title) for page in map(site.page, kinds))
