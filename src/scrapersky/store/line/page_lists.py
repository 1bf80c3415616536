"""Lists of pages while they are imported: sitemaps, and the links of home pages."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self
from uuid import UUID

from scrapersky.extract.pages.classify import classify_page
from scrapersky.extract.pages.select import (
    MIN_SCORE,
    WORTH,
    PageLink,
    is_shallow_unknown,
    select_pages,
    select_unknown_pages,
)
from scrapersky.store.line.pages import PageRow, Picks, Spool

MAX_CANDIDATES = 5_000  # promising pages of one list that are ranked
MAX_PICKS = 1_000
MAX_UNKNOWN = 100  # shallow pages of one list that are kept for a budget that is left over


@dataclass
class ImportedPages:
    """The pages of a list, on disk until they are stored, and the promising ones."""

    spool: Spool = field(default_factory=Spool)
    candidates: list[PageLink] = field(default_factory=list)
    unknown: list[PageLink] = field(default_factory=list)  # shallow pages of which nothing is known
    partial: str | None = None

    def add(self, url: str, text: str = "", last_modified: str | None = None) -> None:
        """Add a page with its kind; a promising one becomes a candidate."""
        guess = classify_page(url, text)
        self.spool.add(PageRow(url, guess.kind.value, guess.score, guess.reason, last_modified))
        promising = guess.kind in WORTH and guess.score >= MIN_SCORE
        if promising and len(self.candidates) < MAX_CANDIDATES:
            self.candidates.append(PageLink(url, text))
        elif len(self.unknown) < MAX_UNKNOWN and is_shallow_unknown(PageLink(url, text), guess):
            self.unknown.append(PageLink(url, text))

    @classmethod
    def of_links(cls, home: str, links: Iterable[PageLink]) -> Self:
        """Build the list of a home page and the pages that it links to."""
        imported = cls()
        for link in dict.fromkeys((PageLink(home), *links)):
            imported.add(link.url, link.text)
        return imported


Lists = Sequence[tuple[UUID, ImportedPages]]  # with the id of the domain of each


def best_pages(lists: Lists) -> dict[UUID, Picks]:
    """Return the URLs and kinds of the best pages of each domain, best first."""
    candidates = _by_domain((domain_id, imported.candidates) for domain_id, imported in lists)
    return {
        domain_id: [(page.url, page.classification.kind.value) for page in select_pages(links, MAX_PICKS)]
        for domain_id, links in candidates.items()
    }


def unknown_pages(lists: Lists) -> dict[UUID, list[str]]:
    """Return the shallow pages of each domain of which nothing is known, the shortest first."""
    unknown = _by_domain((domain_id, imported.unknown) for domain_id, imported in lists)
    return {domain_id: select_unknown_pages(links, MAX_UNKNOWN) for domain_id, links in unknown.items()}


def _by_domain(links: Iterable[tuple[UUID, list[PageLink]]]) -> dict[UUID, list[PageLink]]:
    by_domain: dict[UUID, list[PageLink]] = defaultdict(list)
    for domain_id, of_list in links:
        by_domain[domain_id] += of_list
    return by_domain
