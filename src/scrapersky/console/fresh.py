"""What the pages of one process share for a few seconds: however many tabs request it, the database is read once."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import Request

Value = TypeVar("Value")


@dataclass
class _Entry:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    until: float = 0.0
    value: Any = None


async def fresh(request: Request, key: Hashable, seconds: float, read: Callable[[], Awaitable[Value]]) -> Value:
    """Return what was read under this key within the last seconds; else read it, once for all who wait."""
    entries: dict[Hashable, _Entry] = _entries(request)
    for old in [each for each, one in entries.items() if one.until < time.monotonic() - 60 and not one.lock.locked()]:
        del entries[old]
    entry = entries.setdefault(key, _Entry())
    async with entry.lock:
        if entry.until < time.monotonic():
            entry.value = await read()
            entry.until = time.monotonic() + seconds
        value: Value = entry.value
    return value


def forget(request: Request) -> None:
    """Forget everything: a person has changed something, and the next page must show it."""
    _entries(request).clear()


def _entries(request: Request) -> dict[Hashable, _Entry]:
    state = request.app.state
    if not hasattr(state, "fresh"):
        state.fresh = {}
    entries: dict[Hashable, _Entry] = state.fresh
    return entries
