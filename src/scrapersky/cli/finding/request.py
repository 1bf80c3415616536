"""The request of `scrapersky find`, from the command line."""

from dataclasses import dataclass
from pathlib import Path

from scrapersky.cli.finding.site_list import SiteList
from scrapersky.core.errors import BadRequest
from scrapersky.extract.phones.spelling import PhoneFormat
from scrapersky.providers.registry import DEFAULT_PROVIDER, read_search
from scrapersky.store.leads.read import Per
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules


class BadFindRequest(BadRequest):
    """The search cannot be made."""


@dataclass(frozen=True)
class FindRequest:
    """A search or a list of web sites, and what to do with the result."""

    search: SearchRequest
    sites: SiteList | None
    out: Path
    per: Per
    tenant: str
    refresh: bool
    idle_timeout_seconds: float
    phone_format: PhoneFormat | None = None
    prefer: str | None = None  # functions whose contacts are the best; None means those of the setting


def parse_search(
    text: str | None,
    area: str | None,
    file: Path | None,
    provider: str | None,
    limit: int | None,
    pages_per_site: int,
    budget: float | None,
) -> tuple[SearchRequest, SiteList | None]:
    """Return the search, and the web sites if there is a file of them. Raises BadFindRequest or BadSiteList."""
    if (text is None) == (file is None):
        raise BadFindRequest("Give either a search or --domains FILE.")
    rules = AdvanceRules(pages_per_site=pages_per_site)
    if file is not None:
        options = {"--in": area, "--provider": provider, "--limit": limit, "--budget": budget}
        if unused := [option for option, value in options.items() if value is not None]:
            raise BadFindRequest(f"With --domains no provider is called: leave out {' and '.join(unused)}.")
        sites = SiteList.read(file)
        return SearchRequest(sites.name, None, "domains", None, None, rules), sites
    provider = provider or DEFAULT_PROVIDER
    what, where = read_search(text or "", area, provider)
    cents = round(budget * 100) if budget is not None else None
    return SearchRequest(what, where, provider, limit, cents, rules), None
