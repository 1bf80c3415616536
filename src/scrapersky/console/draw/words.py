"""Values in words: times, numbers, durations, links to pages of crawled sites."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from scrapersky.actions.imports.row_parsers import PROVIDER as IMPORT
from scrapersky.api.deliveries.deliveries import SendResult
from scrapersky.console.language import gettext as _
from scrapersky.console.language import ngettext
from scrapersky.core.vocabularies import CAMPAIGN, SITES
from scrapersky.extract.phones.spelling import spell_phones
from scrapersky.store.searches.campaigns import title_of
from scrapersky.store.steps import DELIVERY, STEPS

MAX_SHOWN = 300  # characters of a text in a grid
WEB = ("http", "https")
LABELS = {step.workflow: step.label for step in (*STEPS, DELIVERY)}
CURRENCY = "$"  # of all prices in providers/*/prices.py
LAST_DIGITS = 6  # of a number, by which it is recognized in a text
# Signs in user agents, each before those that it also contains.
BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def when(moment: datetime | None) -> Markup | str:
    """Return a `<time>`: the day and time in UTC, which a module turns into “2 min ago”."""
    if moment is None:
        return "–"
    exact = moment.astimezone(UTC)
    text = f"{exact.day} {exact:%b %H:%M}" if exact.year == datetime.now(UTC).year else f"{exact.day} {exact:%b %Y}"
    return Markup('<time datetime="{}">{}</time>').format(exact.strftime("%Y-%m-%dT%H:%M:%SZ"), text)


def number(value: float | None) -> str:
    """Return a number with its thousands separated."""
    if value is None:
        return "–"
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def phone(text: str) -> str:
    """Return a phone number with spaces between its groups of digits; any other text as it is."""
    return spell_phones(text, "international")


def duration(seconds: float | None) -> str:
    """Return a duration in its largest sensible unit."""
    if seconds is None:
        return "–"
    for limit, size, unit in ((1, 0.001, "ms"), (90, 1, "s"), (5_400, 60, "min"), (129_600, 3_600, "h")):
        if seconds < limit:
            return f"{seconds / size:,.0f} {unit}" if unit != "s" else f"{seconds:.3g} s"
    return f"{seconds / 86_400:,.0f} d"


def money(cents: float) -> str:
    """Return an amount of money."""
    return f"{CURRENCY}{cents / 100:,.2f}"


def roughly(seconds: float) -> str:
    """Return how long something still takes, as precisely as anybody can know: “20 s”, “2 min”, “1.5 h”."""
    if seconds <= 55:
        return _("%(count)s s") % {"count": max(10, ceil(seconds / 10) * 10)}
    if seconds < 3_570:
        return _("%(count)s min") % {"count": max(1, round(seconds / 60))}
    return _("%(count)s h") % {"count": number(round(seconds / 1_800) / 2)}


def counted(rows: int, noun: str) -> str:
    """Return a number of rows with their noun: “1 place”, “1,200 places”."""
    return NOUNS[noun](rows) % {"count": number(rows)}


def sent_in_words(done: SendResult) -> str:
    """Say how many contacts were queued for delivery, and what became of the others."""
    queued = ngettext("%(count)s contact is queued.", "%(count)s contacts are queued.", done.queued)
    return " ".join((queued % {"count": number(done.queued)}, *_not_queued(done)))


def to_send(counted: SendResult) -> int:
    """Return how many of the contacts that match can be delivered."""
    return counted.matched - counted.suppressed - counted.unreachable


def not_sent(counted: SendResult) -> str:
    """Say how many of the contacts that match cannot be delivered, and why; nothing if all can."""
    return " ".join(_not_queued(counted))


def _not_queued(done: SendResult) -> Iterator[str]:
    others = (
        (done.already, ngettext("%(count)s was queued before.", "%(count)s were queued before.", done.already)),
        (
            done.suppressed,
            ngettext("%(count)s is suppressed.", "%(count)s are suppressed.", done.suppressed),
        ),
        (
            done.unreachable,
            ngettext(
                "%(count)s has neither an email address nor a phone number.",
                "%(count)s have neither an email address nor a phone number.",
                done.unreachable,
            ),
        ),
        (
            done.unknown,
            ngettext("%(count)s is not there any more.", "%(count)s are not there any more.", done.unknown),
        ),
    )
    return (words % {"count": number(count)} for count, words in others if count)


NOUNS: Mapping[str, Callable[[int], str]] = {
    "searches": lambda rows: ngettext("%(count)s search", "%(count)s searches", rows),
    "places": lambda rows: ngettext("%(count)s place", "%(count)s places", rows),
    "businesses": lambda rows: ngettext("%(count)s business", "%(count)s businesses", rows),
    "domains": lambda rows: ngettext("%(count)s web site", "%(count)s web sites", rows),
    "sitemaps": lambda rows: ngettext("%(count)s sitemap", "%(count)s sitemaps", rows),
    "pages": lambda rows: ngettext("%(count)s page", "%(count)s pages", rows),
    "contacts": lambda rows: ngettext("%(count)s contact", "%(count)s contacts", rows),
}


def cut(text: Any, length: int = MAX_SHOWN) -> str:
    """Return a text that is not longer than a grid shows."""
    plain = str(text)
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"


def search_name(search: Any) -> str:
    """Return what a search or a campaign is called: the name that a person gave it, else what and where."""
    if search.name:
        return str(search.name)
    if search.provider in (CAMPAIGN, SITES):
        return title_of(search.text)
    return _("%(what)s in %(where)s") % {"what": search.text, "where": search.area} if search.area else str(search.text)


def noun_of_results(search: Any) -> str:
    """Return the noun of the rows that `result_count` of a search counts."""
    if search.provider == IMPORT:
        return str(search.text.partition(" of ")[0])  # "contacts of leads.csv"
    return "domains" if search.provider == SITES else "places"


def step_label(workflow: str) -> str:
    """Return what a step is called beside the rows of a search; the name of its workflow is for programs."""
    return _(LABELS.get(workflow, workflow.replace("_", " ")))


def program(user_agent: str) -> str:
    """Return the browser and the system that a user agent names: “Firefox on Windows”; any other text as it is."""
    browser = next((name for sign, name in BROWSERS if sign in user_agent), None)
    system = next((name for sign, name in SYSTEMS if sign in user_agent), None)
    return _("%(browser)s on %(system)s") % {"browser": browser, "system": system} if browser and system else user_agent


def moment(text: str) -> datetime | None:
    """Return the time that a text of ours is, as JSON holds it; None for any other text."""
    try:
        found = datetime.fromisoformat(text) if "T" in text[:11] else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def web_address(url: str | None) -> str | None:
    """Return the URL if it may become a link: http or https with a host. Crawled text may hold any scheme."""
    if not url or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme.lower() in WEB and parts.hostname else None


def host_of(url: str) -> str:
    """Return the host of a URL that may become a link."""
    return urlsplit(url).hostname or ""


def path_of(url: str) -> str:
    """Return the path of a URL, which is shorter to read where the host is known."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def marked(text: str, values: Iterable[str | None], *, at_words: bool = False) -> Markup:
    """Return the text with every occurrence of a value marked; case and the spaces of a number are ignored.

    `at_words` marks only those with which a word begins.
    """
    drawn, end = Markup(), 0
    for first, last in sorted(span for value in values if value for span in _occurrences(text, value)):
        if first >= end and not (at_words and text[first - 1 : first].isalnum()):
            drawn += escape(text[end:first]) + Markup("<mark>{}</mark>").format(text[first:last])
            end = last
    return drawn + escape(text[end:])


def _occurrences(text: str, value: str) -> Iterator[tuple[int, int]]:
    if value.startswith("+") and value[1:].isdigit():
        yield from _numbers(text, value[-LAST_DIGITS:])
        return
    lower, wanted = text.lower(), value.lower()
    lower, wanted = (lower, wanted) if len(lower) == len(text) else (text, value)  # some letters grow in lower case
    place = lower.find(wanted)
    while place >= 0:
        yield place, place + len(wanted)
        place = lower.find(wanted, place + len(wanted))


def _numbers(text: str, ending: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers that end with these digits, as people write them: 09 123 4567."""
    places = [place for place, sign in enumerate(text) if sign.isdigit()]
    found = "".join(text[place] for place in places).find(ending)
    if found >= 0:
        first = places[found]
        while first and (text[first - 1].isdigit() or text[first - 1] in "+ ()-./"):
            first -= 1
        last = places[found + len(ending) - 1] + 1
        yield first + len(text[first:last]) - len(text[first:last].lstrip(" .-/)")), last
