"""The signals that stop a process in good order."""

import signal


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return SIGTERM, SIGINT and SIGHUP, that of a closed terminal; without SIGHUP where `nohup` ignores it."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *(() if is_ignored else (signal.SIGHUP,)))
