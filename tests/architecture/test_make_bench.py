"""`make bench` runs every benchmark and writes its page, also after one that fails."""

import os
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
echo "$@" >> {calls}
case "$*" in *benchmarks.fairness*) exit 1 ;; esac
"""


def test_a_benchmark_that_fails_is_named_and_the_others_run(tmp_path):
    calls = tmp_path / "calls"
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    program.write_text(PYTHON.format(calls=calls))
    program.chmod(0o755)
    (tmp_path / ".ready").touch()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    ended = subprocess.run(
        ["make", "bench", f"VENV={tmp_path}", "BENCHES=bench-sitemap bench-fairness bench-matching"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    modules = [line.removeprefix("-m ") for line in calls.read_text().splitlines()]
    assert modules == [f"benchmarks.{name}" for name in ("sitemap", "fairness", "matching", "history")]
    assert ended.returncode == 2
    assert "FAILED: bench-fairness" in ended.stdout
