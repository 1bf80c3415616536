"""The figures of benchmarks are kept by commit, and docs/performance.md shows the newest runs."""

import json
from pathlib import Path

import pytest
from benchmarks.history import END, SHOWN, START, write
from benchmarks.parts import Parts
from benchmarks.record import Figure, record


def test_a_run_is_one_line_with_commit_versions_and_load(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    record("engine", [Figure("drain", 61.5, "x", "≥ 60 x", True)], history)
    [run] = [json.loads(line) for line in history.read_text().splitlines()]
    assert run["bench"] == "engine"
    assert run["commit"]
    assert run["versions"]["asyncpg"]
    assert run["load"] >= 0
    assert run["figures"] == [{"what": "drain", "value": 61.5, "unit": "x", "target": "≥ 60 x", "met": True}]


async def test_each_part_is_named_when_it_ends_and_a_failed_one_at_the_end(capsys) -> None:
    parts, shown = Parts(), list[int]()

    async def measure(divisor: int) -> int:
        return 6 // divisor

    assert await parts.run("first", measure(0), shown.append) is None
    with parts.part("second"):
        raise RuntimeError("too many clients")
    assert await parts.run("third", measure(2), shown.append) == 3
    assert shown == [3]
    told = [line.partition(" in ")[0].partition(" after ")[0] for line in capsys.readouterr().err.splitlines()]
    assert [line for line in told if line.endswith(("FAILED", "done"))] == [
        "first FAILED",
        "second FAILED",
        "third done",
    ]
    with pytest.raises(SystemExit, match="FAILED: first, second"):
        parts.end()


def test_the_page_shows_the_newest_runs_first_and_names_what_was_missed(tmp_path: Path) -> None:
    history, page = tmp_path / "history.jsonl", tmp_path / "performance.md"
    for value in range(SHOWN + 2):
        record("line", [Figure("CPU per page", value, "ms", "≤ 3 ms", value <= 3)], history)
    page.write_text(f"before\n{START}\nold\n{END}\nafter\n")
    write(page, history)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    [row] = [line for line in text.splitlines() if line.startswith("| CPU per page")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == ["CPU per page", "≤ 3 ms", "6 ms **missed**", "5 ms **missed**", "4 ms **missed**", "3 ms", "2 ms"]
