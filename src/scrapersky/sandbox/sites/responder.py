"""The web sites of a world: what each host answers to each request."""

import gzip
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b

from scrapersky.sandbox.server.response import Request, Response, page_response, redirect
from scrapersky.sandbox.sites import style_hand_made, style_squarespace, style_wix, style_wordpress
from scrapersky.sandbox.sites.fragments import Fragments, build_fragments
from scrapersky.sandbox.sites.hidden_pages import CONTENT, hidden_page
from scrapersky.sandbox.sites.lure_pages import directory_response, lure_response
from scrapersky.sandbox.sites.plan import SitePage, SitePlan, Style, plan
from scrapersky.sandbox.sites.sitemaps import robots_txt, sitemap_files
from scrapersky.sandbox.world.conditions import Condition
from scrapersky.sandbox.world.unlisted import DIRECTORY_HOST
from scrapersky.sandbox.world.world import World

FRAMES: dict[Style, Callable[[Fragments], str]] = {
    Style.HAND_MADE: style_hand_made.frame,
    Style.WORDPRESS: style_wordpress.frame,
    Style.WIX: style_wix.frame,
    Style.SQUARESPACE: style_squarespace.frame,
}
COMPRESSED = frozenset({Style.WIX, Style.SQUARESPACE})
SLOW_SECONDS = 1.2
SITES_KEPT = 20_000
PAGES_KEPT = 1_500
PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")
PARKED = (
    "<!doctype html><html lang='en'><head><title>{0}</title><meta name='robots' content='noindex'></head><body>"
    "<h1>{0}</h1><p>This domain is for sale. Buy this domain today.</p><ul><li>Related searches</li>"
    "<li>Cheap flights</li><li>Car insurance</li></ul><p>The owner has no relationship with advertisers.</p>"
    "</body></html>"
)


class SiteResponder:
    """Answers for every host of a world; nothing is made before it is asked for."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.site = lru_cache(SITES_KEPT)(self._site)
        self._page = lru_cache(PAGES_KEPT)(self._rendered)

    def answer(self, request: Request) -> Response:
        """Respond as the host; an unknown host has no site."""
        site = self.site(request.host.removeprefix("www."))
        if site is None:
            return self._other_site(request)
        if site.owner.secure and not request.secure and site.owner.condition is not Condition.DEAD:
            return redirect(f"https://{request.host}{_rest(request)}")
        trouble = _trouble(site, request)
        return trouble if trouble is not None else self._well(site, request)

    def _other_site(self, request: Request) -> Response:
        """Respond as a host that belongs to no business of the world."""
        host = request.host.removeprefix("www.")
        if host == DIRECTORY_HOST:
            return directory_response(self.world, request)
        lure = self.world.lure_at(host)
        if lure is not None:
            return lure_response(self.world, lure, request)
        return page_response(404, "There is no site of this name in the sandbox.")

    def secured(self, host: str) -> Condition | None:
        """Return the TLS condition of a host served over https; None for others."""
        site = self.site(host.removeprefix("www."))
        return site.owner.condition if site is not None and site.owner.secure else None

    def _site(self, host: str) -> SitePlan | None:
        owner = self.world.at(host)
        return None if owner is None else plan(self.world, owner)

    def _well(self, site: SitePlan, request: Request) -> Response:
        """Respond as a working site."""
        condition = site.owner.condition
        if condition is Condition.WWW and not request.host.startswith("www."):
            return redirect(f"{site.origin}{_rest(request)}")
        if request.path == "/robots.txt":
            return _file(robots_txt(site))
        file = sitemap_files(site).get(request.path) if _may_be_a_file(request.path) else None
        if file is not None:
            return _file(file)
        if request.path.endswith((".jpg", ".png", ".ico")):
            return Response(200, PIXEL, "image/png")
        path = request.path.removeprefix(CONTENT) if condition is Condition.JAVASCRIPT else request.path
        page = site.at(path)
        if page is None:
            if condition is not Condition.SOFT_404:
                return page_response(404, site.owner.name)
            page = site.pages[0]
        return self._page_answer(site, page, request)

    def _page_answer(self, site: SitePlan, page: SitePage, request: Request) -> Response:
        body, etag = self._page(site.owner.host or "", page)
        if request.headers.get("if-none-match") == etag:
            return Response(304, b"", headers={"ETag": etag})
        headers = {"ETag": etag, "Vary": "Accept-Encoding"}
        if site.style in COMPRESSED:
            if "gzip" in request.headers.get("accept-encoding", ""):
                headers["Content-Encoding"] = "gzip"
            else:
                body = gzip.decompress(body)
        slow = site.owner.condition is Condition.SLOW
        return Response(200, body, headers=headers, drip_seconds=SLOW_SECONDS if slow else 0.0)

    def _rendered(self, host: str, page: SitePage) -> tuple[bytes, str]:
        """Render the body and its ETag."""
        site = self.site(host)
        if site is None:
            raise KeyError(host)
        body = FRAMES[site.style](build_fragments(site, page)).encode()
        etag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        return (gzip.compress(body, 1, mtime=0) if site.style in COMPRESSED else body), etag


def _trouble(site: SitePlan, request: Request) -> Response | None:
    """Return the response of a broken site, or None."""
    condition, path = site.owner.condition, request.path
    host = site.owner.host or ""
    if condition is Condition.DEAD:
        return Response(hang_up=True)
    if condition is Condition.BROKEN:
        return page_response(500, "The server has encountered an internal error.")
    if condition is Condition.BUSY:
        return Response(429, b"Too many requests", headers={"Retry-After": "120"})
    if path == "/robots.txt" and condition is not Condition.TRUNCATED:
        return None
    if condition is Condition.BLOCKED:
        return page_response(403, "Access denied. Your request looks automated.")
    if condition is Condition.TRUNCATED:
        return Response(200, PARKED.format(host).encode() * 20, cut=True)
    if condition is Condition.PARKED:
        return Response(200, PARKED.format(host).encode()) if path == "/" else page_response(404, host)
    if condition is Condition.LOGIN:
        return _login(site, path)
    return hidden_page(site, path, request.headers.get("cookie", ""))


def _login(site: SitePlan, path: str) -> Response:
    if path != "/login":
        return Response(302, b"", headers={"Location": f"{site.origin}/login"})
    words = site.owner.language
    return Response(
        200,
        f"<!doctype html><html lang='{words.code}'><title>{words.login}</title><h1>{words.login}</h1>"
        "<form method='post'><input name='user'><input name='password' type='password'></form>".encode(),
    )


def _rest(request: Request) -> str:
    return f"{request.path}{'?' + request.query if request.query else ''}"


def _may_be_a_file(path: str) -> bool:
    return path.endswith((".xml", ".gz", ".txt")) or path == "/feed/"


def _file(file: tuple[str, bytes]) -> Response:
    return Response(200, file[1], file[0])
