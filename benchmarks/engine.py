"""The engine against its peers, in one run on one server: `python -m benchmarks.engine [--quick] [--json]`."""

import argparse
import asyncio
import json
import os
import signal
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog
from rich.console import Console

from benchmarks.engine_claim import DEEP, LARGE, SCATTERED, SMALL, measure_claims
from benchmarks.engine_faults import BACK_SECONDS, run_trials
from benchmarks.engine_report import (
    Figure,
    Measured,
    Verdict,
    as_json,
    print_part,
    print_summary,
    record_parts,
)
from benchmarks.engine_server import PEERS, Server, build_template, run_side, running_server
from benchmarks.parts import Parts
from benchmarks.peers import peer_python
from benchmarks.record import Figure as Recorded

PARTS = ("drain", "overhead", "write", "latency", "claim", "faults")


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    rounds: int
    jobs: int
    latency_seconds: float
    claims: int
    trials: int
    quick: bool


@dataclass(frozen=True)
class Side:
    """Somebody who does the jobs, and with which settings; slow ones get a part of the jobs."""

    name: str
    module: str
    options: dict[str, Any]
    part: int = 1
    what: str = ""
    peer: str = field(default="")


OURS = [
    Side("ours, 2 loops x 500", "engine_ours", {"loops": 2, "batch_size": 500}),
    Side("ours, 1 loop x 500", "engine_ours", {"loops": 1, "batch_size": 500}),
    Side("ours, 1 loop x 50", "engine_ours", {"loops": 1, "batch_size": 50}),
]
OURS_SILENT = Side("ours, 1 loop x 500, no metrics", "engine_ours", {"loops": 1, "batch_size": 500, "is_silent": True})
OURS_EACH = Side("ours, 2 loops x 500, write()", "engine_ours", {"loops": 2, "batch_size": 500}, what="write_each")
PGQUEUER_BEST = Side("pgqueuer, 2 x 500 (best)", "peer_pgqueuer", {"managers": 2, "batch_size": 500}, peer="pgqueuer")
PGQUEUER_DEFAULT = Side(
    "pgqueuer, 5 x 10 (its benchmark)",
    "peer_pgqueuer",
    {"managers": 5, "batch_size": 10},
    part=4,
    peer="pgqueuer",
)
PROCRASTINATE_BEST = Side(
    "procrastinate, 20 (best)", "peer_procrastinate", {"concurrency": 20}, part=25, peer="procrastinate"
)
PROCRASTINATE_DEFAULT = Side(
    "procrastinate, 1 (default)",
    "peer_procrastinate",
    {"concurrency": 1},
    part=50,
    peer="procrastinate",
)
ROW_LOOP = Side("a session and commit per row", "row_loop", {"batch_size": 10}, part=50, peer="row loop")


