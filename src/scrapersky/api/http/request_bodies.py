"""Bodies of requests: read whole before a route sees them, bounded each and all together."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from starlette.types import Message, Receive

MAX_HELD_BYTES = 100_000_000  # of all large bodies that one process holds at a time, until they are answered
SMALL_BODY_BYTES = 65_536  # so much is taken of everybody, however full it is; more only of those who are known


class BodyTooLarge(Exception):
    """The body has more bytes than it may."""


class BodyMemoryFull(Exception):
    """The process holds as many large bodies as it can."""


class ClientDisconnected(Exception):
    """The client went away before its request was complete."""


class BodyMemory:
    """What a process holds at this moment: hundreds of large bodies at once would fill its memory, known or not."""

    def __init__(self, most: int = MAX_HELD_BYTES) -> None:
        self._room = most

    @contextmanager
    def reading(self) -> Iterator["BodyReader"]:
        """One body; its room is free again at the end."""
        reading = BodyReader(self)
        try:
            yield reading
        finally:
            self._room += reading.taken

    def take(self, count: int) -> None:
        """So many bytes of the room, or Full."""
        if count > self._room:
            raise BodyMemoryFull
        self._room -= count


class BodyReader:
    """One body on its way."""

    def __init__(self, bodies: BodyMemory) -> None:
        self._bodies = bodies
        self.taken = 0

    async def read(
        self,
        receive: Receive,
        most: int,
        refuse_strangers: Callable[[], Awaitable[None]],
        tell: Callable[[int], None],
    ) -> bytes:
        """All of it, or TooLong, Full or Gone; `tell` hears how much is there.

        Strangers are refused when it gets large: to read it costs much.
        """
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnected
            body += message.get("body", b"")
            if len(body) > most:
                raise BodyTooLarge
            tell(len(body))
            if len(body) > SMALL_BODY_BYTES and not self.taken:
                await refuse_strangers()
            self._grow(len(body) - SMALL_BODY_BYTES - self.taken)
            if not message.get("more_body"):
                return bytes(body)

    def _grow(self, more: int) -> None:
        if more > 0:
            self._bodies.take(more)
            self.taken += more


def replay(body: bytes, receive: Receive) -> Receive:
    """Hands over the body that was read, then what the server says."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
