"""make profile-line: one worker over a sandbox under py-spy; writes a flame graph, prints the CPU of a page by step.

py-spy samples the worker and its parser process from outside, a hundred times a second. A sample counts for the step
whose module is in its stack; the rest counts for the part of the program that runs.
"""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from benchmarks.flame_graph import Stacks, draw, read_stacks
from benchmarks.line import Bench, sandbox_of
from benchmarks.peers import ROOT, peer_python
from benchmarks.record import Figure, record
from scrapersky.core.embedded.server import EmbeddedServer

RATE = 100  # samples a second
MAX_FUNCTIONS = 12
WAITS = ("_receive (scrapersky/extract/parser_pool",)  # for the next page: sampled as running on a busy machine
# What a sample counts for: the first part one of whose texts is in a frame of its stack.
PARTS = {
    "start: imports": ("<frozen importlib", "importlib/"),
    "domain_metadata": ("workflows/domain_metadata.py", "store/line/home_links.py", "read_home_page"),
    "sitemap_analysis": ("workflows/sitemap_analysis.py",),
    "sitemap_import": ("workflows/sitemap_import.py", "read_metadata"),
    "page_curation": ("workflows/page_curation.py", "read_contacts"),
    "other steps": ("workflows/",),
    "claim, settle, write": ("engine/settle.py", "engine/queue.py", "engine/processor.py", "engine/loop.py"),
    "permits, body cache": ("store/shared/",),
    "parser process: transport": ("parser_pool/",),
    "HTTP client": ("crawl/", "aiohttp/"),
    "database driver": ("asyncpg/", "sqlalchemy/"),
    "metrics, history, log": ("observe/", "structlog/"),
}


async def main() -> None:
    """Profile the line, write the graph and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--businesses", type=int, default=200)
    parser.add_argument("--out", type=Path, default=ROOT / "line.svg")
    asked = parser.parse_args()
    profiler = peer_python("profile", ["py-spy==0.4.1"]).parent / "py-spy"
    with tempfile.TemporaryDirectory(prefix="scrapersky-bench-") as name:
        home = Path(name)
        home.chmod(0o755)
        raw = home / "stacks.txt"
        command = [
            str(profiler),
            "record",
            "--subprocesses",
            "--rate",
            str(RATE),
            "--format",
            "raw",
            "--output",
            str(raw),
        ]
        bench = Bench(EmbeddedServer(home).start(), home, Path(sys.executable))
        async with sandbox_of(asked.businesses) as sandbox:
            run = await bench.ours(sandbox, "profile", 1, [*command, "--"])
        stacks = read_stacks(raw.read_text(), WAITS)
    asked.out.write_text(draw(stacks, f"the line: {run.pages:,} pages of {run.sites:,} sites"))
    show(stacks, run.pages)
    print(f"{asked.out.name} is the flame graph: {sum(stacks.values()):,} samples, {run.pages:,} pages")
    record("profile", [Figure(part, round(_ms(count, run.pages), 2), "ms/page") for part, count in by_part(stacks)])


def by_part(stacks: Stacks) -> list[tuple[str, int]]:
    """Return the samples of each part, the most first."""
    counts = Counter[str]()
    for frames, count in stacks.items():
        counts[part_of(frames)] += count
    return counts.most_common()


def part_of(frames: tuple[str, ...]) -> str:
    """Return the part that a stack counts for."""
    for part, texts in PARTS.items():
        if any(text in frame for frame in frames for text in texts):
            return part
    return "event loop, rest"


def show(stacks: Stacks, pages: int) -> None:
    """Print the CPU of a page by part, and the functions in which most of it is spent."""
    console, total = Console(width=min(80, Console().width)), sum(stacks.values())
    table = Table("CPU by step", "ms/page", "share", box=SIMPLE)
    for part, count in by_part(stacks):
        table.add_row(part, f"{_ms(count, pages):.2f}", f"{count / total:.0%}")
    table.add_row("all", f"{_ms(total, pages):.2f}", "")
    console.print(table)
    functions = Counter[str]()
    for frames, count in stacks.items():
        functions[frames[-1]] += count
    table = Table("CPU by function, itself", "ms/page", box=SIMPLE)
    for frame, count in functions.most_common(MAX_FUNCTIONS):
        table.add_row(frame, f"{_ms(count, pages):.2f}")
    console.print(table)


def _ms(samples: int, pages: int) -> float:
    return samples / RATE * 1000 / pages


if __name__ == "__main__":
    asyncio.run(main())
