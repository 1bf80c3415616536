"""`python -m scrapersky.sandbox --seed 7 --businesses 200 --port 0`: serves until it is stopped."""

import argparse
import asyncio
import signal

import uvloop

from scrapersky.sandbox.sandbox import serve


def main() -> None:
    """Read the options and serve."""
    options = argparse.ArgumentParser(
        prog="python -m scrapersky.sandbox", description="Serve the invented web sites and providers on loopback."
    )
    options.add_argument("--seed", type=int, default=7, help="another number makes another world")
    options.add_argument("--businesses", type=int, default=200)
    options.add_argument("--port", type=int, default=0, help="0 takes a free one")
    given = options.parse_args()
    uvloop.run(_until_stopped(given.seed, given.businesses, given.port))


async def _until_stopped(seed: int, businesses: int, port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await serve(seed, businesses, port, stop)


if __name__ == "__main__":
    main()
