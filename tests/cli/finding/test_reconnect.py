"""`find` when it loses something: its database, or itself. It waits with a word, goes on, and ends with a sentence."""

import asyncio
import fcntl
import json
import logging
import os
import queue
import signal
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
import typer

from scrapersky.cli.finding.reconnect import DatabaseLost, hide_connection_errors, with_reconnect
from scrapersky.cli.shared.output import notice_if_slow
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, load
from scrapersky.sandbox.sandbox import Sandbox

QUICK = {
    "CRAWL_HOST_DELAY_SECONDS": "0",
    "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
    "CRAWL_PARSER_PROCESSES": "1",
    "DOMAIN_SCHEDULER_MAX_ATTEMPTS": "2",
    "CONTACT_VERIFICATION_SCHEDULER_BACKOFF_SECONDS": "0.5",
}

HELD = """SELECT count(*) FROM domain
    WHERE (domain_metadata_status = 'Processing' AND domain_metadata_due_at > now())
        OR (sitemap_analysis_status = 'Processing' AND sitemap_analysis_due_at > now())"""


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=31, businesses=120) as little_internet:
        yield little_internet


async def test_killed_in_the_middle_the_same_command_goes_on_at_once(process, sandbox, database_url, tmp_path, admin):
    variables = {**sandbox.environment(), **QUICK, "DATABASE_URL": database_url}
    words = ("find", "dentists in Helsinki", "--out", str(tmp_path / "x.csv"), "--json", "--limit", "6")
    sandbox.latency_seconds = 2.0  # so that rows are in hand
    first = process(*words, **variables)
    await first.until_said("searching 1/1", 240)
    async with asyncio.timeout(120):
        while not await admin.fetchval(HELD):
            await asyncio.sleep(0.05)
    first.tell(signal.SIGKILL)
    await first.leave()
    sandbox.latency_seconds = 0.0
    assert await admin.fetchval(HELD), "they are still leased"
    said = await process(*words, **variables).leave(240)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["left"] == sum(wait["rows"] for wait in told["waiting"]), "a broken site may want another try later"
    assert "rows of a process that was killed are processed again" in said.err.replace("\n", " ")


async def test_an_embedded_server_that_dies_is_started_again_and_nothing_is_lost(process, sandbox, home, tmp_path):
    variables = {**sandbox.environment(), **QUICK, "SCRAPERSKY_DATA_DIR": str(home), "DATABASE_URL": ""}
    sandbox.latency_seconds = 1.0  # so that there is a middle
    words = ("find", "dentists in Helsinki", "--out", str(tmp_path / "x.csv"), "--json", "--limit", "8")
    finding = process(*words, **variables)
    await finding.until_said("searching 1/1", 240)
    running = home / "postgres" / "postmaster.pid"
    with running.parent.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # else the engine may start it again between two reads, and nobody has to wait
        os.kill(int(running.read_text().splitlines()[0]), signal.SIGKILL)
        await finding.until_said("The database is unavailable", 240)
    said = await finding.leave(240)
    assert said.code == 0, said.err
    assert "Traceback" not in said.err, said.err
    assert "The database is available again." in said.err
    assert "Connection refused" not in said.err, "one word is enough"
    told = json.loads(said.out)
    assert told["rows"] == 8
    assert told["contacts"] > 0
    assert told["left"] == sum(wait["rows"] for wait in told["waiting"]), "a broken site may want another try later"
    assert not running.exists(), "the last one to leave stopped it"


async def test_a_database_that_does_not_come_back_is_a_sentence():
    async def ask() -> None:
        raise ConnectionRefusedError("nobody there")

    said: list[str] = []
    elsewhere: Any = SimpleNamespace(database=SimpleNamespace(embedded=None))
    with pytest.raises(DatabaseLost, match="the same command continues when the database is back"):
        await with_reconnect(elsewhere, ask, said.append, seconds=0.2)
    assert said == ["The database is unavailable; waiting up to 0 s for it."]


async def test_other_errors_than_a_lost_database_are_not_waited_for():
    async def ask() -> None:
        raise ValueError("a fault of ours")

    nothing: Any = SimpleNamespace()
    with pytest.raises(ValueError, match="a fault of ours"):
        await with_reconnect(nothing, ask, print)


async def test_a_database_that_is_not_there_has_a_code_of_its_own(command):
    said = await command("find", "dentists in Helsinki", DATABASE_URL="postgresql://nobody@127.0.0.1:9/none")
    assert said.code == 5
    assert "127.0.0.1:9" in said.sentence


def test_only_a_long_wait_is_printed(monkeypatch):
    printed: queue.Queue[tuple[str, bool]] = queue.Queue()
    monkeypatch.setattr(typer, "echo", lambda sentence, err: printed.put((sentence, err)))
    with notice_if_slow("quick", 30):
        pass
    with notice_if_slow("Starting the database…", 0.01):
        assert printed.get(timeout=120) == ("Starting the database…", True)
    assert printed.empty()


def test_a_lost_database_is_told_once_and_other_errors_are_logged_as_ever(capsys, command):
    configure_logs(load(Environment({}, None)))
    hide_connection_errors()
    log, library = structlog.get_logger("scrapersky.engine"), logging.getLogger("apscheduler")
    log.error("database_unavailable", where="pulse")
    for error in (ConnectionRefusedError("nobody there"), ValueError("a fault of ours")):
        try:
            raise error
        except (OSError, ValueError):
            log.exception("poll_failed")
            library.exception("raised an exception")
            logging.getLogger("sqlalchemy.pool.impl").error("Exception terminating connection")
    said = capsys.readouterr().err
    assert "nobody there" not in said
    assert "terminating" not in said
    assert said.count("ValueError: a fault of ours") == 2
