"""From a page to all its contacts: CPU per 50 KB, ours and a naive BeautifulSoup script in turn."""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.contacts_pages import SIZE, write_pages
from benchmarks.contacts_worker import READERS
from benchmarks.parts import Parts
from benchmarks.peers import ROOT, peer_python
from benchmarks.record import Figure, record

PEERS = ["BeautifulSoup, naive"]
RUNS = 5
TARGET_MILLISECONDS, LABELLED_MILLISECONDS = 2.5, 3.6
LABELLED = ROOT.parent / "shared" / "data" / "contacts" / "sites"


def measure(python: Path, reader: str, folder: Path) -> dict[str, float]:
    """Run one reader over the folder in its own process."""
    worker = ROOT / "benchmarks" / "contacts_worker.py"
    told = subprocess.run(
        [python, "-P", worker, reader, folder], capture_output=True, text=True, check=True, timeout=300
    )
    return dict(json.loads(told.stdout.splitlines()[-1]))


def compare(python: Path, name: str, folder: Path) -> float:
    """Run every reader on one folder in turn; return our milliseconds per 50 KB."""
    readings: dict[str, list[dict[str, float]]] = {reader: [] for reader in READERS}
    for _ in range(RUNS):
        for reader in readings:
            readings[reader].append(measure(python if reader in PEERS else Path(sys.executable), reader, folder))
    first = readings["scrapersky"][0]
    mean = first["bytes"] / first["pages"] / 1000
    print(f"\n{name}: {first['pages']:.0f} pages, mean {mean:.0f} KB; {RUNS} runs in turn")
    print(f"  {'reader':<26}{'median ms/50 KB':>16}{'best':>8}{'values':>9}")
    for reader, runs in readings.items():
        costs = [run["cpu_seconds"] / run["bytes"] * SIZE * 1000 for run in runs]
        print(f"  {reader:<26}{statistics.median(costs):>16.2f}{min(costs):>8.2f}{runs[0]['contacts']:>9.0f}")
    return statistics.median(run["cpu_seconds"] / run["bytes"] * SIZE * 1000 for run in readings["scrapersky"])


def main() -> None:
    """Measure our own pages padded to size, and the labelled ones where they exist."""
    python = peer_python("html", ["beautifulsoup4", "lxml"])
    parts, figures = Parts(), list[Figure]()
    with parts.part("corpus"), tempfile.TemporaryDirectory() as folder:
        write_pages(Path(folder))
        cost = compare(python, "contacts corpus, dressed to 50 KB", Path(folder))
        figures.append(cost_figure("corpus page of 50 KB", cost, TARGET_MILLISECONDS))
    if LABELLED.is_dir():
        with parts.part("labelled pages"):
            cost = compare(python, "labelled pages, as they are", LABELLED)
            figures.append(cost_figure("labelled pages, per 50 KB", cost, LABELLED_MILLISECONDS))
    for figure in figures:
        print(
            f"  {figure.what}: {figure.value} ms CPU, target {figure.target}: {'reached' if figure.met else 'MISSED'}"
        )
    record("html", figures)
    parts.end()


def cost_figure(what: str, cost: float, target: float) -> Figure:
    """Compare the milliseconds of a page with their target."""
    return Figure(what, round(cost, 2), "ms", f"≤ {target} ms", cost <= target)


if __name__ == "__main__":
    main()
