"""The parts of a benchmark: each prints its result when it ends, and one that fails does not stop the others."""

import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Parts:
    """Runs parts one after another and remembers those that failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    async def run(self, name: str, work: Awaitable[T], show: Callable[[T], object] | None = None) -> T | None:
        """Run a part and show its result; return None if it failed."""
        with self.part(name):
            result = await work
            if show is not None:
                show(result)
            return result
        return None

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Print the name of a part when it ends, and the traceback if it failed."""
        started = time.monotonic()
        try:
            yield
        except Exception:
            self.failed.append(name)
            traceback.print_exc()
            print(f"{name} FAILED after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        else:
            print(f"{name} done in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Exit with 1 and the names of the parts that failed, if any did."""
        if self.failed:
            raise SystemExit(f"FAILED: {', '.join(self.failed)}")
