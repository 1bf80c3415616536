"""The signals that stop a process in good order."""

import errno
import os
import signal
import termios

OUTPUTS = (1, 2)  # standard output and standard error


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return SIGTERM, SIGINT and SIGHUP, that of a closed terminal; without SIGHUP where `nohup` ignores it."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *(() if is_ignored else (signal.SIGHUP,)))


def leave_closed_terminal() -> None:
    """Send what is printed nowhere if the terminal is closed: each write to it would raise an error."""
    for output in OUTPUTS:
        try:
            termios.tcgetattr(output)
        except termios.error as error:
            if error.args[0] == errno.EIO:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, output)
                os.close(nowhere)
