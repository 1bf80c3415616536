"""How right the matcher of businesses is on invented records that its rules were not made with, and what it costs."""

import statistics
import sys
import time

from tests.corpus.matching_score import score
from tests.corpus.same_business import SameBusinessSet

from benchmarks.record import Figure, record

SEEDS = range(11, 16)  # the rules were made with seeds 1 to 3
MIN_PRECISION, MIN_RECALL = 0.98, 0.90


def main() -> int:
    """Print precision and recall of every set; return 1 if the worst misses a target."""
    scores, micros = [], []
    print(f"{'seed':>5}{'records':>9}{'pairs compared':>16}{'precision':>11}{'recall':>8}{'us CPU a pair':>15}")
    for seed in SEEDS:
        records = SameBusinessSet(seed).records()
        began = time.process_time()
        found = score(records)
        micros.append((time.process_time() - began) / found.compared * 1e6)
        scores.append(found)
        figures = f"{found.precision:>11.4f}{found.recall:>8.4f}{micros[-1]:>15.1f}"
        print(f"{seed:>5}{len(records):>9}{found.compared:>16}{figures}")
    precision, recall = min(one.precision for one in scores), min(one.recall for one in scores)
    figures_met = (precision >= MIN_PRECISION, recall >= MIN_RECALL)
    record(
        "matching",
        [
            Figure("precision of the worst set", round(precision, 4), "", f">= {MIN_PRECISION}", figures_met[0]),
            Figure("recall of the worst set", round(recall, 4), "", f">= {MIN_RECALL}", figures_met[1]),
            Figure("CPU a pair", round(statistics.median(micros), 1), "us"),
        ],
    )
    return 0 if all(figures_met) else 1


if __name__ == "__main__":
    sys.exit(main())
