"""A command as a person or a script runs it: in this process where that is quick, in one of its own for signals."""

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog

from scrapersky.cli import run_cli
from scrapersky.cli.shared import service
from tests import ROOT
from tests.factories.fork_server import ForkedProcess, ForkServer

Command = Callable[..., Awaitable["Said"]]
QUICK = {"SCHEDULER_POLL_INTERVAL_SECONDS": "0.1", "CRAWL_PARSER_PROCESSES": "1"}  # each parser imports for a second
Start = Callable[..., ForkedProcess | subprocess.Popen[str]]


@dataclass(frozen=True)
class Said:
    """What a command printed, and the code it left with."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The last line on standard error: the one a person reads."""
        assert "Traceback" not in self.err
        return self.err.strip().splitlines()[-1]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Run `scrapersky WORDS` with these variables, away from any .env; logs are put back afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCHEDULER_IDLE_TIMEOUT_SECONDS", "0")
    monkeypatch.setattr(service, "SIGNALS", ())  # the command runs in a thread, which receives no signals
    before, handlers, level = structlog.get_config(), logging.root.handlers, logging.root.level

    def obeyed(words: tuple[str, ...]) -> int:
        try:
            run_cli(words)
        except SystemExit as leaving:
            return int(leaving.code or 0)
        return 0

    async def run(*words: str, **variables: str) -> Said:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        code = await asyncio.to_thread(obeyed, words)
        return Said(code, *capsys.readouterr())

    yield run
    structlog.configure(**before)
    logging.root.handlers, logging.root.level = handlers, level


@pytest.fixture
def line(command: Command, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A command on a fresh migrated database."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    return command


@pytest.fixture
def home() -> Iterator[Path]:
    """A data directory for an embedded server, which may run as a user of its own.

    Not below pytest's directory: another run of pytest closes that to other users.
    """
    with tempfile.TemporaryDirectory(prefix="ss-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


class Process:
    """A command in a process of its own; whatever a test does, it does not outlive it."""

    def __init__(self, start: Start, home: Path, module: str, words: Sequence[str], variables: dict[str, str]) -> None:
        number = len(list(home.iterdir()))
        self._out, self._log = home / f"stdout-{number}", home / f"stderr-{number}"
        environment = {**os.environ, **QUICK, "PYTHONPATH": str(ROOT), **variables}
        with self._out.open("w") as out, self._log.open("w") as log:
            self._process = start(module, *words, cwd=home, env=environment, stdout=out, stderr=log)
        self._read_lines = 0

    @property
    def err(self) -> str:
        return self._log.read_text()

    def tell(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def next_line(self) -> str:
        """The next line on standard output, waited for."""
        await self.until(lambda: self._out.read_text().count("\n") > self._read_lines)
        self._read_lines += 1
        return self._out.read_text().splitlines()[self._read_lines - 1].strip()

    async def until_said(self, words: str, seconds: float = 120) -> None:
        await self.until(lambda: words in self.err, seconds)

    async def until(self, is_so: Callable[[], bool], seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not is_so():
            assert self._process.poll() is None, self.err
            assert time.monotonic() < deadline, self.err
            await asyncio.sleep(0.02)

    async def leave(self, seconds: float = 120) -> Said:
        """Wait for the end."""
        code = await asyncio.to_thread(self._process.wait, timeout=seconds)
        return Said(code, self._out.read_text(), self.err)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def process(tmp_path: Path, fork_server: ForkServer) -> Iterator[Callable[..., Process]]:
    """Run `scrapersky WORDS` in a process of its own, which need not import the application first."""
    with contextlib.ExitStack() as started:
        yield starter(tmp_path, fork_server.start, started)


@pytest.fixture
def fresh_process(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start `scrapersky WORDS` as a person does, with a new Python."""

    def start(module: str, *words: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-m", module, *words], **options)

    with contextlib.ExitStack() as started:
        yield starter(tmp_path, start, started)


def starter(home: Path, start: Start, started: contextlib.ExitStack) -> Callable[..., Process]:
    def run(*words: str, module: str = "scrapersky", **variables: str) -> Process:
        process = Process(start, home, module, words, variables)
        started.callback(process.end)
        return process

    return run
