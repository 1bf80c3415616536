"""The tests; each directory by what it needs."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

HOME = "SS_TESTS_HOME"


def home_of_the_run() -> Path:
    """One directory, made by the first process; those that it starts are told of it, so killed ones leave nothing."""
    if HOME not in os.environ:
        os.environ[HOME] = tempfile.mkdtemp(prefix="ss-data-")
        atexit.register(_remove, os.environ[HOME], os.getpid())
    return Path(os.environ[HOME])


def _remove(home: str, maker: int) -> None:
    if os.getpid() == maker:  # and not a fork of it
        shutil.rmtree(home, ignore_errors=True)


# Before our own modules read it: what a test leaves behind, such as a secret key, is not the developer's. A parser's
# process has a bare environment and keeps nothing.
if "PYTEST_VERSION" in os.environ:
    data_home = home_of_the_run() / os.environ.get("PYTEST_XDIST_WORKER", "alone")
    data_home.mkdir(exist_ok=True)
    os.environ["XDG_DATA_HOME"] = str(data_home)
