"""The folders of the embedded server: the data directory, created whole or not at all, and one for its socket."""

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from scrapersky.core.embedded.programs import VERSION, give_to_server, owner_id, run_program
from scrapersky.core.errors import BadSetting

SOCKET_NAME = ".s.PGSQL.5432"
MAX_SOCKET_PATH = 103  # bytes; Linux allows 107, macOS 103
UNFINISHED = ".unfinished-"  # in the names of data directories that are being made
# Letters of all languages, on every machine: that of the terminal may be unknown to it, or know ASCII alone.
LOCALE = ("--encoding=utf8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")


def create_data_directory(home: Path) -> None:
    """Create the data directory unless it exists: beside its place, then moved there, so that it is never half made.

    To be called by one process at a time. Raises BadSetting if it belongs to another version.
    """
    for left in home.parent.glob(f"{home.name}{UNFINISHED}*"):  # of processes that were killed
        shutil.rmtree(left, ignore_errors=True)
    if _is_complete(home):
        return
    if home.exists() and any(home.iterdir()):
        home.rename(tempfile.mkdtemp(prefix=f"{home.name}.incomplete-", dir=home.parent))
    new = Path(tempfile.mkdtemp(prefix=f"{home.name}{UNFINISHED}", dir=home.parent))
    give_to_server(new)
    # trust: only the owner and root can open the socket, which is in a directory of mode 0700.
    run_program("initdb", "--auth=trust", *LOCALE, "-U", "postgres", "-D", str(new))
    new.rename(home)


def choose_socket_folder(home: Path) -> Path:
    """Return the folder of the socket: the data directory or, if its path is too long for a socket, a private one.

    Raises BadSetting if there is none that only the owner can enter.
    """
    if _fits(home):
        return home
    name = hashlib.sha256(str(home).encode()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"scrapersky-{owner_id()}-{name}"
    if not _fits(folder):
        raise BadSetting(
            f"SCRAPERSKY_DATA_DIR={home.parent} is too long a path for the socket of a database, "
            "and so is that of the temporary directory. Name a shorter one."
        )
    try:
        folder.mkdir(mode=0o700)
        give_to_server(folder)
    except FileExistsError:
        pass  # ours from an earlier start, or another user's: checked next
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner_id() or found.st_mode & 0o077:
        raise BadSetting(
            f"SCRAPERSKY_DATA_DIR={home.parent} is too long a path for the socket of a database, and {folder} "
            "can be used by other users. Remove it, or name a shorter directory."
        )
    return folder


def _is_complete(home: Path) -> bool:
    """Tell whether there is a data directory of this version. Raises BadSetting if it is of another one."""
    marker = home / "PG_VERSION"
    if not marker.exists() or not (home / "global" / "pg_control").exists():
        return False
    if (version := marker.read_text().strip()) != str(VERSION):
        raise BadSetting(
            f"SCRAPERSKY_DATA_DIR={home.parent} holds a database of PostgreSQL {version}, not {VERSION}. "
            "Name another directory."
        )
    return True


def _fits(folder: Path) -> bool:
    """Tell whether clients can open a socket in the folder; a comma separates hosts for them."""
    return len(os.fsencode(folder / SOCKET_NAME)) <= MAX_SOCKET_PATH and "," not in str(folder)
