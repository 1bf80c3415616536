"""make bench-fetch: pages a second on two cores from a local site, side by side with a Scrapy spider in one run."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.parts import Parts
from benchmarks.peers import ROOT, peer_python
from benchmarks.record import Figure, record
from scrapersky.core.embedded.server import EmbeddedServer

ROUNDS = 3
PAGES = {"fetch": 4000, "contacts": 1600}
PROCESSES = 2
HERE = Path(__file__).parent
Run = dict[str, float]


def ours(site: str, database: str, mode: str) -> list[list[str]]:
    """Run two processes that only fetch, or one that fetches for two parser processes."""
    worker = [sys.executable, "-m", "benchmarks.fetch_worker", site, database, mode]
    if mode == "contacts":
        return [[*worker, "0", str(PAGES[mode]), "2"]]
    return [[*worker, *half, "0"] for half in halves(mode)]


def scrapys(site: str, database: str, mode: str, python: Path) -> list[list[str]]:
    """Run two spiders with half of the pages each: one Scrapy process uses one core."""
    return [[str(python), "-P", str(HERE / "fetch_spider.py"), site, database, mode, *half] for half in halves(mode)]


def halves(mode: str) -> list[tuple[str, str]]:
    share = PAGES[mode] // PROCESSES
    return [(str(share * turn), str(share * (turn + 1))) for turn in range(PROCESSES)]


def measured(commands: list[list[str]]) -> Run:
    """Run the processes of one side together; start-up is left out on both sides."""
    running = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": "src"})
        for command in commands
    ]
    outputs = [process.communicate(timeout=300)[0] for process in running]
    if any(process.returncode for process in running):
        raise RuntimeError("a side failed; see above")
    results = [json.loads(output.splitlines()[-1]) for output in outputs]
    pages = sum(result["pages"] for result in results)
    return {
        "pages": pages,
        "rate": pages / max(result["seconds"] for result in results),
        "cpu": 1000 * sum(result["cpu"] for result in results) / pages,
        "rss": sum(result["rss"] for result in results),
        "rows": sum(result["rows"] for result in results),
    }


def compare(mode: str, title: str, site: str, database: str, python: Path) -> float:
    """Run both sides in turn for some rounds; return the ratio of the medians."""
    runs: dict[str, list[Run]] = {"scrapersky": [], "scrapy": []}
    for _ in range(ROUNDS):
        runs["scrapersky"].append(measured(ours(site, database, mode)))
        runs["scrapy"].append(measured(scrapys(site, database, mode, python)))
    print(f"\n{title}\n{'':14}{'pages/s':>9}{'CPU ms/page':>13}{'RSS MB':>8}{'rows':>8}   rounds")
    for name, rounds in runs.items():
        if any(run["pages"] != PAGES[mode] for run in rounds):
            raise RuntimeError(f"{name} lost pages: {rounds}")
        middle = {key: median(run[key] for run in rounds) for key in rounds[0]}
        each = " ".join(f"{run['rate']:.0f}" for run in rounds)
        print(f"{name:14}{middle['rate']:9.0f}{middle['cpu']:13.2f}{middle['rss']:8.0f}{middle['rows']:8.0f}   {each}")
    ratio = median(run["rate"] for run in runs["scrapersky"]) / median(run["rate"] for run in runs["scrapy"])
    cpu = median(run["cpu"] for run in runs["scrapy"]) / median(run["cpu"] for run in runs["scrapersky"])
    print(f"ratio {ratio:.2f} x pages/s, {cpu:.2f} x less CPU a page")
    return ratio


def main() -> None:
    """Run both comparisons; the target is for the second."""
    python = peer_python("fetch", ["scrapy", "uvloop", "asyncpg", "phonenumbers"])
    home = Path(tempfile.mkdtemp(prefix="bench-fetch-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)  # registered first, so done after the server stopped
    database = EmbeddedServer(home).start()
    subprocess.run([sys.executable, "-c", TABLE, database], check=True)
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.fetch_site"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    parts, figures = Parts(), list[Figure]()
    try:
        site = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        started = time.monotonic()
        with parts.part("fetch"):
            fetched = compare("fetch", "fetch and decode only, two processes each", site, database, python)
            figures.append(Figure("fetch alone, pages/s beside Scrapy", round(fetched, 2), "x"))
        with parts.part("fetch, extract and store"):
            ratio = compare(
                "contacts",
                "fetch + extract + store (emails, phones, socials, people; COPY into PostgreSQL)\n"
                "ours: one process and two killable parser children\n"
                "Scrapy: parsel, regular expressions and phonenumbers in two spiders",
                site,
                database,
                python,
            )
            what = "fetch, extract and store, pages/s beside Scrapy"
            figures.append(Figure(what, round(ratio, 2), "x", "≥ 3 x", ratio >= 3))
            print(f"\ntarget: >= 3 x Scrapy, measured {ratio:.2f} x, {time.monotonic() - started:.0f} s in all")
        record("fetch", figures)
    finally:
        server.stdin.close()
        server.wait(10)
    parts.end()


TABLE = """
import asyncio, asyncpg, sys
async def make():
    connection = await asyncpg.connect(sys.argv[1])
    await connection.execute("CREATE UNLOGGED TABLE found (url text, kind text, value text)")
    await connection.close()
asyncio.run(make())
"""

if __name__ == "__main__":
    main()
