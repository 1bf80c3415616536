"""The DNS server of the sandbox: answers for its own hosts over UDP on loopback."""

import asyncio
from collections import Counter

import dns.exception
import dns.message
import dns.rdatatype

from scrapersky.sandbox.server import dns_zone
from scrapersky.sandbox.world.world import World

Address = tuple[str, int]


class NameServer(asyncio.DatagramProtocol):
    """One socket. `asked` counts the questions by name and kind."""

    def __init__(self, world: World) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        self._world = world
        self._transport: asyncio.DatagramTransport | None = None

    async def listen(self, host: str) -> None:
        """Listen on a free port of this address."""
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, local_addr=(host, 0))

    @property
    def address(self) -> str:
        """Its address and port in the form of CRAWL_DNS_SERVERS."""
        if self._transport is None:
            return ""
        host, port = self._transport.get_extra_info("sockname")[:2]
        return f"{host}:{port}"

    def close(self) -> None:
        """Stop listening."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        """Store the open socket."""
        self._transport = transport

    def datagram_received(self, data: bytes, sender: Address) -> None:
        """Answer a query; an invalid one gets no answer."""
        try:
            query = dns.message.from_wire(data)
        except dns.exception.DNSException:
            return
        if not query.question:
            return
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        self.asked[name, dns.rdatatype.to_text(question.rdtype)] += 1
        reply, seconds = dns_zone.answer(self._world, query)
        asyncio.get_running_loop().call_later(seconds, self._send, reply.to_wire(), sender)

    def _send(self, reply: bytes, receiver: Address) -> None:
        if self._transport is not None:
            self._transport.sendto(reply, receiver)
