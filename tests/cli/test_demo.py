"""`scrapersky demo`: every parcel is accounted for, and nothing is left behind."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.cli.demonstration.progress import DemoProgress
from scrapersky.engine.events import BatchSettled
from scrapersky.engine.outcomes import OutcomeKind


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Yield a temporary directory with a short path: the path of a socket may have about a hundred characters."""
    with tempfile.TemporaryDirectory(prefix="d-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def test_the_demo_accounts_for_every_parcel_and_cleans_up(process, short_path: Path) -> None:
    said = await process("demo", "--engine", "--rows", "400", "--json", TMPDIR=str(short_path)).leave(240)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["is_complete"]
    assert told["shipped"] + told["skipped"] + told["dead"] == told["rows"] == 400
    assert told["shipped"] > 300
    assert told["latency_ms"] > 0
    packing, weighing, shipping = told["steps"]
    assert packing["completed"] + packing["failed"] == 400
    assert weighing["completed"] + weighing["skipped"] == packing["completed"]
    assert shipping["completed"] == weighing["completed"] == told["shipped"]
    assert "packing 400" in said.err.replace("packing 399", "packing 400")
    assert "Traceback" not in said.err
    assert not list(short_path.glob("scrapersky-demo-*"))


async def test_progress_counts_what_the_engine_tells_while_it_is_shown() -> None:
    progress = DemoProgress(["packing", "weighing"], 10)
    settled = BatchSettled("packing", {OutcomeKind.COMPLETED: 7, OutcomeKind.RETRIED: 2, OutcomeKind.FAILED: 1})
    await progress.count(settled)
    with progress:
        await progress.count(settled)
    packing, weighing = progress.steps
    assert (packing.completed, packing.retried, packing.failed, packing.settled) == (7, 2, 1, 8)
    assert weighing.settled == 0


async def test_the_demo_ends_with_found_of_true_for_every_field(process, short_path: Path) -> None:
    said = await process("demo", "--businesses", "100", "--json", TMPDIR=str(short_path)).leave(240)
    assert said.code == 0, said.err
    fields = json.loads(said.out)["truth"]["fields"]
    assert list(fields) == ["email", "phone", "social", "person", "title"]
    for name, score in fields.items():
        assert score["true"] > 5, name
        assert 0.6 < score["recall"] <= 1, (name, score)
    assert fields["title"]["true"] == fields["person"]["true"], "everybody on a page of the sandbox has a title there"
    assert fields["title"]["found"] <= fields["person"]["found"]


async def test_a_demo_that_does_not_say_where_is_refused_before_anything_is_started(command) -> None:
    said = await command("demo", "dentists")
    assert said.code == 2
    assert 'Write "dentists in Helsinki"' in said.sentence
