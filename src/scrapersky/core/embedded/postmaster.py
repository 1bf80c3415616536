"""The process of the embedded server, found by its postmaster.pid and checked before it is trusted."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psutil

CLOCK_SECONDS = 60.0  # the time of the file and of the process may differ by so much when the clock was set


@dataclass(frozen=True)
class Postmaster:
    """A running server of a data directory."""

    pid: int
    socket_folder: Path | None  # None while the server has not opened its socket yet
    is_ready: bool


def find_postmaster(home: Path) -> Postmaster | None:
    """Return the running server of the directory, or None.

    A pid file outlives a server that was killed, and its number may belong to any other process by now.
    """
    lines = _read_lines(home / "postmaster.pid")
    pid = _pid(lines)
    if pid is None or len(lines) < 3 or not _is_postgres(pid, home, started_at=lines[2]):
        return None
    folder = Path(lines[4]) if len(lines) > 4 and lines[4] else None
    return Postmaster(pid, folder, is_ready=len(lines) > 7 and lines[7].strip() == "ready")


def remove_stale_files(home: Path, socket_folder: Path) -> None:
    """Remove pid files whose number belongs to another process by now: PostgreSQL would refuse to start.

    Only to be called when no server of the directory runs. A file whose process is gone is left to PostgreSQL.
    """
    for file in (home / "postmaster.pid", socket_folder / ".s.PGSQL.5432.lock"):
        pid = _pid(_read_lines(file))
        if pid is not None and psutil.pid_exists(pid):
            file.unlink()


def _is_postgres(pid: int, home: Path, started_at: str) -> bool:
    """Compare the name, the data directory and the start time of a process with those of the server."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE or process.name() != "postgres":
            return False
        words, created_at = process.cmdline(), process.create_time()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    folders = [Path(after) for word, after in pairwise(words) if word == "-D"]
    is_older = not started_at.isdecimal() or created_at <= int(started_at) + CLOCK_SECONDS
    return is_older and any(_is_same(folder, home) for folder in folders)


def _is_same(folder: Path, home: Path) -> bool:
    return folder.exists() and home.exists() and folder.samefile(home)


def _read_lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except FileNotFoundError:
        return []


def _pid(lines: list[str]) -> int | None:
    """Return the number on the first line; a file that was being written has none yet."""
    return int(lines[0]) if lines and lines[0].strip().isdecimal() else None
