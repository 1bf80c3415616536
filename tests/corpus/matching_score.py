"""How right the matcher is on a labelled set: precision and recall of pairs of records."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from scrapersky.extract.matching.match import block_keys, same_business
from tests.corpus.same_business import Labelled


class MatchingScore(NamedTuple):
    """The counts of pairs."""

    right: int
    wrong: int
    missed: int
    compared: int
    wrong_pairs: list[tuple[Labelled, Labelled]]
    missed_pairs: list[tuple[Labelled, Labelled]]

    @property
    def precision(self) -> float:
        """The share of the pairs found that are right."""
        return self.right / (self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share of the true pairs that were found."""
        return self.right / (self.right + self.missed)


def score(records: Sequence[Labelled]) -> MatchingScore:
    """Compare the pairs that share a key, as the store does; true pairs without one count as missed."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for index, one in enumerate(records):
        for key in block_keys(one.record):
            blocks[key].append(index)
    compared = {tuple(sorted(pair)) for block in blocks.values() for pair in combinations(block, 2)}
    found = {pair for pair in compared if same_business(records[pair[0]].record, records[pair[1]].record)}
    of_business: dict[int, list[int]] = defaultdict(list)
    for index, one in enumerate(records):
        of_business[one.business].append(index)
    true = {tuple(sorted(pair)) for group in of_business.values() for pair in combinations(group, 2)}
    wrong, missed = (
        [(records[one], records[other]) for one, other in sorted(pairs)] for pairs in (found - true, true - found)
    )
    return MatchingScore(len(found & true), len(wrong), len(missed), len(compared), wrong, missed)
