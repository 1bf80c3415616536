"""Why a page without contacts shows nothing to a plain reader, by its structure and by words of many languages.

A page with more than a little text is never hidden: a mistake here would hide a real business, a miss only keeps the
general sentence "no contact on the pages that were read".
"""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from scrapersky.core.vocabularies import HiddenReason
from scrapersky.extract.document.model import Document
from scrapersky.extract.hidden_pages.responses import has_bot_check_mark, has_weak_bot_check_mark
from scrapersky.extract.hidden_pages.view import PageView, view_page
from scrapersky.extract.hidden_pages.words import bare, has_any, phrase_set, phrases
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_words

MAX_BLOCKS = 120
MAX_TEXT = 2_000  # characters of visible text; a longer page has content
MAX_LINKS = 15  # a page with more has a menu; a login page may have one
MAX_HTML = 60_000  # characters that are searched for parts of bot checks
MAX_SENTENCE = 250  # characters of a line that a bot check says
MAX_BARE = 40
HARDLY_ANY = 60  # characters of text that a shell may have: a name, “Loading…”
MOUNTS = load_words("hidden", "javascript", "mounts")
# Scripts that draw a page: bundles of frameworks, with their hashes.
BUNDLE = re.compile(
    r"/_next/static/|/_nuxt/|/static/js/(?:main|bundle|runtime)|/assets/index[-.]|/build/(?:bundle|q-|entry)|chunk-vendors"
    r"|flutter_bootstrap|flutter\.js|main\.dart\.js|(?:^|/)(?:main|app|runtime|polyfills|vendor|bundle|index|umi)[.-][\w-]{6,32}"
    r"(?:\.(?:chunk|bundle|min))?\.m?js(?:$|\?)",
    re.I,
)
PLAIN_BUNDLE = re.compile(r"(?:^|/)(?:bundle|main|app|index|runtime|build)(?:\.(?:bundle|min))?\.m?js(?:$|\?)", re.I)
ROOT_ELEMENT = re.compile(
    r"<(?:app-root|app-main|my-app|main-app|root-app|ion-app|flt-glass-pane|router-outlet)[\s>/]"
    r"|<(?:div|main|body)[^>]{0,200}\s(?:ng-app|data-reactroot|data-server-rendered|v-cloak|ng-cloak|data-ng-app)",
    re.I,
)
REDIRECT = re.compile(
    r"(?:window|document|self|top)\.location(?:\.href)?\s{0,3}=[^=]|location\.(?:replace|assign)\(|location\.href\s{0,3}=[^=]"
)
CAPTCHA_NAMES = ("g-recaptcha", "h-captcha", "cf-turnstile", "smart-captcha")
FRAME = re.compile(r"<(?:i?frame|frameset|object|embed)[\s>]", re.I)
LOGIN_PATH = re.compile(
    r"/(?:wp-login|log-?in|sign-?in|anmelden|connexion|accedi|acceso|inloggen|kirjaudu|password)\b", re.I
)
CONSENT_ADDRESS = re.compile(
    r"//consent\.|/(?:cookie-?(?:wall|consent)|consent|age-?(?:gate|check|verification))(?:[/?.]|$)", re.I
)
HEADINGS = frozenset(("h1", "h2", "h3"))


def hidden_reason(document: Document, html: str, url: str = "") -> HiddenReason | None:
    """Return why a page that gave no contact hides its content; None for a page with text, or without evidence."""
    has_menu = len(document.links) > MAX_LINKS and not _has_password_field(document)
    if has_menu or len(document.blocks) > MAX_BLOCKS or len(document.text) > MAX_TEXT:
        return HiddenReason.UNFINISHED if _is_default_page(fold(document.title)) else None
    view = view_page(document)
    for reason, is_hidden in CHECKS:
        if is_hidden(document, view, html, url):
            return reason
    return None


def _is_bot_check(document: Document, view: PageView, html: str, url: str) -> bool:
    """Find parts that only bot checks have; else a sentence of theirs, or a captcha that is alone on the page."""
    if view.own_length > 1_500 or view.links > 5:
        return False
    page = html[:MAX_HTML].lower()
    if has_bot_check_mark(page):
        return True
    if view.length > 800 or view.links > 3 or _visible_fields(document):
        return False
    sentences = phrases("bot_check", "sentences.phrases")
    said = (view.title, view.noscript, *(line.text for line in view.lines))
    if has_any(" ".join(said), sentences) and any(
        len(text) <= MAX_SENTENCE and has_any(text, sentences) for text in said
    ):
        return True
    is_bare = view.length <= MAX_BARE and not view.images
    return (view.length <= 300 and has_any(page, CAPTCHA_NAMES)) or (is_bare and has_weak_bot_check_mark(page))


