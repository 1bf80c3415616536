"""`serve` and `worker` at start and end: they wait for PostgreSQL with a sentence; a signal ends them with 0."""

import asyncio
import signal
import socket
from typing import Any

import asyncpg
import pytest

from scrapersky.core.server_start import ConnectionNeeds
from tests.conftest import Server, numbers

SERVICES = [("worker",), ("serve",)]
MAX_BLOCK_CPU_SECONDS = 0.25  # of a step of the event loop, importing and building included
AWAY = "postgresql://line@127.0.0.1:{}/line"


@pytest.fixture
def closed_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("words", SERVICES)
async def test_a_server_that_stays_away_is_waited_for_and_then_named(fresh_process, closed_port, words) -> None:
    said = await fresh_process(
        *words, "--wait-seconds", "1", DATABASE_URL=AWAY.format(closed_port), SCRAPERSKY_PORT="0"
    ).leave()
    assert said.code == 2
    assert "Waiting up to 1 seconds for it." in said.err
    assert said.err.count("PostgreSQL at ") == 2, "once at the start, once at the end"
    assert "Waited 1 seconds." in said.sentence


async def test_a_wrong_password_is_not_waited_for(process, server: Server) -> None:
    said = await process("worker", DATABASE_URL=server.url("no_such_database")).leave()
    assert said.code == 2
    assert "Waiting" not in said.err


async def test_the_database_of_the_setting_is_the_one_that_is_read(
    command, server: Server, database_url, admin
) -> None:
    await admin.execute("INSERT INTO tenant (name) VALUES ('acme')")
    name = f"other_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name} TEMPLATE template_line STRATEGY FILE_COPY")
    for url, is_there in ((database_url, True), (server.url(name), False)):
        said = await command("tenant", "list", DATABASE_URL=url)
        assert (said.code, "acme" in said.out) == (0, is_there)


@pytest.mark.parametrize("words", SERVICES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_while_it_waits_ends_it_with_zero(process, closed_port, words, number) -> None:
    waiting = process(*words, DATABASE_URL=AWAY.format(closed_port), SCRAPERSKY_PORT="0")
    await waiting.until_said("Waiting up to 60 seconds for it.")
    waiting.tell(number)
    said = await waiting.leave()
    assert said.code == 0, said.err
    assert "Traceback" not in said.err


async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        return  # the other side has closed
    finally:
        writer.close()


async def test_a_server_that_comes_is_used_at_once_and_the_needs_are_printed(
    process, server: Server, database_url: str, closed_port: int, admin
) -> None:
    name = database_url.partition("?")[0].rpartition("/")[2]
    path = f"{server.home}/.s.PGSQL.5432"
    waiting = process("worker", DATABASE_URL=f"postgresql://postgres@127.0.0.1:{closed_port}/{name}?sslmode=disable")
    await waiting.until_said("Waiting up to 60 seconds for it.")

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_unix_connection(path)
        await asyncio.gather(forward(reader, forth), forward(back, writer))

    async with await asyncio.start_server(accept, "127.0.0.1", closed_port):
        await waiting.until_said("scheduler_started")
        waiting.tell(signal.SIGTERM)
        said = await waiting.leave()
    assert said.code == 0, said.err
    assert "Connections: " in said.err
    assert "(max_connections 100, 3 of them reserved)" in said.err


async def test_a_full_server_is_waited_for_like_one_that_is_away(process, server: Server, template: str) -> None:
    await server.execute("DROP ROLE IF EXISTS guest")
    await server.execute("CREATE DATABASE full_house TEMPLATE template_line CONNECTION LIMIT 0")
    await server.execute("CREATE ROLE guest LOGIN IN ROLE scrapersky_app, scrapersky_engine")
    url = server.url("full_house").replace("postgres:@", "guest:@")
    with pytest.raises(asyncpg.TooManyConnectionsError):
        await asyncpg.connect(url)
    waiting = process("worker", DATABASE_URL=url)
    await waiting.until_said("Waiting up to 60 seconds for it.")
    assert "has no free connection" in waiting.err
    assert "Raise its max_connections" in waiting.err
    await server.execute("ALTER DATABASE full_house CONNECTION LIMIT -1")
    await waiting.until_said("scheduler_started")
    waiting.tell(signal.SIGTERM)
    said = await waiting.leave()
    assert said.code == 0, said.err
    await server.execute("DROP DATABASE full_house WITH (FORCE)")
    await server.execute("DROP ROLE guest")


@pytest.mark.parametrize("words", SERVICES)
async def test_the_start_does_not_block_the_event_loop(fresh_process, database_url, words) -> None:
    running = fresh_process(*words, module="tests.cli.watched_start", DATABASE_URL=database_url, SCRAPERSKY_PORT="0")
    await running.until_said("scheduler_started")
    running.tell(signal.SIGTERM)
    said = await running.leave()
    assert said.code == 0, said.err
    assert float(said.sentence.rpartition(" ")[2]) < MAX_BLOCK_CPU_SECONDS, said.err


@pytest.mark.parametrize("words", SERVICES)
async def test_signals_at_any_moment_of_the_end_leave_zero(fresh_process, database_url, words) -> None:
    running: Any = fresh_process(*words, DATABASE_URL=database_url, SCRAPERSKY_PORT="0")
    await running.until_said("scheduler_started")
    leaving = asyncio.create_task(running.leave())
    while not leaving.done():
        running.tell(signal.SIGTERM)
        await asyncio.sleep(0.002)
    said = await leaving
    assert said.code == 0, said.err
    assert "Traceback" not in said.err


def test_needs_that_leave_no_room_for_people_name_the_cure() -> None:
    assert str(ConnectionNeeds(3, 28, 100, 3)) == (
        "Connections: 3 processes may open up to 28 of the 97 that PostgreSQL offers "
        "(max_connections 100, 3 of them reserved)."
    )
    assert "raise max_connections, or lower SCRAPERSKY_DATABASE_POOL_SIZE" in str(ConnectionNeeds(12, 96, 100, 3))
