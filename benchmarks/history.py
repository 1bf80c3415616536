"""Write the table of docs/performance.md from benchmarks/history.jsonl: `python -m benchmarks.history`."""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.peers import ROOT
from benchmarks.record import HISTORY

PAGE = ROOT / "docs" / "performance.md"
START, END = "<!-- figures -->", "<!-- end of figures -->"
SHOWN = 5  # newest runs of a benchmark that the page shows


def tables(lines: Iterable[str]) -> str:
    """Return one table per benchmark: a row per figure, a column per run, the newest first."""
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        run = json.loads(line)
        runs[run["bench"]].append(run)
    return "\n\n".join(_table(bench, found[: -SHOWN - 1 : -1]) for bench, found in sorted(runs.items()))


def _table(bench: str, runs: list[dict[str, Any]]) -> str:
    heads = [f"{run['commit']}, {run['date'][:10]}, load {run['load']:g}" for run in runs]
    rows = [f"| {bench} | target | {' | '.join(heads)} |", "|---|---|" + "---|" * len(runs)]
    for figure in runs[0]["figures"]:
        cells = [_cell(run, figure["what"]) for run in runs]
        rows.append(f"| {figure['what']} | {figure['target']} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(run: dict[str, Any], what: str) -> str:
    for figure in run["figures"]:
        if figure["what"] == what:
            missed = " **missed**" if figure["met"] is False else ""
            return f"{figure['value']:,g} {figure['unit']}".strip() + missed
    return ""


def write(page: Path = PAGE, history: Path = HISTORY) -> None:
    """Replace the tables of the page."""
    text = page.read_text()
    before, rest = text.split(START, 1)
    _, after = rest.split(END, 1)
    page.write_text(f"{before}{START}\n\n{tables(history.read_text().splitlines())}\n\n{END}{after}")


if __name__ == "__main__":
    write()
