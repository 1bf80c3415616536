"""Request bodies: read whole before a route sees them, within a limit for each and a limit for all together."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from starlette.types import Message, Receive

MAX_HELD_BYTES = 100_000_000  # of all large bodies in the memory of a process
SMALL_BODY_BYTES = 65_536  # accepted without a credential and not counted as held; more needs a credential


class BodyTooLarge(Exception):
    """The body has more bytes than allowed."""


class BodyMemoryFull(Exception):
    """The process holds as many bytes of large bodies as allowed."""


class ClientDisconnected(Exception):
    """The client closed the connection before the request or the response was complete."""


class BodyMemory:
    """The bytes of large bodies that a process holds; hundreds of large bodies at once would exhaust its memory."""

    def __init__(self, max_bytes: int = MAX_HELD_BYTES) -> None:
        self._free = max_bytes

    @contextmanager
    def reading(self) -> Iterator["BodyReader"]:
        """Yield a reader for one body; release its bytes at the end."""
        reader = BodyReader(self)
        try:
            yield reader
        finally:
            self._free += reader.held

    def reserve(self, count: int) -> None:
        """Reserve bytes. Raises BodyMemoryFull."""
        if count > self._free:
            raise BodyMemoryFull
        self._free -= count


class BodyReader:
    """Reads one body and reserves its memory."""

    def __init__(self, memory: BodyMemory) -> None:
        self._memory = memory
        self.held = 0

    async def read(
        self,
        receive: Receive,
        max_bytes: int,
        check_credential: Callable[[], Awaitable[None]],
        on_progress: Callable[[int], None],
    ) -> bytes:
        """Return the whole body. Raises BodyTooLarge, BodyMemoryFull or ClientDisconnected.

        A large body is read further only after `check_credential`; `on_progress` receives the number of bytes so far.
        """
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnected
            body += message.get("body", b"")
            if len(body) > max_bytes:
                raise BodyTooLarge
            on_progress(len(body))
            if len(body) > SMALL_BODY_BYTES and not self.held:
                await check_credential()
            self._hold(len(body) - SMALL_BODY_BYTES - self.held)
            if not message.get("more_body"):
                return bytes(body)

    def _hold(self, more: int) -> None:
        if more > 0:
            self._memory.reserve(more)
            self.held += more


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that delivers the body that was read, then the server's further messages."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
