"""How many requests a host gets at a time and how often: permits that are leased, never waited for in a worker."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID, uuid4

from scrapersky.core import clock

# Hosts remembered before those that are idle are forgotten.
MAX_HOSTS = 10_000


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """How many visits at a time, how long between two, and when a visit that was never ended lapses."""

    slots: int
    delay: timedelta
    lease: timedelta


@dataclass(frozen=True, slots=True)
class Permit:
    """The right to one visit to a host; it lapses by itself if it is never given back."""

    host: str
    id: UUID


@dataclass(frozen=True, slots=True)
class NotYet:
    """No permit now: ask again after this time."""

    after: timedelta


class HostLimits(Protocol):
    """Where permits come from: this process, or the database that all workers share."""

    async def acquire(self, host: str) -> Permit | NotYet:
        """A permit if the host has a free slot and its next allowed time has come; then that time moves on."""

    async def release(self, permit: Permit, pause: timedelta = timedelta(0)) -> None:
        """Give the slot back; no new permit for this host until `pause` from now has passed."""


@dataclass(slots=True)
class _Host:
    next_allowed: datetime
    leases: dict[UUID, datetime] = field(default_factory=dict)


class InProcessHostLimits:
    """The limits of one process on its own: the command line, tests, a single worker."""

    def __init__(
        self,
        *,
        slots: int = 2,
        delay: timedelta = timedelta(seconds=1),
        lease: timedelta = timedelta(seconds=120),
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._slots = slots
        self._delay = delay
        self._lease = lease
        self._now = now
        self._hosts: dict[str, _Host] = {}

    async def acquire(self, host: str) -> Permit | NotYet:
        """A permit, or how long to stay away."""
        now = self._now()
        state = self._hosts.setdefault(host, _Host(next_allowed=now))
        state.leases = {permit: until for permit, until in state.leases.items() if until > now}
        if state.next_allowed > now:
            return NotYet(state.next_allowed - now)
        if len(state.leases) >= self._slots:
            # A slot may come free any moment, at the latest when its lease ends: look again after one delay.
            return NotYet(min(max(self._delay, timedelta(milliseconds=100)), min(state.leases.values()) - now))
        permit = Permit(host, uuid4())
        state.leases[permit.id] = now + self._lease
        state.next_allowed = now + self._delay
        self._forget_idle(now)
        return permit

    async def release(self, permit: Permit, pause: timedelta = timedelta(0)) -> None:
        """Give the slot back, and keep everyone away for `pause`."""
        state = self._hosts.get(permit.host)
        if state is not None:
            state.leases.pop(permit.id, None)
            state.next_allowed = max(state.next_allowed, self._now() + pause)

    def _forget_idle(self, now: datetime) -> None:
        if len(self._hosts) > MAX_HOSTS:
            self._hosts = {
                host: state for host, state in self._hosts.items() if state.leases or state.next_allowed > now
            }
