"""The points of every name candidate of a page, so that a person can see why a name was taken or not."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from scrapersky.extract.document.context import snippet
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.emails.data_protection_officers import find_external_officer_blocks
from scrapersky.extract.people.find import THRESHOLD, ScoredCandidate, collect_candidates, score_candidates
from scrapersky.extract.people.scoring.scorer import NameScorer


@dataclass(frozen=True, slots=True)
class ExplainedName:
    """A name candidate: its score, the points it consists of, and the decision."""

    name: str
    title: str
    decision: str  # "person", "below the threshold" or the reason for the rejection
    score: float
    points: tuple[tuple[str, float], ...]
    tag: str
    snippet: str


def explain_names(html: str, url: str = "") -> list[ExplainedName]:
    """Return every name candidate of a page, in the order of the page; to be run in a parser process."""
    document = parse_page(html)
    candidates = collect_candidates(document)
    host = urlsplit(url).hostname or ""
    excluded = find_external_officer_blocks(document, host)
    scorer = NameScorer(document, candidates, host)
    return [_explain(one) for one in score_candidates(scorer, candidates, excluded)]


def _explain(one: ScoredCandidate) -> ExplainedName:
    is_likely = one.score >= THRESHOLD
    decision = one.reason or ("person" if is_likely else f"below the threshold of {THRESHOLD}")
    points = tuple((label, round(value, 2)) for label, value in one.points)
    name = one.candidate.name.text
    return ExplainedName(name, one.title, decision, round(one.score, 2), points, one.block.tag, snippet(one.block.text))
