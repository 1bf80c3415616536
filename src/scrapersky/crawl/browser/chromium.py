"""One Chromium process, driven over a pipe by the DevTools protocol, and its end."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import psutil

from scrapersky.crawl.browser.errors import BrowserFailed
from scrapersky.crawl.browser.program import BrowserOptions, command_line, environment

Event = Callable[[str, Mapping[str, Any]], None]
MAX_FILE_BYTES = 100_000_000  # of one file that it writes
JSON_FACTOR = 6  # a character of a page takes up to six bytes of a message: \u003C
WATCH_SECONDS = 0.2
END_CHECKS, END_CHECK_SECONDS = 250, 0.02


class Chromium:
    """A Chromium with a fresh profile, which is killed with all its children."""

    def __init__(self, process: Process, closed_port: socket.socket, on_event: Event) -> None:
        self._process = process
        self._closed_port = closed_port
        self._on_event = on_event
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._calls = 0
        self._end_reason = "ended unexpectedly"
        self._reader = asyncio.create_task(self._read_messages())

    @classmethod
    async def start(cls, options: BrowserOptions, profile: Path, prefix: tuple[str, ...], on_event: Event) -> Self:
        """Start the process in a session of its own."""
        closed_port = socket.socket()  # bound and not listening: connections are refused, and nobody else can have it
        try:
            closed_port.bind(("127.0.0.1", 0))
            process = await asyncio.create_subprocess_exec(
                *command_line(options, profile, closed_port.getsockname()[1], prefix),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=environment(profile),
                start_new_session=True,
                limit=options.page_bytes * JSON_FACTOR // 2,
            )
        except BaseException:
            closed_port.close()
            raise
        _limit(process.pid)
        return cls(process, closed_port, on_event)

    async def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol and return its result. Raises BrowserFailed."""
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        answer = self._answers[self._calls] = asyncio.get_running_loop().create_future()
        if self._reader.done() or self._process.stdin is None:
            raise BrowserFailed(self._end_reason)
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        try:
            await self._process.stdin.drain()
            found = await answer
        except OSError:
            raise BrowserFailed(self._end_reason) from None
        finally:
            self._answers.pop(message["id"], None)  # type: ignore[call-overload]
        if "error" in found:
            raise BrowserFailed(f"refuses {method}: {str(found['error'].get('message'))[:200]}")
        return dict(found["result"])

    async def watch_memory(self, max_bytes: int) -> None:
        """Kill the browser as soon as it and its children take more memory."""
        while True:
            if await asyncio.to_thread(_memory, self._process.pid) > max_bytes:
                self.kill(f"needed more than {max_bytes // 1_000_000} MB of memory")
                return
            await asyncio.sleep(WATCH_SECONDS)

    def kill(self, reason: str) -> None:
        """Kill the process and its children; every call in flight fails with this reason."""
        self._end_reason = reason
        _kill_group(self._process.pid)

    async def end(self) -> None:
        """Kill the process and its children, and wait for their end."""
        _kill_group(self._process.pid)
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
        self._closed_port.close()
        for _ in range(END_CHECKS):  # the children are killed, but not waited for by us
            if not _kill_group(self._process.pid):
                return
            await asyncio.sleep(END_CHECK_SECONDS)

    async def _read_messages(self) -> None:
        output = self._process.stdout
        if output is None:
            return
        try:
            while True:
                message = json.loads((await output.readuntil(b"\0"))[:-1])
                if (answer := self._answers.get(message.get("id"))) is not None:
                    if not answer.done():
                        answer.set_result(message)
                elif "method" in message:
                    self._on_event(message["method"], message.get("params", {}))
        except asyncio.LimitOverrunError:
            self.kill("drew a page that is too long")
        except (asyncio.IncompleteReadError, OSError, ValueError):
            self.kill(self._end_reason)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(BrowserFailed(self._end_reason))


def _limit(pid: int) -> None:
    """Set limits that the children inherit: the size of a file, no core dump. Chromium needs 16 GB of address space."""
    if not hasattr(resource, "prlimit"):
        return  # not Linux
    for kind, value in ((resource.RLIMIT_FSIZE, MAX_FILE_BYTES), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ProcessLookupError, ValueError):
            resource.prlimit(pid, kind, (value, value))


def _memory(pid: int) -> int:
    """Return the memory of a process and its children; what they share is counted once."""
    total = 0
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                memory = process.memory_full_info()
                total += getattr(memory, "pss", memory.uss)
    return total


def _kill_group(pid: int) -> bool:
    """Kill the processes of a group; return whether there was one."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True
