"""The sitemaps and robots.txt of the sites, in every kind there is."""

import gzip
from collections.abc import Sequence
from typing import NamedTuple

from scrapersky.sandbox.sites.plan import SitemapStyle, SitePage, SitePageKind, SitePlan
from scrapersky.sandbox.world.conditions import Condition

XML = "application/xml; charset=utf-8"
ODD_PATH = "/maps/all-our-pages.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


class File(NamedTuple):
    """A body with its type."""

    content_type: str
    body: bytes


class SitemapTruth(NamedTuple):
    """The sitemaps a search must find, and the pages that stand in them."""

    files: tuple[str, ...]
    urls: tuple[str, ...]


def robots_txt(site: SitePlan) -> File:
    """Build the robots.txt, which allows nearly everything."""
    lines = ["User-agent: *"]
    if site.owner.condition is Condition.ROBOTS:
        lines.append("Disallow: /")
    else:
        lines += ["Disallow: /wp-admin/", "Disallow: /cart", "Disallow: /*?replytocom="]
    if site.crawl_delay:
        lines.append("Crawl-delay: 1")
    named = {SitemapStyle.WORDPRESS: "/wp-sitemap.xml", SitemapStyle.ROBOTS: ODD_PATH}.get(site.sitemap)
    if named:
        lines += ["", f"Sitemap: {site.origin}{named}"]
    return File("text/plain; charset=utf-8", "\n".join(lines).encode() + b"\n")


def sitemap_files(site: SitePlan) -> dict[str, File]:
    """Build every sitemap file of the site, by path."""
    pages = [page for page in site.pages if page.kind is not SitePageKind.POST]
    posts = [page for page in site.pages if page.kind is SitePageKind.POST]
    everything = _urlset(site, site.pages)
    if site.sitemap is SitemapStyle.XML:
        return {"/sitemap.xml": File(XML, everything)}
    if site.sitemap is SitemapStyle.ROBOTS:
        return {ODD_PATH: File(XML, everything)}
    if site.sitemap is SitemapStyle.GZIP:
        return {"/sitemap.xml.gz": File("application/gzip", gzip.compress(everything, mtime=0))}
    if site.sitemap is SitemapStyle.TEXT:
        text = "\n".join(site.url(page) for page in site.pages)
        return {"/sitemap.txt": File("text/plain; charset=utf-8", text.encode())}
    if site.sitemap is SitemapStyle.RSS:
        return {"/feed/": File("application/rss+xml; charset=utf-8", _feed(site, posts))}
    if site.sitemap is SitemapStyle.BROKEN:
        return {"/sitemap.xml": File(XML, everything[: everything.rindex(b"</loc>") - 9])}
    if site.sitemap is SitemapStyle.NONE:
        return {}
    top, names = {
        SitemapStyle.INDEX: ("/sitemap_index.xml", ("/page-sitemap.xml", "/post-sitemap.xml")),
        SitemapStyle.WORDPRESS: (
            "/wp-sitemap.xml",
            ("/wp-sitemap-posts-page-1.xml", "/wp-sitemap-posts-post-1.xml"),
        ),
    }[site.sitemap]
    return {
        top: File(XML, _index(site, names)),
        names[0]: File(XML, _urlset(site, pages)),
        names[1]: File(XML, _urlset(site, posts)),
    }


def sitemap_truth(site: SitePlan) -> SitemapTruth:
    """Return what sitemap discovery must find here."""
    pages: Sequence[SitePage] = site.pages
    if site.sitemap is SitemapStyle.NONE:
        pages = ()
    elif site.sitemap is SitemapStyle.RSS:
        pages = [page for page in site.pages if page.kind is SitePageKind.POST]
    elif site.sitemap is SitemapStyle.BROKEN:
        pages = site.pages[:-1]
    return SitemapTruth(
        tuple(site.origin + path for path in sitemap_files(site)), tuple(site.url(page) for page in pages)
    )


def _urlset(site: SitePlan, pages: Sequence[SitePage]) -> bytes:
    records = "".join(
        f"<url><loc>{site.url(page)}</loc><lastmod>2025-{page.number + 3:02}-14</lastmod></url>\n" for page in pages
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACE}>\n{records}</urlset>\n'.encode()


def _index(site: SitePlan, paths: Sequence[str]) -> bytes:
    records = "".join(f"<sitemap><loc>{site.origin}{path}</loc></sitemap>\n" for path in paths)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex {NAMESPACE}>\n{records}</sitemapindex>\n'.encode()


def _feed(site: SitePlan, posts: Sequence[SitePage]) -> bytes:
    items = "".join(
        f"<item><title>{post.title}</title><link>{site.url(post)}</link>"
        f"<pubDate>Fri, 14 Mar 2025 09:00:00 +0000</pubDate></item>\n"
        for post in posts
    )
    channel = f"<title>RSS</title><link>{site.origin}/</link><description>RSS</description>\n{items}"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>{channel}</channel></rss>\n'.encode()
