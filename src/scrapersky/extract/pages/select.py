"""The few pages of a site that are worth fetching for contacts."""

from collections import Counter
from collections.abc import Iterable
from heapq import nsmallest
from typing import NamedTuple

from scrapersky.extract.pages.classify import PageClassification, PageKind, classify_page
from scrapersky.extract.pages.url_parts import Route, readable, route_of
from scrapersky.extract.pages.vocabulary import compact

# What a page of a kind is worth to somebody who looks for people to write to. Kinds not named here are not fetched.
WORTH = {
    PageKind.CONTACT: 1.0,
    PageKind.IMPRINT: 0.9,
    PageKind.TEAM: 0.8,
    PageKind.ABOUT: 0.7,
    PageKind.HOME: 0.6,
    PageKind.CAREERS: 0.3,
    PageKind.LEGAL: 0.25,
    PageKind.SERVICES: 0.2,
}
NEXT_OF_KIND = 0.5  # what each further page of the same kind is still worth
MIN_SCORE = 0.3


class PageLink(NamedTuple):
    """A page that could be fetched: its address and the text of the link to it."""

    url: str
    text: str = ""


class SelectedPage(NamedTuple):
    """A page to fetch, and why."""

    url: str
    guess: PageClassification


class _Ranked(NamedTuple):
    pick: SelectedPage
    route: Route

    @property
    def score(self) -> float:
        """How surely it is of its kind."""
        return self.pick.guess.score


def select_pages(candidates: Iterable[PageLink], limit: int, language: str = "") -> list[SelectedPage]:
    """The best pages, best first: one language version of each, the kinds in turn, the shallow before the deep.

    The same candidates give the same pick in whatever order they come.
    """
    ranked = _without_doubles(_rank(candidates))
    prefix = _prefix_of(ranked, language)
    kept: list[tuple[float, _Ranked]] = []
    for kind, worth in WORTH.items():
        best = _best_of_kind([one for one in ranked if one.pick.guess.kind is kind], prefix, limit)
        kept += [(worth * one.score * NEXT_OF_KIND**place, one) for place, one in enumerate(best)]
    kept.sort(key=lambda pair: (-pair[0], *_order(pair[1])))
    return [one.pick for _, one in kept[:limit]]


def _best_of_kind(ranked: list[_Ranked], prefix: str, limit: int) -> list[_Ranked]:
    """The best pages of a kind in the language of the pick; else the best one there is in another."""
    ours = [one for one in ranked if one.route.language == prefix]
    return nsmallest(limit if ours else 1, ours or ranked, key=_order)


def _rank(candidates: Iterable[PageLink]) -> list[_Ranked]:
    guesses = ((url, classify_page(url, text)) for url, text in candidates)
    return [
        _Ranked(SelectedPage(url, guess), route_of(url))
        for url, guess in guesses
        if guess.kind in WORTH and guess.score >= MIN_SCORE
    ]


def _without_doubles(ranked: list[_Ranked]) -> list[_Ranked]:
    """One candidate per page: the surest, then the shortest, address of it."""
    best: dict[tuple[str, ...], _Ranked] = {}
    for one in sorted(ranked, key=_order):
        best.setdefault(_identity(one), one)
    return list(best.values())


def _identity(one: _Ranked) -> tuple[str, ...]:
    """What stays the same when www, a slash, .html, capitals or a campaign come and go."""
    route = one.route
    host = route.host.lower().removeprefix("www.")
    names = (compact(readable(name)) for name in (*route.folders, route.leaf))
    named = route.query if one.pick.guess.place == "query" else ""
    return (host, route.language, "/".join(names), named)


def _prefix_of(ranked: list[_Ranked], asked: str) -> str:
    """The prefix of the language version to pick: the one asked for, else none, else the commonest."""
    prefixes = Counter(one.route.language for one in ranked if one.route.leaf)
    asked = asked.lower().replace("_", "-")
    for prefix in sorted(prefixes):
        if asked and prefix and prefix.replace("_", "-").split("-")[0] == asked.split("-")[0]:
            return prefix
    if "" in prefixes or not prefixes:
        return ""
    return min(prefixes, key=lambda prefix: (-prefixes[prefix], prefix))


def _order(one: _Ranked) -> tuple[float, int, int, str]:
    """The surest first, then the shallowest, then the shortest address."""
    route = one.route
    return (-one.score, len(route.folders) + bool(route.language), len(one.pick.url), one.pick.url)
