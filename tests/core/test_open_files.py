"""The limit of open files: raised at the start of a process, and nobody's attempt when it is reached."""

import errno
import subprocess
import sys

from scrapersky.core.open_files import is_out_of_files
from scrapersky.engine.outcomes import OutcomeKind, outcome_of
from scrapersky.engine.tuning import Tuning

RAISED = """
import resource
from scrapersky.core.open_files import raise_open_file_limit
hard = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 2000)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
print(raise_open_file_limit() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard, raise_open_file_limit() == hard)
"""


def test_the_soft_limit_is_raised_to_the_hard_one() -> None:
    done = subprocess.run([sys.executable, "-c", RAISED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def too_many_files() -> Exception:
    try:
        try:
            raise OSError(errno.EMFILE, "Too many open files")
        except OSError as error:
            raise RuntimeError("cannot start") from error
    except RuntimeError as error:
        return error


def test_a_row_that_meets_the_limit_is_postponed_and_its_attempt_does_not_count() -> None:
    outcome = outcome_of(too_many_files(), 99, Tuning(interval_minutes=1, batch_size=1, max_instances=1))
    assert (outcome.kind, outcome.counts, outcome.wait_seconds) == (OutcomeKind.POSTPONED, False, 5.0)
    assert "ulimit -n" in (outcome.error or "")


def test_other_errors_are_not_about_files() -> None:
    assert is_out_of_files(OSError(errno.ENFILE, "table overflow"))
    assert not is_out_of_files(OSError(errno.ECONNREFUSED, "refused"))
    assert not is_out_of_files(None)
