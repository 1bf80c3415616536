"""What somebody wants to find, from what stood on the command line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from scrapersky.cli.finding.site_list import Sites
from scrapersky.core.errors import BadRequest
from scrapersky.providers.registry import DEFAULT_PROVIDER, read_search
from scrapersky.store.line.steps import AdvanceRules
from scrapersky.store.searches.request import SearchRequest


class WrongWish(BadRequest):
    """This cannot be looked for."""


@dataclass(frozen=True)
class FindRequest:
    """A search, or web sites one already has."""

    asked: SearchRequest
    sites: Sites | None = None

    @classmethod
    def of(
        cls,
        search: str | None,
        area: str | None,
        file: Path | None,
        provider: str | None,
        limit: int | None,
        pages: int,
        budget: float | None,
    ) -> Self:
        """A wish from the words, or a sentence about what does not go together."""
        if (search is None) == (file is None):
            raise WrongWish("Say what to look for, or give --domains FILE; not both.")
        rules = AdvanceRules(pages_per_site=pages)
        if file is not None:
            _refuse({"--in": area, "--provider": provider, "--limit": limit, "--budget": budget})
            sites = Sites.read(file)
            return cls(SearchRequest(sites.name, None, "domains", None, None, rules), sites)
        provider = provider or DEFAULT_PROVIDER
        what, where = read_search(search or "", area, provider)
        cents = round(budget * 100) if budget is not None else None
        return cls(SearchRequest(what, where, provider, limit, cents, rules))


def _refuse(given: dict[str, object]) -> None:
    useless = [option for option, value in given.items() if value is not None]
    if useless:
        raise WrongWish(f"With --domains nobody is asked for places: leave out {' and '.join(useless)}.")
