"""The form of new searches: how the text is read, what it costs, the rules of each step in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.accounts.quotas import QuotaSummary, get_quotas
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line.find import list_providers
from scrapersky.api.searches import campaigns, searches
from scrapersky.api.searches.areas import FORM_FIELDS, parse_where
from scrapersky.api.searches.campaigns import CampaignQuery, NewCampaign
from scrapersky.api.searches.searches import AreaQuestion, CostEstimate, NewSearch, RequestedRules, SearchResponse
from scrapersky.console.answers import page, redirect
from scrapersky.console.forms import BadForm, wrong_field
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark, ngettext
from scrapersky.core.errors import ScraperSkyError

SEARCHES = f"{CONSOLE}/searches"
EXAMPLES = ("dentists in Helsinki", "florists in Turku", "plumbers in Tampere")  # the sandbox has some of each
MAX_LINES = campaigns.MAX_QUERIES
MAX_READINGS = 5  # of the lines of a campaign that are shown as they are read
MAX_PROBLEMS = 5  # of its lines that are named
FIELDS = ("text", *FORM_FIELDS, "provider", "limit", "budget", "pages_per_site", "refresh")
OF_ONE_SEARCH = tuple(name for name in FORM_FIELDS if name != "area")

ALL, CHOOSE = ("all", mark("all of them")), ("off", mark("those that I select"))


@dataclass(frozen=True)
class Rule:
    """The rule of a step: what happens to which rows without a person."""

    name: str  # the field of RequestedRules
    question: str
    choices: tuple[tuple[str, str], ...] = (ALL, CHOOSE)


RULES = (
    Rule("deep_scan", mark("Places whose details are read")),
    Rule("site_search", mark("Businesses whose missing web site is looked for")),
    Rule(
        "domain_extraction",
        mark("Businesses whose domain goes on"),
        (ALL, ("has website", mark("those with a known web site")), CHOOSE),
    ),
    Rule("domain_metadata", mark("Web sites whose home page is read")),
    Rule("sitemap_analysis", mark("Web sites whose sitemaps are looked for")),
    Rule("sitemap_import", mark("Sitemaps whose pages are listed")),
    Rule(
        "page_curation",
        mark("Pages that are read for contacts"),
        (("kinds", mark("contact, imprint, team, about, home")), ALL, CHOOSE),
    ),
    Rule("contact_verification", mark("Email addresses that are verified")),
    Rule("permanently_closed", mark("Closed businesses that go on"), (("off", mark("none")), ALL)),
)


@dataclass(frozen=True)
class Reading:
    """One line of the form: how it is read and what it costs, or what is wrong with it."""

    line: str
    answer: SearchResponse | None
    problem: str = ""


@dataclass(frozen=True)
class CampaignReading:
    """Several lines: how many searches they are, and what these cost together."""

    searches: int
    estimate: CostEstimate


async def show_new(asked: CurrentPage) -> Response:
    """Draw the form of a new search; with a text in the address also how it is read and what it costs."""
    fields = dict(asked.request.query_params)
    lines = lines_of(fields.get("text", ""))
    readings = [await _reading(asked, line, fields) for line in lines[:MAX_READINGS]]
    campaign, problem = None, readings[0].problem if len(readings) == 1 else ""
    if len(lines) > 1:
        try:
            body = new_campaign(lines, fields)
            campaign = CampaignReading(*await campaigns.estimate_campaign(body, asked.application))
        except (ValidationError, ScraperSkyError) as error:
            problem = sentence_of(error)
    is_wrong = problem and not asked.part  # while a person types, the part says what is missing
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_wrong else HTTPStatus.OK
    return await _form(asked, fields, problem, status, readings=readings, campaign=campaign)


async def start(asked: CurrentPage, form: SentForm) -> Response:
    """Start the search, or the campaign of several lines, and lead to it; show the form again if a person has to
    correct it, or has to choose one of several places."""
    fields = {name: form.get(name) for name in form.values}
    lines = lines_of(fields.get("text", "")) or [""]
    if place := fields.get("place"):
        fields["near" if fields.get("near") else "area"] = place
    try:
        if len(lines) > 1:
            return await _start_campaign(asked, lines, fields)
        return await _start_search(asked, lines[0], fields)
    except (ValidationError, ScraperSkyError) as error:
        return await _form(asked, fields, sentence_of(error), _status(error))


async def _start_search(asked: PageRequest, line: str, fields: dict[str, str]) -> Response:
    body = new_search(line, fields)
    if question := await searches.area_question(body, asked.application):
        where = {"near": question.name, "radius": f"{question.radius_metres:g} m"} if question.radius_metres else {}
        shown = {**fields, "text": question.what, **(where or {"area": question.name})}
        return await _form(asked, shown, status=HTTPStatus.UNPROCESSABLE_ENTITY, question=question)
    answer = await searches.create_search(body, asked.application, asked.actor, Response())
    if answer.search is None:
        raise RuntimeError("a search that was requested has no row")
    known = _("This search was known: it goes on with the new rules.") if answer.known else None
    return redirect(asked, f"{SEARCHES}/{answer.search.id}", known)


async def _start_campaign(asked: PageRequest, lines: list[str], fields: Mapping[str, str]) -> Response:
    """Make the searches of the lines as one campaign; if a line cannot be read, nothing is started."""
    body = new_campaign(lines, fields)
    _request, rejected = campaigns.read_campaign(body, asked.application.providers)
    if rejected:
        named = " ".join(f"{one.query[:60]}: {_(one.reason)}" for one in rejected[:MAX_PROBLEMS])
        said = ngettext("%(count)s line cannot be read:", "%(count)s lines cannot be read:", len(rejected))
        return await _form(asked, fields, f"{said % {'count': len(rejected)}} {named}", HTTPStatus.UNPROCESSABLE_ENTITY)
    answer = await campaigns.create_campaign(body, asked.application, asked.actor, Response())
    known = _("This campaign was known: it goes on with the new rules.") if answer.known else None
    return redirect(asked, f"{SEARCHES}/{answer.campaign.id}", known)


def lines_of(text: str) -> list[str]:
    """Return the lines of the box that are not empty: each is a search, several are a campaign."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def read_rules(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the rules of a form, as far as it names them; validation names a wrong one."""
    rules: dict[str, Any] = {rule.name: fields[rule.name] for rule in RULES if fields.get(rule.name)}
    if pages := fields.get("pages_per_site", "").strip():
        rules["pages_per_site"] = int(pages) if pages.isdecimal() else pages
    return rules


