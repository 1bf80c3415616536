"""The tests; each directory by what it needs.

All that a run leaves lying around is in one directory, which goes with it; SS_TESTS_HOME names another, which stays.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

HOME = "SS_TESTS_HOME"
MEMORY, ROOM = Path("/dev/shm"), 4 << 30  # bytes; a run takes less than half of it


def roomy_memory() -> Path | None:
    """Memory to write to, where there is plenty: a database is hundreds of files, and lives for one test."""
    import psutil  # here, because the processes that tests start need none of this

    if not os.access(MEMORY, os.W_OK):
        return None
    room = min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available)
    return MEMORY if room > ROOM else None


def home_of_the_run() -> Path:
    """Made by the first process; those that it starts are told of it, so that killed ones leave nothing either."""
    if HOME not in os.environ:
        os.environ[HOME] = tempfile.mkdtemp(prefix="ss-tests-", dir=roomy_memory())
        Path(os.environ[HOME]).chmod(0o755)  # a server may run as a user of its own
        atexit.register(_remove, os.environ[HOME], os.getpid())
    return Path(os.environ[HOME]).absolute()


def _remove(home: str, maker: int) -> None:
    if os.getpid() == maker:  # and not a fork of it
        shutil.rmtree(home, ignore_errors=True)


# Before our own modules read it: what a test leaves behind, such as a secret key, is not the developer's. A parser's
# process has a bare environment and keeps nothing.
if "PYTEST_VERSION" in os.environ:
    data_home = home_of_the_run() / os.environ.get("PYTEST_XDIST_WORKER", "alone")
    data_home.mkdir(parents=True, exist_ok=True)
    os.environ |= {"XDG_DATA_HOME": str(data_home), "TMPDIR": str(home_of_the_run())}
    tempfile.tempdir = os.environ["TMPDIR"]
