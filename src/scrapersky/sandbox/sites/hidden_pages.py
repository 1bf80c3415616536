"""Pages of sites that show nothing to a plain reader: a shell for a script, a bot check, a consent wall, a notice.

A browser sees more: the script of a shell draws the page, and some bot checks let a visitor pass whose script sets a
cookie; the others stay.
"""

from scrapersky.sandbox.server.response import Response
from scrapersky.sandbox.sites.plan import SitePlan
from scrapersky.sandbox.world.conditions import Condition

SHELL = (
    "<!doctype html><html lang='{language}'><head><meta charset='utf-8'><title>{name}</title>"
    "<script type='module' crossorigin src='/assets/index-4f3a9c21.js'></script>"
    "<link rel='stylesheet' href='/assets/index-91bd2e07.css'></head><body>"
    "<noscript>You need to enable JavaScript to run this app.</noscript><div id='root'></div></body></html>"
)
# The script of a shell, and where the content of its pages is.
DRAWING_SCRIPT = "/assets/index-4f3a9c21.js"
CONTENT = "/content"
DRAWING = (
    "fetch('/content' + location.pathname).then((response) => response.text()).then((html) => {"
    "document.getElementById('root').innerHTML = new DOMParser().parseFromString(html, 'text/html').body.innerHTML;"
    "});"
)
PASSED = "passed=1"  # the cookie of a visitor whose script has run
CHALLENGE = (
    "<!doctype html><html lang='en-US'><head><title>Just a moment...</title>"
    "<meta name='robots' content='noindex,nofollow'></head><body><div class='main-wrapper' role='main'>"
    "<div class='main-content'><noscript><div class='h2'>"
    "<span id='challenge-error-text'>Enable JavaScript and cookies to continue</span></div></noscript></div></div>"
    "<script>(function(){{window._cf_chl_opt={{cvId:'3',cZone:'{host}'}};{pass_on}}}());</script></body></html>"
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


def lets_scripts_pass(host: str) -> bool:
    """Return whether the bot check of this host lets a visitor pass whose script has run."""
    return len(host) % 2 == 0


def _bot_check(host: str, cookie: str) -> Response | None:
    if lets_scripts_pass(host) and PASSED in cookie:
        return None
    headers = {"cf-mitigated": "challenge", "Server": "cloudflare"}
    pass_on = f"document.cookie='{PASSED}';location.reload();" if lets_scripts_pass(host) else ""
    return Response(403, CHALLENGE.format(host=host, pass_on=pass_on).encode(), headers=headers)


def hidden_page(site: SitePlan, path: str, cookie: str = "") -> Response | None:
    """Return the response of a site that hides its content; None for other sites, and for files it does not have."""
    condition, host = site.owner.condition, site.owner.host or ""
    if condition is Condition.BOT_CHECK:
        return _bot_check(host, cookie)
    if condition is Condition.JAVASCRIPT and path == DRAWING_SCRIPT:
        return Response(200, DRAWING.encode(), "text/javascript")
    if condition is Condition.JAVASCRIPT and path.startswith(CONTENT):
        return None
    page = {Condition.JAVASCRIPT: SHELL, Condition.CONSENT: CONSENT, Condition.UNFINISHED: NOTICE}.get(condition)
    if page is None:
        return None
    if path.endswith((".xml", ".gz", ".txt", ".js", ".css", ".png", ".ico", ".jpg")):
        return Response(404, b"Not found", "text/plain")
    return Response(200, page.format(name=site.owner.name, language=site.owner.language.code).encode())
