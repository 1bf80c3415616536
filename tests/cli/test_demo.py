"""`scrapersky demo`: every parcel is accounted for, and nothing is left behind."""

import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.cli.demonstration.next_steps import AFTER_ENGINE, AFTER_PIPELINE
from scrapersky.cli.demonstration.progress import DemoProgress
from scrapersky.engine.events import BatchSettled
from scrapersky.engine.outcomes import OutcomeKind
from scrapersky.sandbox.sandbox import Sandbox

SCRIPT = Path(sys.executable).with_name("scrapersky")  # as `make demo` starts it, by a path and not by PATH
FEW = " --businesses 20"


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Yield a temporary directory with a short path: the path of a socket may have about a hundred characters."""
    with tempfile.TemporaryDirectory(prefix="d-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def test_the_demo_accounts_for_every_parcel_and_cleans_up(fresh_process, short_path: Path) -> None:
    said = await fresh_process("demo", "--engine", "--rows", "400", "--json", TMPDIR=str(short_path)).leave(240)
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


async def test_the_demo_ends_with_found_of_true_for_every_field(fresh_process, short_path: Path) -> None:
    said = await fresh_process("demo", "--businesses", "100", "--json", TMPDIR=str(short_path)).leave(240)
    assert said.code == 0, said.err
    fields = json.loads(said.out)["truth"]["fields"]
    assert list(fields) == ["email", "phone", "social", "person", "title"]
    for name, score in fields.items():
        assert score["true"] > 5, name
        assert 0.6 < score["recall"] <= 1, (name, score)
    assert fields["title"]["true"] == fields["person"]["true"], "everybody on a page of the sandbox has a title there"
    assert fields["title"]["found"] <= fields["person"]["found"]


class Shell:
    """Runs what a person pastes, in one directory and with one environment."""

    def __init__(self, directory: Path, variables: dict[str, str]) -> None:
        self._directory = directory
        outside = {name: value for name, value in os.environ.items() if name != "PATH"}
        self._variables = {**outside, "PATH": "/usr/bin:/bin", **variables}  # `scrapersky` alone is not found

    async def run(self, command: str, until: str = "") -> tuple[int | None, str]:
        """Return the exit code and the output; with `until`, Ctrl-C is pressed when the output contains it."""
        process = await asyncio.create_subprocess_shell(
            f"exec {command}" if until else command,  # else the shell would get the signal, too
            cwd=self._directory,
            env=self._variables,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        said = ""
        async for line in process.stdout:
            said += line.decode()
            if until and until in said:
                os.killpg(process.pid, signal.SIGINT)
                until = ""
        return await process.wait(), said


def pasteable(said: str) -> list[str]:
    """The commands that the demo prints at its end."""
    return [line.strip() for line in said.partition("Next steps")[2].splitlines() if line.startswith("  ")]


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


async def test_the_demo_says_what_is_gone_and_its_hints_can_be_pasted(short_path: Path, database_url: str) -> None:
    async with Sandbox(seed=3, businesses=40) as sandbox:
        variables = {**sandbox.environment(), "DATABASE_URL": database_url, "TMPDIR": str(short_path)}
        variables |= {"CRAWL_HOST_DELAY_SECONDS": "0", "CRAWL_PARSER_PROCESSES": "1", "SCRAPERSKY_PORT": free_port()}
        variables |= {f"{step}_MAX_ATTEMPTS": "1" for step in ("DOMAIN_SCHEDULER", "DOMAIN_SITEMAP_SCHEDULER")}
        shell = Shell(short_path, variables)
        code, said = await shell.run(f"{SCRIPT} demo{FEW}")
        assert code == 0, said
        assert "The file of the demo is deleted now" in said
        assert "The first rows with an email address" in said
        assert "leads.csv." not in said, "a path that is gone is not printed"
        assert "the same command continues" not in said
        commands = pasteable(said)
        assert len(commands) == len(AFTER_PIPELINE)
        keep, look, search, sites, serve, status = commands
        code, said = await shell.run(keep + FEW)
        assert (code, (short_path / "demo-leads.csv").is_file()) == (0, True), said
        assert "rows in demo-leads.csv." in said
        code, said = await shell.run(look + FEW, until="/api/v3/workflows")
        assert (code, "Authorization: Bearer" in said) == (0, True), said
        code, said = await shell.run(search)
        assert (code, (short_path / "leads.csv").is_file()) == (0, True), said
        code, said = await shell.run(sites)
        assert code in (1, 3), said  # the sandbox has no python.org
        assert (short_path / "leads.xlsx").is_file()
        code, said = await shell.run(serve, until="http://")
        assert code in (0, 130), said
        code, said = await shell.run(status)
        assert (code, "Traceback" in said) == (0, False), said


async def test_the_hints_of_the_engine_demo_can_be_pasted(short_path: Path, database_url: str) -> None:
    variables = {"DATABASE_URL": database_url, "TMPDIR": str(short_path), "SCRAPERSKY_LOG_LEVEL": "info"}
    shell = Shell(short_path, variables)
    worker, *others = (command.format(program=SCRIPT) for _, command in AFTER_ENGINE)
    code, said = await shell.run(worker, until="scheduler_started")
    assert code in (0, 130), said
    for command in others:
        code, said = await shell.run(command)
        assert (code, "Traceback" in said) == (0, False), said


async def test_a_demo_that_does_not_say_where_is_refused_before_anything_is_started(command) -> None:
    said = await command("demo", "dentists")
    assert said.code == 2
    assert 'write "dentists in Helsinki"' in said.sentence
