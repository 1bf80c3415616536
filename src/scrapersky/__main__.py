"""`python -m scrapersky` is the `scrapersky` command."""

import signal
import sys

from scrapersky.core.stop_signals import stop_signals

SERVICES = ("serve", "worker")  # a signal ends them with 0 at any moment, also before everything is imported


def main() -> None:
    """Run the `scrapersky` command."""
    if sys.argv[1:2] and sys.argv[1] in SERVICES:
        for number in stop_signals():
            signal.signal(number, _exit)
    from scrapersky.cli import main as run_command

    run_command()


def _exit(_number: int, _frame: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    main()