def rules_in_words(rules: Mapping[str, Any]) -> list[str]:
    """Say the rules of a search in words: the pages that are read, and where a person chooses."""
    value = RequestedRules.model_validate(rules)
    pages = value.pages_per_site
    words = [ngettext("%(count)s page a site", "%(count)s pages a site", pages) % {"count": pages}]
    closed = [_(rule.question) for rule in RULES if getattr(value, rule.name) == "off" and CHOOSE in rule.choices]
    return words + [_("you choose: %(what)s") % {"what": what[:1].lower() + what[1:]} for what in closed]


def new_search(line: str, fields: Mapping[str, str], *, estimate_only: bool = False) -> NewSearch:
    """Read one line with the other fields of the form. Raises ValidationError or UnclearSearch."""
    where = {"where": parse_where(fields)}
    return NewSearch.model_validate({"text": line, "estimate_only": estimate_only, **where, **_shared(fields)})


def new_campaign(lines: list[str], fields: Mapping[str, str]) -> NewCampaign:
    """Read several lines with the other fields of the form. Raises ValidationError or BadForm."""
    if len(lines) > MAX_LINES:
        sentence = _("%(count)s lines are too many: a campaign has %(limit)s searches at most.")
        raise BadForm(sentence % {"count": f"{len(lines):,}", "limit": f"{MAX_LINES:,}"})
    if any(fields.get(name) for name in OF_ONE_SEARCH):
        raise BadForm(
            _("A point, a radius, a box, a polygon and a country are for one line: write where in each line.")
        )
    queries = [CampaignQuery(what=line) for line in lines]
    return NewCampaign.model_validate({"queries": queries, "where": fields.get("area") or None, **_shared(fields)})


def _shared(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that one search and a campaign have."""
    values: dict[str, Any] = {"refresh": fields.get("refresh") == "yes", "rules": read_rules(fields)}
    values |= {"provider": fields["provider"]} if fields.get("provider") else {}
    for name, parse in (("limit", int), ("budget", float)):
        if text := fields.get(name, "").strip():
            try:
                values[name] = parse(text)
            except ValueError:
                values[name] = text  # validation names the field
    return values


def sentence_of(error: ValidationError | ScraperSkyError) -> str:
    """Say what is wrong with a form."""
    if isinstance(error, ScraperSkyError):
        return _(str(error) or error.title)
    return wrong_field(error)


def _status(error: ValidationError | ScraperSkyError) -> int:
    return error.status_code if isinstance(error, ScraperSkyError) else HTTPStatus.UNPROCESSABLE_ENTITY


async def _reading(asked: PageRequest, line: str, fields: Mapping[str, str]) -> Reading:
    try:
        body = new_search(line, fields, estimate_only=True)
        return Reading(line, await searches.create_search(body, asked.application, asked.actor, Response()))
    except (ValidationError, ScraperSkyError) as error:
        return Reading(line, None, sentence_of(error))


async def _form(
    asked: PageRequest,
    fields: Mapping[str, str],
    problem: str = "",
    status: int = HTTPStatus.OK,
    *,
    readings: Sequence[Reading] = (),
    campaign: CampaignReading | None = None,
    question: AreaQuestion | None = None,
) -> Response:
    defaults = RequestedRules()
    shown = {name: fields.get(name, "") for name in FIELDS}
    shown |= {rule.name: fields.get(rule.name) or getattr(defaults, rule.name) for rule in RULES}
    offered = [one for one in (await list_providers(asked.application, asked.actor)).items if one.is_configured]
    return page(
        asked,
        "new_search.html",
        status,
        fields=shown,
        problem=problem,
        readings=readings,
        campaign=campaign,
        question=question,
        has_where=any(shown[name] for name in FORM_FIELDS),
        lines=len(lines_of(shown["text"])),
        providers=offered,
        examples=EXAMPLES,
        rules=RULES,
        quotas=await _limits(asked),
        default_pages=defaults.pages_per_site,
    )


async def _limits(asked: PageRequest) -> list[QuotaSummary]:
    """Return the quotas that have a limit: what is left of each."""
    found = await get_quotas(asked.application, asked.actor)
    return [quota for quota in found.items if quota.limit is not None]