async def measure_throughput(server: Server, what: str, sides: Sequence[Side], size: Size) -> dict[str, Any]:
    """Measure every side in turns, each second round in reverse, and return the medians."""
    seen: dict[str, list[dict[str, float]]] = defaultdict(list)
    for number in range(size.rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            say(f"{what}: {side.name}")
            jobs = max(100, size.jobs // side.part)
            seen[side.name].append(
                await run_side(server, side.module, side.what or what, jobs=jobs, options=side.options)
            )
    return {
        name: {key: statistics.median(result[key] for result in results) for key in results[0]}
        for name, results in seen.items()
    }


def throughput_figures(medians: dict[str, Any], ours: float) -> list[Figure]:
    """Render one line per side. CPU per job is the steadier figure on a busy machine."""
    cpu = min(float(median["cpu_us"]) for name, median in medians.items() if name.startswith("ours"))
    return [
        Figure(
            name,
            f"{median['jobs_per_second']:,.0f}",
            f"{median['cpu_us']:,.0f} ({median['worker_us']:,.0f} + {median['server_us']:,.0f})",
            ""
            if name.startswith("ours")
            else f"{ours / median['jobs_per_second']:.1f} x, CPU 1/{median['cpu_us'] / cpu:.1f}",
        )
        for name, median in medians.items()
    ]


def side_figures(what: str, medians: dict[str, Any]) -> list[Recorded]:
    """Return the jobs per second and the CPU of each side for the record."""
    return [
        Recorded(f"{what}{of}: {name}", round(median[key]), unit)
        for of, key, unit in (("", "jobs_per_second", "jobs/s"), (", CPU per job", "cpu_us", "µs"))
        for name, median in medians.items()
    ]


def fastest(medians: dict[str, Any], sides: Sequence[Side], peer: str) -> float:
    """Return the jobs per second of a peer with its best setting, or of ours without a peer's name."""
    return max(float(medians[side.name]["jobs_per_second"]) for side in sides if side.peer == peer)


async def drain(server: Server, size: Size) -> Measured:
    """Measure jobs that do nothing."""
    sides = [*OURS, PGQUEUER_BEST, PGQUEUER_DEFAULT, PROCRASTINATE_BEST, PROCRASTINATE_DEFAULT, ROW_LOOP]
    medians = await measure_throughput(server, "drain", sides, size)
    ours = fastest(medians, sides, "")
    to_procrastinate = ours / fastest(medians, sides, "procrastinate")
    to_pgqueuer = ours / fastest(medians, sides, "pgqueuer")
    cpu = medians[OURS[0].name]["cpu_us"]
    return Measured(
        "Drain no-op jobs: leases, fence and run history on, one process",
        "jobs/s",
        throughput_figures(medians, ours),
        [
            Verdict(
                "drain: at least 60 x procrastinate's best",
                f"{to_procrastinate:.1f} x",
                to_procrastinate >= 60,
                to_procrastinate,
                "x",
            ),
            Verdict("drain: at least 3 x pgqueuer's best", f"{to_pgqueuer:.2f} x", to_pgqueuer >= 3, to_pgqueuer, "x"),
            Verdict("drain: at most 35 µs CPU per job", f"{cpu:.0f} µs", cpu <= 35, cpu, "µs"),
        ],
        medians,
        side_figures("drain", medians),
    )


async def overhead(server: Server, size: Size) -> Measured:
    """Measure the CPU of metrics and run history: one loop with them and without them, in more rounds."""
    sides = [OURS[1], OURS_SILENT]
    medians = await measure_throughput(server, "drain", sides, replace(size, rounds=2 * size.rounds))
    share = 100 * (1 - medians[OURS_SILENT.name]["cpu_us"] / medians[OURS[1].name]["cpu_us"])
    target = "drain: metrics and history take at most 5 % of the CPU"
    return Measured(
        "The same jobs with and without metrics and run history",
        "jobs/s",
        throughput_figures(medians, 0),
        [Verdict(target, f"{share:.1f} %", share <= 5, share, "%")],
        medians,
    )


async def write(server: Server, size: Size) -> Measured:
    """Measure jobs that store one row each; every side is checked for one row per job."""
    sides = [OURS[0], OURS_EACH, OURS[2], PGQUEUER_BEST, PROCRASTINATE_BEST, ROW_LOOP]
    medians = await measure_throughput(server, "write", sides, size)
    ours = fastest(medians, sides, "")
    ratio = ours / fastest(medians, sides, "procrastinate")
    return Measured(
        "Jobs that write one row: exactly one each, counted by SQL",
        "jobs/s",
        throughput_figures(medians, ours),
        [Verdict("write: at least 25 x procrastinate's best", f"{ratio:.1f} x", ratio >= 25, ratio, "x")],
        medians,
        side_figures("write", medians),
    )


async def latency(server: Server, size: Size) -> Measured:
    """Measure the time from queueing to start, for single rows at random moments."""
    sides = [
        Side("ours, default settings", "engine_ours", {}),
        Side("pgqueuer, 1 manager x 10 (its default)", "peer_pgqueuer", {"batch_size": 10}),
        Side("procrastinate, concurrency 20", "peer_procrastinate", {"concurrency": 20}),
    ]
    seen: dict[str, list[list[float]]] = defaultdict(list)
    for _ in range(size.rounds):
        for side in sides:
            say(f"latency: {side.name}")
            result = await run_side(server, side.module, "latency", seconds=size.latency_seconds, options=side.options)
            seen[side.name].append(result["milliseconds"])
    halves = {name: statistics.median(statistics.median(one) for one in rounds) for name, rounds in seen.items()}
    tails = {name: quantile([value for one in rounds for value in one], 0.99) for name, rounds in seen.items()}
    ours = halves[sides[0].name]
    fastest_peer = min(halves[side.name] for side in sides[1:])
    fastest_tail = min(tails[side.name] for side in sides[1:])
    return Measured(
        "Queueing to start, 25 single jobs a second at random moments",
        "p50 / p99 ms",
        [
            Figure(
                name,
                f"{half:.1f} / {tails[name]:.1f}",
                ratio="" if name.startswith("ours") else f"{ours / half:.2f} of its p50",
            )
            for name, half in halves.items()
        ],
        [
            Verdict(
                "queueing to start: p50 at most 2 ms, and no slower than the faster peer",
                f"{ours:.1f} ms to {fastest_peer:.1f} ms",
                ours <= min(2.0, fastest_peer),
                ours,
                "ms",
            ),
            Verdict(
                "queueing to start: p99 no slower than the faster peer",
                f"{tails[sides[0].name]:.1f} ms to {fastest_tail:.1f} ms",
                tails[sides[0].name] <= fastest_tail,
                tails[sides[0].name],
                "ms",
            ),
        ],
        {"p50": halves, "p99": tails},
        [
            Recorded(f"queueing to start, {which}: {name}", round(value, 1), "ms")
            for which, values in (("p50", halves), ("p99", tails))
            for name, value in values.items()
        ],
    )


def quantile(values: list[float], share: float) -> float:
    """Return the value below which this share lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def claim(server: Server, size: Size) -> Measured:
    """Measure the claim's server time as the table grows."""
    say("claim: tables of a million rows")
    shapes = [SMALL, LARGE] if size.quick else [SMALL, LARGE, DEEP, SCATTERED]
    found = await measure_claims(server, shapes, size.claims)
    small = found[0]["milliseconds"]
    judged = [one for shape, one in zip(shapes, found, strict=True) if not shape.scattered]
    worst = max(one["milliseconds"] for one in judged) / small
    by_index = all(one["indexes"] == ["chore_doing_claim"] and "Seq Scan" not in one["scans"] for one in found)
    return Measured(
        "Claim of 50 at a million rows against ten thousand",
        "server ms",
        [
            Figure(one["shape"], f"{one['milliseconds']:.2f}", ratio=f"{one['milliseconds'] / small:.2f} x")
            for one in found
        ],
        [
            Verdict(
                "claim: at most 1.3 x the server time at a million rows", f"{worst:.2f} x", worst <= 1.3, worst, "x"
            ),
            Verdict("index used", ", ".join(found[1]["indexes"]), by_index),
        ],
        {"claims": found},
    )


async def faults(server: Server, size: Size) -> Measured:
    """Kill and freeze workers in the middle of a row."""
    figures, verdicts, raw = [], [], {}
    for how, told in (("kill", "killed (-9)"), ("freeze", "frozen (STOP, CONT)")):
        say(f"faults: {size.trials} workers {told}")
        one = raw[how] = await run_trials(server, how, size.trials)
        figures.append(
            Figure(
                f"{one['trials']} workers {told}, {one['rows']} rows",
                f"{one['back_seconds_median']:.2f} / {one['back_seconds_longest']:.2f}",
            )
        )
        harm = one["lost"] + one["doubled"]
        verdicts += [
            Verdict(f"{told}: 0 lost, 0 double", f"{one['lost']} lost, {one['doubled']} double", harm == 0),
            Verdict(
                f"{told}: back within lease + 2 = {BACK_SECONDS:g} s",
                f"{one['back_seconds_longest']:.2f} s",
                one["back_seconds_longest"] <= BACK_SECONDS,
            ),
        ]
    late = raw["freeze"]
    places = ", ".join(f"{count} at {where}" for where, count in sorted(late["refused_at"].items()))
    verdicts.append(
        Verdict(
            "late writes refused",
            f"{late['late_refused']} refused ({places}), {late['late_written']} written",
            late["late_written"] == 0 and late["late_refused"] > 0,
        )
    )
    return Measured("Workers killed or frozen mid-item", "back after s, p50 / longest", figures, verdicts, raw)


RUN: dict[str, Callable[[Server, Size], Coroutine[Any, Any, Measured]]] = {
    "drain": drain,
    "overhead": overhead,
    "write": write,
    "latency": latency,
    "claim": claim,
    "faults": faults,
}


def say(what: str) -> None:
    """Print progress."""
    print(f"  {what}", file=sys.stderr, flush=True)


async def measure(
    names: Sequence[str], size: Size, parts: Parts, show: Callable[[Measured], object] | None
) -> list[Measured]:
    """Run every requested part, one after another, on one server; show each when it ends."""
    with running_server() as server:
        await build_template(server)
        found = [await parts.run(name, RUN[name](server, size), show) for name in names]
    return [measured for measured in found if measured is not None]


def main() -> None:
    """Read the command line, measure, report. A missed target is printed; a failed part makes the exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of fewer jobs: a look, not a measurement")
    parser.add_argument("--rounds", type=int, help="rounds, in turns; medians are reported")
    parser.add_argument("--jobs", type=int, help="jobs of a round for the fast sides; slow ones get a part")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="only these parts")
    parser.add_argument("--json", action="store_true", help="the figures for machines")
    asked = parser.parse_args()
    size = Size(
        rounds=asked.rounds or (1 if asked.quick else 3),
        jobs=asked.jobs or (10_000 if asked.quick else 50_000),
        latency_seconds=4 if asked.quick else 8,
        claims=30 if asked.quick else 60,
        trials=4 if asked.quick else 20,
        quick=asked.quick,
    )
    # Whoever ends this early must leave no server behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    peer_python("engine", PEERS)
    started = time.monotonic()
    parts, console = Parts(), Console()
    show = None if asked.json else lambda measured: print_part(console, measured)
    found = asyncio.run(measure(asked.only, size, parts, show))
    if asked.json:
        print(json.dumps(as_json(found), indent=2))
    else:
        print_summary(console, found)
        console.print(
            f"{size.rounds} rounds in {time.monotonic() - started:.0f} s on {os.cpu_count()} cores, "
            f"load {os.getloadavg()[0]:.1f}; compare within one run."
        )
    if not asked.quick:
        record_parts(found)
    parts.end()


if __name__ == "__main__":
    main()
