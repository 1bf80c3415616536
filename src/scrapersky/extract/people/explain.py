"""The points of every name candidate of a page, so that a person can see why a name was taken or not."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from scrapersky.extract.document.context import snippet
from scrapersky.extract.document.model import Block
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.emails.data_protection_officers import find_external_officer_blocks
from scrapersky.extract.people.find import (
    SLOT_TITLE,
    THRESHOLD,
    ScoredCandidate,
    collect_candidates,
    score_page,
    title_in_slot,
)
from scrapersky.extract.people.names import is_role
from scrapersky.extract.people.scoring.scorer import NameScorer

NOT_TRIED = "not tried: no capitalised or known name"
MAX_WORDS_OF_NAME = 5
MAX_LINE = 40


@dataclass(frozen=True, slots=True)
class ExplainedName:
    """A name candidate: its score, the points it consists of, and the decision."""

    name: str
    title: str
    decision: str  # "person", "below the threshold", the reason for the rejection, or "not tried"
    score: float
    points: tuple[tuple[str, float], ...]
    tag: str
    snippet: str


def explain_names(html: str, url: str = "") -> list[ExplainedName]:
    """Return every name candidate of a page, in the order of the page; to be run in a parser process.

    Short lines that stand where other names stand, and were no candidate, are among them.
    """
    document = parse_page(html)
    candidates = collect_candidates(document)
    host = urlsplit(url).hostname or ""
    scorer, scored = score_page(document, candidates, find_external_officer_blocks(document, host), host)
    explained = [(one.block.index, _explain(one, scorer)) for one in scored]
    tried = {block.index for _, block in candidates}
    titles = {one.title for _, one in explained}
    missed = [
        (block.index, _not_tried(block))
        for block in _in_places_of_names(scorer)
        if block.index not in tried and block.text not in titles
    ]
    return [one for _, one in sorted([*explained, *missed], key=lambda pair: pair[0])]


def _in_places_of_names(scorer: NameScorer) -> Iterator[Block]:
    """Yield the short lines that have the shape of the names of the page, or a class for people."""
    layout = scorer.layout
    for block in layout.blocks:
        if len(block.text) > MAX_LINE or len(block.text.split()) > MAX_WORDS_OF_NAME or block.zones & {"nav", "footer"}:
            continue
        if block.index in layout.phone_blocks or block.index in layout.address_blocks or is_role(block.text):
            continue
        if layout.name_shapes[layout.shape(block)] or scorer.has_person_class(block):
            yield block


def _not_tried(block: Block) -> ExplainedName:
    return ExplainedName(block.text, "", NOT_TRIED, 0.0, (), block.tag, snippet(block.text))


def _explain(one: ScoredCandidate, scorer: NameScorer) -> ExplainedName:
    is_likely = one.score >= THRESHOLD
    decision = one.reason or ("person" if is_likely else f"below the threshold of {THRESHOLD}")
    points = [(label, round(value, 2)) for label, value in one.points]
    in_slot = title_in_slot(one, scorer)
    if in_slot and SLOT_TITLE not in (label for label, _ in points):
        points.append((SLOT_TITLE, 0.0))
    name, title = one.candidate.name.text, in_slot or one.title
    return ExplainedName(
        name, title, decision, round(one.score, 2), tuple(points), one.block.tag, snippet(one.block.text)
    )
