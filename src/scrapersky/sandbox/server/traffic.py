"""Request counts per host, to verify politeness."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class HostTraffic:
    """The requests that one host got."""

    requests: int = 0
    at_once: int = 0  # now
    max_concurrent: int = 0
    started: list[float] = field(default_factory=list)  # seconds on the clock of the sandbox
    guests: set[str] = field(default_factory=set)  # the addresses they came from

    @property
    def min_gap_seconds(self) -> float | None:
        """The shortest time between the beginnings of two requests; None where there were not two."""
        gaps = (later - earlier for earlier, later in zip(self.started, self.started[1:], strict=False))
        return min(gaps, default=None)


class Traffic:
    """Counts per host. A request is in flight from its last byte until the last byte of its response."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.hosts: dict[str, HostTraffic] = {}
        self._clock = clock

    def __getitem__(self, host: str) -> HostTraffic:
        return self.hosts.get(host, HostTraffic())

    @property
    def requests(self) -> int:
        """All of them."""
        return sum(host.requests for host in self.hosts.values())

    def begin(self, host: str, guest: str = "") -> None:
        """Count the start of a request."""
        entry = self.hosts.setdefault(host, HostTraffic())
        entry.requests += 1
        entry.at_once += 1
        entry.max_concurrent = max(entry.max_concurrent, entry.at_once)
        entry.started.append(self._clock())
        entry.guests.add(guest)

    def end(self, host: str) -> None:
        """Count the end of a request."""
        self.hosts[host].at_once -= 1

    def forget(self) -> None:
        """Reset the counts; requests in flight stay counted."""
        self.hosts = {
            host: HostTraffic(at_once=entry.at_once, max_concurrent=entry.at_once)
            for host, entry in self.hosts.items()
            if entry.at_once
        }

    def report(self) -> dict[str, dict[str, Any]]:
        """Return the counts as JSON values."""
        return {
            host: {
                "requests": entry.requests,
                "max_concurrent": entry.max_concurrent,
                "min_gap_seconds": entry.min_gap_seconds,
                "guests": sorted(entry.guests),
            }
            for host, entry in self.hosts.items()
        }
