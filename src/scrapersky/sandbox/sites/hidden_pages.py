"""Pages of sites that show nothing to a plain reader: a shell for a script, a bot check, a consent wall, a notice."""

from scrapersky.sandbox.server.response import Response
from scrapersky.sandbox.sites.plan import SitePlan
from scrapersky.sandbox.world.conditions import Condition

SHELL = (
    "<!doctype html><html lang='{language}'><head><meta charset='utf-8'><title>{name}</title>"
    "<script type='module' crossorigin src='/assets/index-4f3a9c21.js'></script>"
    "<link rel='stylesheet' href='/assets/index-91bd2e07.css'></head><body>"
    "<noscript>You need to enable JavaScript to run this app.</noscript><div id='root'></div></body></html>"
)
CHALLENGE = (
    "<!doctype html><html lang='en-US'><head><title>Just a moment...</title>"
    "<meta name='robots' content='noindex,nofollow'></head><body><div class='main-wrapper' role='main'>"
    "<div class='main-content'><noscript><div class='h2'>"
    "<span id='challenge-error-text'>Enable JavaScript and cookies to continue</span></div></noscript></div></div>"
    "<script>(function(){{window._cf_chl_opt={{cvId:'3',cZone:'{host}'}};}}());</script></body></html>"
)
CONSENT = (
    "<!doctype html><html lang='{language}'><head><meta charset='utf-8'><title>{name}</title></head><body>"
    "<div id='cookie-wall' role='dialog'><h1>Cookies</h1><p>We use cookies and similar technologies. You can "
    "continue to our website only after you accept them.</p><button>Accept all</button> <button>Manage "
    "options</button></div>"
    "<script src='/consent.js'></script></body></html>"
)
NOTICE = (
    "<!doctype html><html lang='{language}'><head><meta charset='utf-8'><title>{name}</title></head><body>"
    "<h1>{name}</h1><p>Our new website is coming soon.</p></body></html>"
)


def hidden_page(site: SitePlan, path: str) -> Response | None:
    """Return the response of a site that hides its content; None for other sites, and for files it does not have."""
    condition, host = site.owner.condition, site.owner.host or ""
    if condition is Condition.BOT_CHECK:
        headers = {"cf-mitigated": "challenge", "Server": "cloudflare"}
        return Response(403, CHALLENGE.format(host=host).encode(), headers=headers)
    page = {Condition.JAVASCRIPT: SHELL, Condition.CONSENT: CONSENT, Condition.UNFINISHED: NOTICE}.get(condition)
    if page is None:
        return None
    if path.endswith((".xml", ".gz", ".txt", ".js", ".css", ".png", ".ico", ".jpg")):
        return Response(404, b"Not found", "text/plain")
    return Response(200, page.format(name=site.owner.name, language=site.owner.language.code).encode())
