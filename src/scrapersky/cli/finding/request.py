"""The request of `scrapersky find`, from the command line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapersky.actions.searches.campaign_queries import QueryDefaults, RejectedQuery, read_queries
from scrapersky.actions.searches.campaigns import CampaignRequest
from scrapersky.cli.finding.own_columns import OwnColumns
from scrapersky.cli.finding.query_list import read_query_file
from scrapersky.cli.finding.repeat_options import ONCE, Repeats
from scrapersky.cli.finding.site_list import SiteList
from scrapersky.cli.shared.lead_options import LeadOptions
from scrapersky.core.errors import BadRequest
from scrapersky.core.settings import Environment, load
from scrapersky.core.vocabularies import SITES
from scrapersky.providers.areas.read_search import GivenWhere
from scrapersky.providers.areas.where import Where
from scrapersky.providers.registry import DEFAULT_PROVIDER, configured_names, read_search
from scrapersky.store.leads.read import columns_of
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules


class BadFindRequest(BadRequest):
    """The search cannot be made."""


@dataclass(frozen=True)
class FindRequest:
    """A search or a list of web sites, and what to do with the result."""

    search: SearchRequest
    sites: SiteList | None
    campaign: "FindCampaign | None"
    leads: LeadOptions
    tenant: str
    refresh: bool
    idle_timeout_seconds: float
    name: str | None = None  # for people
    repeats: Repeats = ONCE
    notify: str | None = None  # the destination that gets the event of the end of the run

    @property
    def out(self) -> Path:
        """The file of leads."""
        return self.leads.out

    @property
    def own(self) -> OwnColumns:
        """The columns of the table of web sites, which come back in the file."""
        return OwnColumns.of(self.sites, columns_of(self.leads.per))

    @property
    def rejected_lines(self) -> list[str]:
        """The lines of its file that are not used."""
        if self.campaign is not None:
            return [str(one) for one in self.campaign.rejected]
        return list(self.sites.rejected) if self.sites else []


@dataclass(frozen=True)
class FindCampaign:
    """Many searches from a file, its lines that cannot be used, and how many are equal to others."""

    request: CampaignRequest
    rejected: tuple[RejectedQuery, ...]
    equal_lines: int = 0

    @property
    def as_search(self) -> SearchRequest:
        """The campaign as the search that stands for it."""
        return self.request.as_search


def keep_given_files(out: Path, *given: Path | None) -> None:
    """Raise BadFindRequest if the file of leads would replace a file that the search is read from."""
    for file in given:
        if file is not None and out.exists() and file.exists() and out.samefile(file):
            raise BadFindRequest(f"--out would replace {file}, which the search is read from: choose another file.")


def parse_any(
    queries: Path | None, name: str | None, *given: Any
) -> tuple[SearchRequest, SiteList | None, FindCampaign | None]:
    """Return the search, the web sites if there is a file of them, the campaign if there is a file of queries."""
    if queries is None:
        return *parse_search(*given), None
    campaign = parse_campaign(queries, name, *given)
    return campaign.as_search, None, campaign


def parse_campaign(
    file: Path,
    name: str | None,
    words: list[str] | None,
    given: GivenWhere,
    domains: Path | None,
    provider: str | None,
    limit: int | None,
    pages_per_site: int,
    budget: float | None,
    uses_browser: bool = True,
    site_search: bool = True,
) -> FindCampaign:
    """Return the campaign of a file; --in, --provider and --limit are for lines that do not say otherwise.

    Raises BadQueryFile, BadFindRequest or BadCampaign.
    """
    if words or domains is not None:
        raise BadFindRequest("Give either a search, --domains FILE or --queries FILE.")
    rules = _rules(pages_per_site, uses_browser, site_search)
    defaults = QueryDefaults(rules, provider or DEFAULT_PROVIDER, given, limit)
    found, rejected = read_queries(read_query_file(file), defaults, configured_names(load(Environment())))
    if not found:
        raise BadFindRequest(f"No line of {file} can be used; {rejected[0]}")
    cents = round(budget * 100) if budget is not None else None
    request = CampaignRequest.of(found, rules, name, cents)
    return FindCampaign(request, tuple(rejected), len(found) - len(request.searches))


def parse_search(
    words: list[str] | None,
    given: GivenWhere,
    file: Path | None,
    provider: str | None,
    limit: int | None,
    pages_per_site: int,
    budget: float | None,
    uses_browser: bool = True,
    site_search: bool = True,
) -> tuple[SearchRequest, SiteList | None]:
    """Return the search, and the web sites if there is a file of them. Raises BadFindRequest or BadSiteList."""
    text = " ".join(words) if words else None
    if (text is None) == (file is None):
        raise BadFindRequest("Give either a search, --domains FILE or --queries FILE.")
    rules = _rules(pages_per_site, uses_browser, site_search)
    if file is not None:
        options: dict[str, object] = {
            "--in": given.names or None,
            "--near": given.near,
            "--radius": given.radius,
            "--box": given.box,
            "--polygon": given.polygon,
            "--place-language": given.language,
        }
        options |= {"--provider": provider, "--limit": limit, "--budget": budget}
        if unused := [option for option, value in options.items() if value is not None]:
            raise BadFindRequest(f"With --domains no provider is called: leave out {' and '.join(unused)}.")
        sites = SiteList.read(file)
        return SearchRequest(sites.name, Where(), SITES, None, None, rules), sites
    provider = provider or DEFAULT_PROVIDER
    what, where = read_search(text or "", given, provider)
    cents = round(budget * 100) if budget is not None else None
    return SearchRequest(what, where, provider, limit, cents, rules), None


def _rules(pages_per_site: int, uses_browser: bool, site_search: bool) -> AdvanceRules:
    return AdvanceRules(
        pages_per_site=pages_per_site,
        browser="needed" if uses_browser else "off",
        site_search="all" if site_search else "off",
    )