def _is_login(document: Document, view: PageView, html: str, url: str) -> bool:
    """Find a password field and hardly anything else: little text, and a menu only on a page that is called login."""
    if not _has_password_field(document):
        return False
    words = phrases("login", "words")
    headings = (line.text for line in view.lines if line.tag in HEADINGS or line.tag == "legend")
    called_login = (
        has_any(" ".join([view.title, *headings]), words) or LOGIN_PATH.search(urlsplit(url).path) is not None
    )
    content = sum(len(line.text) for line in view.lines if line.in_content and not line.in_consent)
    return content <= 450 and view.links <= 12 if called_login else content <= 160 and view.links <= 3


def _has_password_field(document: Document) -> bool:
    return any(field.type.lower() == "password" for form in document.forms for field in form.fields)


def _is_drawn_by_script(document: Document, view: PageView, html: str, url: str) -> bool:
    """Find hardly any text, no content but scripts, and a sign that the scripts draw the page."""
    loading = phrase_set("javascript", "loading")
    shown = sum(len(line.text) for line in view.lines if not line.in_consent and bare(line.text) not in loading)
    if shown > HARDLY_ANY or view.links > 1 or _visible_fields(document) or not document.scripts:
        return False
    sources = [script.src for script in document.scripts if script.src]
    is_module = any(script.type == "module" for script in document.scripts)
    has_bundle = is_module or any(BUNDLE.search(source) for source in sources)
    has_place = (
        "javascript" in view.noscript or _has_empty_mount(document) or ROOT_ELEMENT.search(html[:MAX_HTML]) is not None
    )
    if has_place and (has_bundle or not shown):
        return True
    if shown or view.images or FRAME.search(html[:MAX_HTML]):
        return False  # a card, or a page of pictures or frames
    if has_bundle or any(PLAIN_BUNDLE.search(source) for source in sources):
        return True
    return any(not script.src and REDIRECT.search(script.text[:20_000]) for script in document.scripts)


def _has_empty_mount(document: Document) -> bool:
    """Return whether an element that scripts fill has no text but “Loading…”."""
    mounts = {node.index for node in document.nodes if node.names and not MOUNTS.isdisjoint(node.names.split())}
    mounts -= {node.index for node in document.nodes if node.tag in ("html", "body")}
    if not mounts:
        return False
    loading = phrase_set("javascript", "loading")
    return not any(
        node.index in mounts
        for block in document.blocks
        if bare(fold(block.text)) not in loading
        for node in document.with_ancestors(block.node)
    )


def _is_consent_wall(document: Document, view: PageView, html: str, url: str) -> bool:
    """Find text about cookies or the visitor's age alone, with something to agree to, and no way around it."""
    if view.links > 2 or view.images > 2 or _visible_fields(document) or not view.lines:
        return False
    cookie_words, accept_words = phrases("consent", "cookie_words"), phrases("consent", "accept_words")
    age_phrases = phrases("consent", "age_phrases")
    asks_age = has_any(view.text, age_phrases)
    asks_consent = has_any(view.text, cookie_words) and has_any(view.text, accept_words)
    if not (asks_age or asks_consent):
        return False
    if CONSENT_ADDRESS.search(url[:500]):
        return True
    about = (*cookie_words, *accept_words, *age_phrases)
    other = [line for line in view.lines if not line.in_consent and not has_any(line.text, about)]
    limit = 150 if asks_age else HARDLY_ANY
    return sum(len(line.text) for line in other) <= limit and not any(
        line.tag in HEADINGS and len(line.text) > 40 for line in other
    )


def _is_unfinished(document: Document, view: PageView, html: str, url: str) -> bool:
    """Find a short page that says of the site that it is not there yet, or not at the moment."""
    if _is_default_page(view.title):
        return True
    if view.own_length > 700 or view.links > 4 or _visible_fields(document) > 2:
        return False
    about_site, alone = phrases("unfinished", "phrases"), phrase_set("unfinished", "alone")
    lines = [line.text for line in view.lines if not line.in_consent]
    if has_any(view.text, about_site) and any(
        len(line) <= 200 and has_any(line, about_site) for line in (*lines, view.title)
    ):
        return True
    announced = [line for line in (*lines, view.title) if bare(line) in alone]
    rest = sum(len(line) for line in lines) - sum(map(len, announced))
    return bool(announced) and view.links <= 2 and rest <= 200


def _is_default_page(title: str) -> bool:
    return bool(title) and title.startswith(phrases("unfinished", "titles"))


def _visible_fields(document: Document) -> int:
    """Return the number of fields that a visitor fills in; not buttons, checkboxes and hidden fields."""
    unseen = ("hidden", "submit", "button", "checkbox", "radio", "image", "reset", "search")
    return sum(
        field.type.lower() not in unseen and "captcha" not in field.name.lower()
        for form in document.forms
        for field in form.fields
    )


CHECKS: tuple[tuple[HiddenReason, Callable[[Document, PageView, str, str], bool]], ...] = (
    (HiddenReason.BOT_CHECK, _is_bot_check),
    (HiddenReason.LOGIN, _is_login),
    (HiddenReason.JAVASCRIPT, _is_drawn_by_script),
    (HiddenReason.CONSENT, _is_consent_wall),
    (HiddenReason.UNFINISHED, _is_unfinished),
)
