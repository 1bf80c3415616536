"""Host limits in one process: slots, delays, leases and pauses on a clock that the test moves."""

from datetime import UTC, datetime, timedelta

import pytest

from scrapersky.crawl.politeness.host_limits import HostPolicy, InProcessHostLimits, NotYet, Permit


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limits(clock: Clock) -> InProcessHostLimits:
    return InProcessHostLimits(HostPolicy(slots=2, delay=timedelta(seconds=1), lease=timedelta(seconds=60)), now=clock)


async def taken(limits: InProcessHostLimits, host: str = "a.example") -> Permit:
    permit = await limits.acquire(host)
    assert isinstance(permit, Permit)
    return permit


async def test_the_second_visit_waits_for_the_delay(limits: InProcessHostLimits, clock: Clock) -> None:
    await taken(limits)
    clock.move(0.4)
    assert await limits.acquire("a.example") == NotYet(timedelta(seconds=0.6))
    clock.move(0.6)
    await taken(limits)


async def test_one_host_does_not_delay_another(limits: InProcessHostLimits) -> None:
    await taken(limits, "a.example")
    await taken(limits, "b.example")


async def test_no_more_visits_at_a_time_than_slots(limits: InProcessHostLimits, clock: Clock) -> None:
    first = await taken(limits)
    clock.move(1)
    await taken(limits)
    clock.move(1)
    assert await limits.acquire("a.example") == NotYet(timedelta(seconds=1))
    await limits.release(first)
    await taken(limits)


async def test_the_permit_of_an_unfinished_visit_expires(limits: InProcessHostLimits, clock: Clock) -> None:
    await taken(limits)
    clock.move(1)
    await taken(limits)
    clock.move(60)
    await taken(limits)


async def test_no_permit_is_issued_during_a_pause(limits: InProcessHostLimits, clock: Clock) -> None:
    await limits.release(await taken(limits), timedelta(seconds=30))
    clock.move(29)
    assert await limits.acquire("a.example") == NotYet(timedelta(seconds=1))
    clock.move(1)
    await taken(limits)


async def test_a_permit_released_twice_frees_one_slot(limits: InProcessHostLimits, clock: Clock) -> None:
    first = await taken(limits)
    clock.move(1)
    await taken(limits)
    await limits.release(first)
    await limits.release(first)
    clock.move(1)
    await taken(limits)
    clock.move(1)
    assert isinstance(await limits.acquire("a.example"), NotYet)


async def test_idle_hosts_are_removed(
    limits: InProcessHostLimits, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapersky.crawl.politeness.host_limits.MAX_HOSTS", 10)
    for number in range(50):
        await limits.release(await taken(limits, f"{number}.example"))
        clock.move(2)
    assert len(limits._hosts) <= 11
