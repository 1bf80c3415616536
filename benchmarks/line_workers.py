"""Workers of the project as a benchmark runs them: until nothing is left, with an eye on their time and memory."""

import asyncio
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

STEPS = ("DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION")


@dataclass
class Work:
    """What it took."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of the workers and their children; PostgreSQL's is not in it
    worker_mb: float = 0.0  # the most one worker had, itself
    rise_mb: float = 0.0  # over what it had when its first row was claimed
    family_mb: float = 0.0  # the most all workers and their parser children had together


def environment(url: str, variables: dict[str, str]) -> dict[str, str]:
    """Return the settings of a worker in the benchmark: no delay between visits, no retries."""
    return {
        **os.environ,
        "DATABASE_URL": url,
        "SCRAPERSKY_LOG_LEVEL": "error",
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_MAX_ROBOTS_DELAY_SECONDS": "0",
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
        "CRAWL_PARSER_PROCESSES": "1",
        **{f"{step}_SCHEDULER_MAX_ATTEMPTS": "1" for step in STEPS},
        **variables,
    }


def run_command(url: str, *words: str) -> None:
    """Run a command of the project to its end."""
    command = [sys.executable, "-m", "scrapersky", *words]
    subprocess.run(command, env=environment(url, {}), check=True, stdout=subprocess.DEVNULL)


async def work_until_idle(url: str, variables: dict[str, str], workers: int, profiler: Sequence[str] = ()) -> Work:
    """Start the workers, each under the profiler if there is one, and wait until they leave by themselves."""
    command = [*profiler, sys.executable, "-m", "scrapersky", "worker", "--until-idle"]
    done, started, cpu = Work(), time.monotonic(), _cpu_of_children()
    processes = [subprocess.Popen(command, env=environment(url, variables)) for _ in range(workers)]
    first: dict[int, float] = {}
    try:
        while any(process.poll() is None for process in processes):
            _look(done, [process.pid for process in processes], first, time.monotonic() - started)
            await asyncio.sleep(0.1)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    done.seconds, done.cpu_seconds = time.monotonic() - started, _cpu_of_children() - cpu
    if not profiler and any(process.returncode for process in processes):  # py-spy exits with 1 when its process ends
        raise RuntimeError(f"a worker left with {[process.returncode for process in processes]}")
    return done


def _look(done: Work, pids: list[int], first: dict[int, float], elapsed: float) -> None:
    family = 0.0
    for pid in pids:
        own = _mb(pid)
        if elapsed > 3 and own:  # by then it is up, and all modules are read
            done.rise_mb = max(done.rise_mb, own - first.setdefault(pid, own))
        done.worker_mb = max(done.worker_mb, own)
        family += own + sum(_mb(child) for child in _children(pid))
    done.family_mb = max(done.family_mb, family)


def _mb(pid: int) -> float:
    try:
        return psutil.Process(pid).memory_info().rss / 1e6
    except psutil.NoSuchProcess:
        return 0.0


def _children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
