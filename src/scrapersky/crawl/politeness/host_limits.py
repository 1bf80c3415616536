"""Limits per host: leased permits for visits, which callers never wait for in a worker's slot."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, Self
from uuid import UUID, uuid4

from scrapersky.core import clock
from scrapersky.core.settings import Settings

MAX_HOSTS = 10_000  # beyond, idle hosts are removed
MIN_WAIT = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """How many visits a host gets at a time, the delay between two, and when an unfinished visit expires."""

    slots: int = 2
    delay: timedelta = timedelta(seconds=1)
    lease: timedelta = timedelta(seconds=120)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the crawler's policy."""
        delay, lease = settings.crawl_host_delay_seconds, settings.crawl_host_lease_seconds
        return cls(settings.crawl_max_concurrency_per_host, timedelta(seconds=delay), timedelta(seconds=lease))


@dataclass(frozen=True, slots=True)
class Permit:
    """The permission for one visit to a host; it expires if it is never released."""

    host: str
    id: UUID


@dataclass(frozen=True, slots=True)
class NotYet:
    """No permit now: try again after this time."""

    after: timedelta


class HostLimits(Protocol):
    """Issues permits, in this process or from the database that all workers share."""

    async def acquire(self, host: str) -> Permit | NotYet:
        """Return a permit if the host has a free slot and its delay is over; the delay then begins again."""

    async def release(self, permit: Permit, pause: timedelta = timedelta(0)) -> None:
        """Free the slot; issue no new permit for this host during `pause`."""


@dataclass(slots=True)
class _Host:
    next_allowed: datetime
    leases: dict[UUID, datetime] = field(default_factory=dict)


class InProcessHostLimits:
    """The limits of a single process: the command line, tests, a single worker."""

    def __init__(self, policy: HostPolicy | None = None, *, now: Callable[[], datetime] = clock.now) -> None:
        self._policy = policy or HostPolicy()
        self._now = now
        self._hosts: dict[str, _Host] = {}

    async def acquire(self, host: str) -> Permit | NotYet:
        """Return a permit, or the time to wait."""
        now, policy = self._now(), self._policy
        state = self._hosts.setdefault(host, _Host(next_allowed=now))
        state.leases = {permit: until for permit, until in state.leases.items() if until > now}
        if state.next_allowed > now:
            return NotYet(state.next_allowed - now)
        if len(state.leases) >= policy.slots:
            # A slot may become free at any moment, at the latest when its lease ends: try again after one delay.
            return NotYet(min(max(policy.delay, MIN_WAIT), min(state.leases.values()) - now))
        permit = Permit(host, uuid4())
        state.leases[permit.id] = now + policy.lease
        state.next_allowed = now + policy.delay
        self._remove_idle(now)
        return permit

    async def release(self, permit: Permit, pause: timedelta = timedelta(0)) -> None:
        """Free the slot; issue no new permit for this host during `pause`."""
        state = self._hosts.get(permit.host)
        if state is not None:
            state.leases.pop(permit.id, None)
            state.next_allowed = max(state.next_allowed, self._now() + pause)

    def _remove_idle(self, now: datetime) -> None:
        if len(self._hosts) > MAX_HOSTS:
            self._hosts = {
                host: state for host, state in self._hosts.items() if state.leases or state.next_allowed > now
            }
