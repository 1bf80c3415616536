"""Sitemap reading side by side: URLs per CPU-second and memory, ours and the peers in turn, each in a fresh process."""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import sitemap_import
from benchmarks.parts import Parts
from benchmarks.peers import ROOT, peer_python
from benchmarks.record import Figure, record
from benchmarks.sitemap_files import URLS, write_files

PEERS = ["scrapy", "crawlee", "advertools", "trafilatura", "ultimate-sitemap-parser"]
OURS = ["scrapersky", "scrapersky, objects"]
RUNS = 3
SPEED_TARGET = 3.0
MEMORY_TARGET_MEGABYTES = 25.0


def measure(python: Path, reader: str, path: Path) -> dict[str, float]:
    """Run one reader in its own process."""
    worker = ROOT / "benchmarks" / "sitemap_worker.py"
    told = subprocess.run([python, "-P", worker, reader, path], capture_output=True, text=True, check=True, timeout=300)
    return dict(json.loads(told.stdout.splitlines()[-1]))


def compare(python: Path, path: Path) -> list[Figure]:
    """Run every reader on one file in turn; return the figures."""
    readings: dict[str, list[dict[str, float]]] = {reader: [] for reader in [*OURS, *PEERS]}
    for _ in range(RUNS):
        for reader in readings:
            readings[reader].append(measure(Path(sys.executable) if reader in OURS else python, reader, path))
    speeds = {reader: statistics.median(_speed(each) for each in each_run) for reader, each_run in readings.items()}
    rises = {reader: max(each["rise_kilobytes"] for each in each_run) / 1024 for reader, each_run in readings.items()}
    fastest = max(PEERS, key=lambda peer: speeds[peer])
    print(f"\n{path.name}: {path.stat().st_size / 1e6:.1f} MB, {URLS:,} URLs; median of {RUNS} in turn")
    print(f"  {'reader':<26}{'URLs found':>11}{'URLs/CPU-s':>12}{'memory rise':>13}{'against it':>12}")
    for reader in sorted(readings, key=lambda each: -speeds[each]):
        ratio = speeds[OURS[0]] / speeds[reader] if speeds[reader] else float("inf")
        found = int(readings[reader][0]["urls"])
        print(f"  {reader:<26}{found:>11,}{speeds[reader]:>12,.0f}{rises[reader]:>10.1f} MB{ratio:>11.1f}x")
    return _judge(path.name, fastest, speeds, rises, int(readings[OURS[0]][0]["urls"]))


def _speed(reading: dict[str, float]) -> float:
    """Compute the speed; a reader that lost URLs has none."""
    return reading["urls"] / reading["cpu_seconds"] if reading["urls"] >= URLS else 0.0


def _judge(file: str, fastest: str, speeds: dict[str, float], rises: dict[str, float], found: int) -> list[Figure]:
    ratio = speeds[OURS[0]] / speeds[fastest]
    passed = ratio >= SPEED_TARGET and rises[OURS[0]] <= MEMORY_TARGET_MEGABYTES and found == URLS
    print(
        f"  {ratio:.1f} x {fastest} "
        f"(target {SPEED_TARGET:.0f} x; with objects {speeds[OURS[1]] / speeds[fastest]:.1f} x), "
        f"memory rise {rises[OURS[0]]:.1f} MB (target {MEMORY_TARGET_MEGABYTES:.0f} MB): {'pass' if passed else 'FAIL'}"
    )
    rise, limit = rises[OURS[0]], MEMORY_TARGET_MEGABYTES
    return [
        Figure(f"{file}: URLs per CPU-second beside {fastest}", round(ratio, 1), "x", "≥ 3 x", ratio >= SPEED_TARGET),
        Figure(f"{file}: memory rise", round(rise, 1), "MB", "≤ 25 MB", rise <= limit),
        Figure(f"{file}: URLs lost", URLS - found, "", "0", found == URLS),
    ]


def main() -> None:
    """Run all files, then the import."""
    python = peer_python("sitemap", [*PEERS, "lxml_html_clean"])  # the last for trafilatura, which only hopes for it
    parts, figures = Parts(), list[Figure]()
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder))
        for path in files:
            with parts.part(path.name):
                figures += compare(python, path)
        with parts.part("import"):
            share = sitemap_import.run(files[0])
            what = "parse and store beside a bare COPY"
            figures.append(Figure(what, round(100 * share), "%", "≥ 70 %", share >= 0.7))
    record("sitemap", figures)
    parts.end()


if __name__ == "__main__":
    main()
