"""Starting and stopping the embedded server: the first process starts it, the last one to exit stops it."""

import atexit
import fcntl
import re
import subprocess  # nosec B404 # only a type, and errors
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote

import structlog

from scrapersky.core.embedded.folders import choose_socket_folder, create_data_directory
from scrapersky.core.embedded.postmaster import Postmaster, find_postmaster, remove_stale_files
from scrapersky.core.embedded.programs import (
    ProgramFailed,
    give_to_server,
    prepare_system_user,
    run_program,
    start_server,
)
from scrapersky.core.errors import BadSetting, Unavailable

log = structlog.get_logger(__name__)

DATABASE = "scrapersky"
START_SECONDS = 60
LOG_TAIL_BYTES = 65_536
# Lines of every server that stops or starts: they do not say why a start failed.
ROUTINE = re.compile(r"FATAL:  (the database system is|terminating connection|connection to client lost)")


class DidNotStart(Unavailable):
    """The embedded PostgreSQL did not start."""


class EmbeddedServer:
    """The server of one data directory, as one process uses it.

    Two lock files beside the directory order the processes that share it: `postgres.lock` is held while the server is
    started or stopped, `postgres.users` by every process that uses it, for as long as it lives. Locks end with their
    process, however it ends, and belong to one directory: users of the same machine do not meet.
    """

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.home = data_dir.expanduser().absolute() / "postgres"
        self._used: IO[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None  # the server, if this process started it
        self._log_start = 0  # the size of the log before the last start

    @property
    def log_file(self) -> Path:
        """The log of the server."""
        return self.home / "log"

    def start(self) -> str:
        """Start the server if it does not run, and return the URL of the database. Raises BadSetting or DidNotStart."""
        try:
            self.home.parent.mkdir(parents=True, exist_ok=True)
            with self._locked():
                was_running = find_postmaster(self.home) is not None
                running = self._ensure_running()
                self._use()
                url = self._ensure_database(running)
        except OSError as error:
            raise BadSetting(
                f"SCRAPERSKY_DATA_DIR={self.data_dir} cannot hold a database ({error.strerror}). "
                "Name a writable directory."
            ) from error
        except (ProgramFailed, subprocess.SubprocessError) as error:
            raise self._did_not_start(str(error)) from error
        log.info("embedded_postgres_reused" if was_running else "embedded_postgres_started", directory=str(self.home))
        return url

    def revive(self) -> bool:
        """Start the server again if it has died, and return whether it had. Raises DidNotStart."""
        if find_postmaster(self.home) is not None:
            return False
        died_of = last_fatal(self.log_file)
        try:
            with self._locked():
                if find_postmaster(self.home) is not None:
                    return False
                self._ensure_running()
        except (OSError, ProgramFailed) as error:
            raise self._did_not_start(str(error)) from error
        log.warning("embedded_postgres_restarted", directory=str(self.home), last_error=died_of)
        return True

    def release(self) -> None:
        """Stop the server unless another process uses it."""
        if self._used is None or not self.home.parent.exists():
            return
        with self._locked():
            used, self._used = self._used, None
            with used:
                if _lock(used, fcntl.LOCK_EX | fcntl.LOCK_NB) and find_postmaster(self.home) is not None:
                    self._stop()

    def _stop(self) -> None:
        try:
            run_program("pg_ctl", "-w", "-m", "fast", "-D", str(self.home), "stop", new_session=True)
        except ProgramFailed as error:
            log.warning("embedded_postgres_stop_failed", directory=str(self.home), error=str(error))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self.home.with_suffix(".lock").open("a") as file:
            _lock(file, fcntl.LOCK_EX)
            yield

    def _use(self) -> None:
        if self._used is None:
            self._used = self.home.with_suffix(".users").open("a")
            _lock(self._used, fcntl.LOCK_SH)
            atexit.register(self.release)

    def _ensure_running(self) -> Postmaster:
        """Start the server unless it runs, and wait until it is ready."""
        if find_postmaster(self.home) is None:
            self._start()
        deadline = time.monotonic() + START_SECONDS
        while (running := find_postmaster(self.home)) is None or not running.is_ready:
            if running is None and (self._process is None or self._process.poll() is not None):
                raise ProgramFailed("postgres ended at once")
            if time.monotonic() > deadline:
                raise ProgramFailed(f"postgres was not ready after {START_SECONDS} seconds")
            time.sleep(0.05)
        return running

    def _start(self) -> None:
        prepare_system_user(self.home)
        create_data_directory(self.home)
        socket_folder = choose_socket_folder(self.home)
        remove_stale_files(self.home, socket_folder)
        self.log_file.touch()
        give_to_server(self.log_file)
        self._log_start = self.log_file.stat().st_size
        quoted = '"' + str(socket_folder).replace('"', '""') + '"'  # the option is a list of folders
        options = ("-h", "", "-k", quoted, "-c", "unix_socket_permissions=0700")
        self._process = start_server("-D", str(self.home), *options, log_file=self.log_file)

    def _ensure_database(self, running: Postmaster) -> str:
        """Create the database unless it exists, and return its URL."""
        if running.socket_folder is None:
            raise ProgramFailed("it has no socket")
        ask = ("-X", "-q", "-t", "-A", "-h", str(running.socket_folder), "-U", "postgres", "-d", "postgres", "-c")
        if not run_program("psql", *ask, f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'").strip():  # noqa: S608 # nosec B608
            run_program("psql", *ask, f"CREATE DATABASE {DATABASE}")
        return f"postgresql://postgres:@/{DATABASE}?host={quote(str(running.socket_folder))}"

    def _did_not_start(self, reason: str) -> DidNotStart:
        told = last_fatal(self.log_file, self._log_start)
        if told is None:  # perhaps the disk is full, also for the log
            before = last_fatal(self.log_file)
            told = f"{reason.rstrip('.')} (the last error in its log: {before})" if before else reason
        return DidNotStart(f"{told.rstrip('.')}. Its directory is {self.home}, its log is {self.log_file}.")


def last_fatal(log_file: Path, start: int = 0) -> str | None:
    """Return the last FATAL or PANIC after `start` bytes of a server's log that is not routine, or None."""
    try:
        with log_file.open("rb") as file:
            file.seek(max(start, log_file.stat().st_size - LOG_TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return None
    fatal = [line for line in lines if ("FATAL:  " in line or "PANIC:  " in line) and not ROUTINE.search(line)]
    if not fatal:
        return None
    kind = "PANIC" if "PANIC:  " in fatal[-1] else "FATAL"
    return f"{kind}: {fatal[-1].partition(f'{kind}:  ')[2]}"


def _lock(file: IO[str], how: int) -> bool:
    """Lock a file; return False if another process holds a lock that excludes it and `how` does not wait."""
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    return True
