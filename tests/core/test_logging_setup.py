"""The settings of the log: which lines are written, and in which form."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from sqlalchemy.ext.asyncio import create_async_engine

from scrapersky.core.connection_pool import ShrinkingPool
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, load


@pytest.fixture(autouse=True)
def _logs_are_put_back() -> Iterator[None]:
    before, handlers, level = structlog.get_config(), logging.root.handlers, logging.root.level
    yield
    structlog.configure(**before)
    logging.root.handlers, logging.root.level = handlers, level


def written(capsys: pytest.CaptureFixture[str], **variables: str) -> list[str]:
    configure_logs(load(Environment(variables, None)))
    log = structlog.get_logger("scrapersky.test")
    log.info("quiet", count=1)
    log.warning("loud", count=2)
    said = capsys.readouterr()
    return (said.err + said.out).splitlines()


def test_lines_below_the_level_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    for level, lines in (("info", 2), ("warning", 1), ("error", 0)):
        assert len(written(capsys, SCRAPERSKY_LOG_LEVEL=level)) == lines


def test_a_line_is_json_or_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    options = {"SCRAPERSKY_LOG_LEVEL": "warning"}
    [line] = written(capsys, SCRAPERSKY_LOG_FORMAT="json", **options)
    assert json.loads(line)["event"] == "loud"
    [line] = written(capsys, SCRAPERSKY_LOG_FORMAT="text", **options)
    assert "loud" in line
    assert not line.startswith("{")


async def test_the_pool_writes_no_lines_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(load(Environment({}, None)))
    engine = create_async_engine("postgresql+asyncpg://", poolclass=ShrinkingPool)
    engine.sync_engine.pool.logger.error("Exception terminating connection")
    await engine.dispose()
    assert capsys.readouterr().err == ""
