"""Read the queries of a campaign from rows of words: each wrong one fails alone, with its line."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.areas.read_search import GivenWhere
from scrapersky.providers.registry import DEFAULT_PROVIDER, names_place, read_search, unknown_provider
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules

MAX_LIMIT = 1_000_000  # places of one query
MAX_LENGTH = 500  # characters of one query


class BadQuery(ScraperSkyError):
    """A query cannot be used."""

    status_code = 422


@dataclass(frozen=True)
class WrittenQuery:
    """A query as it was written; empty parts take the values that the campaign has for all."""

    line: int
    what: str
    where: str = ""
    provider: str = ""
    limit: str = ""
    country: str = ""
    problem: str = ""  # why its line cannot be read


@dataclass(frozen=True)
class RejectedQuery:
    """A query that is not part of the campaign."""

    line: int
    query: str
    reason: str

    def __str__(self) -> str:
        shown = f" {self.query[:60]!r}:" if self.query else ""
        return f"line {self.line}:{shown} {self.reason}"


@dataclass(frozen=True)
class QueryDefaults:
    """What applies to every query that does not say otherwise."""

    rules: AdvanceRules
    provider: str = DEFAULT_PROVIDER
    where: GivenWhere = field(default_factory=GivenWhere)
    limit: int | None = None


def read_queries(
    queries: Iterable[WrittenQuery], defaults: QueryDefaults, providers: Collection[str]
) -> tuple[list[SearchRequest], list[RejectedQuery]]:
    """Return the searches, and the queries that cannot be used: one of the configured `providers` is to be called."""
    found, rejected = list[SearchRequest](), list[RejectedQuery]()
    for query in queries:
        try:
            found.append(_search(query, defaults, providers))
        except ScraperSkyError as error:
            rejected.append(RejectedQuery(query.line, query.what or query.where, str(error)))
    return found, rejected


def _search(query: WrittenQuery, defaults: QueryDefaults, providers: Collection[str]) -> SearchRequest:
    if query.problem:
        raise BadQuery(query.problem)
    if max(len(query.what), len(query.where)) > MAX_LENGTH:
        raise BadQuery(f"It has more than {MAX_LENGTH} characters.")
    provider = query.provider.strip() or defaults.provider
    if provider not in providers:
        raise unknown_provider(provider, providers)
    what, where = read_search(query.what, _where(query, defaults), provider)
    return SearchRequest(what, where, provider, _limit(query.limit, defaults.limit), None, defaults.rules)


def _where(query: WrittenQuery, defaults: QueryDefaults) -> GivenWhere:
    """Return where the query says to look, else where all do, if it names no place itself."""
    own = query.where.strip()
    given = replace(defaults.where, country=query.country.strip() or defaults.where.country)
    if not own and not names_place(query.what):
        return given
    radius = None if given.near else given.radius
    return GivenWhere((own,) if own else (), radius=radius, country=given.country, language=given.language)


def _limit(given: str, default: int | None) -> int | None:
    if not given.strip():
        return default
    text = given.strip().removesuffix(".0")  # of a spreadsheet whose column has empty cells
    if not text.isdecimal() or not 1 <= int(text) <= MAX_LIMIT:
        raise BadQuery(f"The limit is {text[:40]!r}; use a number from 1 to {MAX_LIMIT:,}.")
    return int(text)
