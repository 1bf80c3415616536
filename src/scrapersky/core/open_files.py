"""The limit of open files of a process: raised at its start, and recognised when it is reached."""

import errno
import resource

MAX_OPEN_FILES = 65_536


def raise_open_file_limit() -> int:
    """Raise the soft limit of open files to the hard limit, up to MAX_OPEN_FILES; return the limit that is in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft  # macOS refuses more than its own maximum
    return wanted


def is_out_of_files(error: BaseException | None) -> bool:
    """Return whether the process or the machine had no free file descriptor when this was raised, or its cause."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
