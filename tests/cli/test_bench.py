"""`scrapersky bench`: a thin door to the benchmarks of a checkout."""

from pathlib import Path

import pytest
from benchmarks.parts import Parts

from scrapersky.cli import bench

MEASURES = "import sys\nprint('measured', flush=True)\nsys.exit({code})\n"


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    home = tmp_path / "checkout"
    (home / "benchmarks").mkdir(parents=True)
    monkeypatch.setattr(bench, "CHECKOUT", home)
    return home / "benchmarks"


async def test_a_benchmark_is_run_and_its_code_passed_on(command, checkout):
    (checkout / "README.md").touch()
    (checkout / "engine.py").write_text(MEASURES.format(code=0))
    (checkout / "line.py").write_text(MEASURES.format(code=3))
    assert (await command("bench", "engine")).code == 0
    assert (await command("bench", "engine", "line")).code == 1


async def test_outside_of_a_checkout_the_command_says_where_benchmarks_are(command, checkout):
    said = await command("bench")
    assert said.code == 2
    assert "make bench" in said.sentence


async def test_an_unknown_benchmark_gets_the_list_of_the_known_ones(command):
    said = await command("bench", "nonsense")
    assert said.code == 2
    assert "'nonsense' is not one of engine, sitemap, fetch, contacts, line, api." in said.sentence


def test_every_benchmark_is_there():
    assert all((bench.CHECKOUT / "benchmarks" / f"{name}.py").exists() for name in bench.BENCHMARKS)


async def test_a_part_that_fails_is_named_and_the_others_go_on(capsys):
    parts, shown = Parts(), list[int]()

    async def measured(figure: int) -> int:
        return 10 // figure

    for name, figure in (("drain", 2), ("write", 0), ("latency", 5)):
        await parts.run(name, measured(figure), shown.append)
    assert shown == [5, 2], "each is shown when it ends"
    said = capsys.readouterr().err
    assert "drain done in" in said
    assert "write FAILED after" in said
    assert "latency done in" in said
    with pytest.raises(SystemExit, match="FAILED: write") as leaving:
        parts.end()
    assert leaving.value.code == "FAILED: write", "printed, with exit code 1"
