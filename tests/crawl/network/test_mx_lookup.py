"""Who takes mail for a domain: a real name server on loopback that answers well, wrongly, slowly or not at all."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from scrapersky.core.errors import BadSetting, Retryable
from scrapersky.core.settings import Settings
from scrapersky.crawl.network.mx_lookup import DnsUnavailable, MxLookup, mx_lookup_of, parse_servers
from scrapersky.extract.emails.deliverability import MailAcceptance, MailDomain

Answer = Callable[[dns.message.Message, str], bytes | None]

ZONE = {
    "plain.fi": {"MX": ["20 two.plain.fi.", "10 one.plain.fi."]},
    "null.fi": {"MX": ["0 ."], "A": ["192.0.2.1"]},
    "home.fi": {"MX": ["0 localhost."]},
    "address.fi": {"A": ["9.9.9.9"]},
    "six.fi": {"AAAA": ["2620:fe::fe"]},
    "both.fi": {"A": ["10.0.0.1"], "AAAA": ["2620:fe::fe"]},
    "inside.fi": {"A": ["10.0.0.1", "127.0.0.1"], "AAAA": ["fd00::1"]},
    "silent.fi": {"A": ["192.0.2.1"], "TXT": ['"v=spf1 -all"']},
    "split.fi": {"A": ["192.0.2.1"], "TXT": ['"google-site-verification=x"', '"v=spf1" " -all"']},
    "sends.fi": {"A": ["9.9.9.9"], "TXT": ['"v=spf1 include:_spf.sends.fi -all"']},
    "empty.fi": {},
    "many.fi": {"MX": [f"{n} mx{n}.many.fi." for n in range(40)]},
    "alias.fi": {"CNAME": ["plain.fi."]},
}


def well(query: dns.message.Message, kind: str) -> bytes:
    """Build a response from the zone, with aliases resolved."""
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.RA
    name = query.question[0].name
    records = ZONE.get(name.to_text(omit_final_dot=True))
    if records is None:
        reply.set_rcode(dns.rcode.NXDOMAIN)
        return reply.to_wire()
    for alias in records.get("CNAME", ()):
        reply.answer.append(dns.rrset.from_text(name, 300, "IN", "CNAME", alias))
        name = dns.name.from_text(alias)
        records = ZONE[name.to_text(omit_final_dot=True)]
    if kind in records:
        reply.answer.append(dns.rrset.from_text_list(name, 300, "IN", kind, records[kind]))
    return reply.to_wire()


def fails(query: dns.message.Message, kind: str) -> bytes:
    reply = dns.message.make_response(query)
    reply.set_rcode(dns.rcode.SERVFAIL)
    return reply.to_wire()


def refuses(query: dns.message.Message, kind: str) -> bytes:
    reply = dns.message.make_response(query)
    reply.set_rcode(dns.rcode.REFUSED)
    return reply.to_wire()


class Server(asyncio.DatagramProtocol):
    """Answers over UDP as it is told, and over TCP well; counts what it was asked."""

    def __init__(self, answer: Answer = well) -> None:
        self.answer = answer
        self.asked: Counter[tuple[str, str]] = Counter()
        self.over_tcp = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.under_way = 0
        self.most_under_way = 0
        self._answering: set[asyncio.Task[None]] = set()

    def connection_made(self, transport):
        self.transport = transport
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data, sender):
        task = asyncio.create_task(self._answer(data, sender))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, data, sender):
        query, kind = self._note(data)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await self.gate.wait()
        self.under_way -= 1
        reply = self.answer(query, kind)
        if reply is not None:
            self.transport.sendto(reply, sender)

    async def on_tcp(self, reader, writer):
        length = int.from_bytes(await reader.readexactly(2), "big")
        query, kind = self._note(await reader.readexactly(length))
        self.over_tcp += 1
        reply = well(query, kind)
        writer.write(len(reply).to_bytes(2, "big") + reply)
        await writer.drain()
        writer.close()

    def _note(self, data):
        query = dns.message.from_wire(data)
        name, kind = query.question[0].name, dns.rdatatype.to_text(query.question[0].rdtype)
        self.asked[name.to_text(omit_final_dot=True), kind] += 1
        return query, kind


@asynccontextmanager
async def serving(answer: Answer = well, *, tcp: bool = False) -> AsyncIterator[Server]:
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: Server(answer), local_addr=("127.0.0.1", 0))
    listener = await asyncio.start_server(server.on_tcp, "127.0.0.1", server.port) if tcp else None
    try:
        yield server
    finally:
        transport.close()
        if listener is not None:
            listener.close()


@asynccontextmanager
async def asking(*servers: Server, **options) -> AsyncIterator[MxLookup]:
    hosts = MxLookup([("127.0.0.1", server.port) for server in servers], **{"seconds": 2.0, **options})
    try:
        yield hosts
    finally:
        await hosts.close()


@pytest.mark.parametrize(
    ("domain", "mail"),
    [
        ("plain.fi", MailDomain(MailAcceptance.MX_HOSTS, ("one.plain.fi", "two.plain.fi"))),
        ("alias.fi", MailDomain(MailAcceptance.MX_HOSTS, ("one.plain.fi", "two.plain.fi"))),
        ("null.fi", MailDomain(MailAcceptance.NULL_MX)),
        ("home.fi", MailDomain(MailAcceptance.NULL_MX)),
        ("address.fi", MailDomain(MailAcceptance.ADDRESS_ONLY)),
        ("six.fi", MailDomain(MailAcceptance.ADDRESS_ONLY)),
        ("both.fi", MailDomain(MailAcceptance.ADDRESS_ONLY)),
        ("inside.fi", MailDomain(MailAcceptance.PRIVATE_ADDRESS)),
        ("sends.fi", MailDomain(MailAcceptance.ADDRESS_ONLY)),
        ("silent.fi", MailDomain(MailAcceptance.SPF_DENIES_ALL)),
        ("split.fi", MailDomain(MailAcceptance.SPF_DENIES_ALL)),
        ("empty.fi", MailDomain(MailAcceptance.NO_HOST)),
        ("nobody.fi", MailDomain(MailAcceptance.NO_DOMAIN)),
    ],
)
async def test_the_records_decide_which_hosts_accept_mail(domain, mail):
    async with serving() as server, asking(server) as hosts:
        assert await hosts.lookup(domain) == mail


async def test_of_many_mail_hosts_the_first_ten_are_kept():
    async with serving() as server, asking(server) as hosts:
        assert (await hosts.lookup("many.fi")).hosts == tuple(f"mx{n}.many.fi" for n in range(10))


async def test_a_domain_with_mail_hosts_needs_one_query():
    async with serving() as server, asking(server) as hosts:
        await hosts.lookup("plain.fi")
        assert server.asked == {("plain.fi", "MX"): 1}


@pytest.mark.parametrize("answer", [fails, refuses])
async def test_an_error_of_the_name_servers_is_not_a_result(answer):
    async with serving(answer) as server, asking(server) as hosts:
        with pytest.raises(DnsUnavailable, match=r"plain\.fi") as caught:
            await hosts.lookup("plain.fi")
        assert isinstance(caught.value, Retryable)


async def test_an_error_is_not_cached():
    async with serving(fails) as server, asking(server) as hosts:
        with pytest.raises(DnsUnavailable):
            await hosts.lookup("plain.fi")
        server.answer = well
        assert (await hosts.lookup("plain.fi")).acceptance is MailAcceptance.MX_HOSTS


async def test_a_silent_server_is_not_waited_for_beyond_the_timeout():
    async with serving(lambda *_: None) as server, asking(server, seconds=0.3) as hosts:
        async with asyncio.timeout(90):
            with pytest.raises(DnsUnavailable, match="in time"):
                await hosts.lookup("plain.fi")


async def test_a_lost_packet_is_retried():
    lost = iter([None])

    def loses_one(query, kind):
        return next(lost, well(query, kind))

    async with serving(loses_one) as server, asking(server, seconds=3.0) as hosts:
        assert (await hosts.lookup("plain.fi")).acceptance is MailAcceptance.MX_HOSTS
        assert server.asked["plain.fi", "MX"] == 2


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\x00",
        b"\xff" * 512,
        b"HTTP/1.1 200 OK\r\n\r\n",
    ],
)
async def test_an_invalid_response_is_unavailable(garbage):
    async with serving(lambda *_: garbage) as server, asking(server, seconds=0.3) as hosts:
        async with asyncio.timeout(90):
            with pytest.raises(DnsUnavailable):
                await hosts.lookup("plain.fi")


async def test_a_response_to_another_query_is_ignored():
    def about_another(query, kind):
        other = dns.message.make_query("alias.fi", "MX")
        other.id = query.id
        return well(other, "MX")

    async with serving(about_another) as server, asking(server, seconds=0.3) as hosts:
        with pytest.raises(DnsUnavailable):
            await hosts.lookup("nobody.fi")


async def test_a_truncated_response_is_repeated_over_tcp():
    def cut_off(query, kind):
        reply = dns.message.make_response(query)
        reply.flags |= dns.flags.TC
        return reply.to_wire()

    async with serving(cut_off, tcp=True) as server, asking(server) as hosts:
        assert (await hosts.lookup("plain.fi")).acceptance is MailAcceptance.MX_HOSTS
        assert server.over_tcp == 1


async def test_the_second_server_is_used_if_the_first_fails():
    async with serving(fails) as broken, serving() as well_one, asking(broken, well_one) as hosts:
        assert (await hosts.lookup("plain.fi")).acceptance is MailAcceptance.MX_HOSTS


async def test_concurrent_lookups_of_a_domain_share_one_query():
    async with serving() as server, asking(server) as hosts:
        server.gate.clear()
        asked = [asyncio.create_task(hosts.lookup("plain.fi")) for _ in range(50)]
        while not server.under_way:
            await asyncio.sleep(0)
        server.gate.set()
        assert {(await one).acceptance for one in asked} == {MailAcceptance.MX_HOSTS}
        assert server.asked["plain.fi", "MX"] == 1


async def test_a_cancelled_caller_does_not_cancel_the_lookup_of_others():
    async with serving() as server, asking(server) as hosts:
        server.gate.clear()
        first, second = asyncio.create_task(hosts.lookup("plain.fi")), asyncio.create_task(hosts.lookup("plain.fi"))
        while not server.under_way:
            await asyncio.sleep(0)
        first.cancel()
        server.gate.set()
        assert (await second).acceptance is MailAcceptance.MX_HOSTS
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_the_number_of_concurrent_lookups_is_bounded():
    async with serving() as server, asking(server, concurrency=3) as hosts:
        server.gate.clear()
        asked = [asyncio.create_task(hosts.lookup(f"firm{n}.fi")) for n in range(12)]
        while server.under_way < 3:
            await asyncio.sleep(0)
        server.gate.set()
        await asyncio.gather(*asked)
        assert server.most_under_way == 3


async def test_a_result_is_cached_for_its_time_to_live():
    now = [1000.0]
    async with serving() as server, asking(server, clock=lambda: now[0]) as hosts:
        for elapsed, questions in ((0, 1), (299, 1), (301, 2)):
            now[0] = 1000.0 + elapsed
            await hosts.lookup("plain.fi")
            assert server.asked["plain.fi", "MX"] == questions


async def test_the_cache_is_bounded_and_drops_the_oldest():
    async with serving() as server, asking(server, max_cached=2) as hosts:
        for domain in ("plain.fi", "null.fi", "home.fi", "home.fi", "null.fi", "plain.fi"):
            await hosts.lookup(domain)
        assert server.asked["home.fi", "MX"] == server.asked["null.fi", "MX"] == 1
        assert server.asked["plain.fi", "MX"] == 2


async def test_closing_cancels_running_lookups():
    async with serving(lambda *_: None) as server, asking(server, seconds=60.0) as hosts:
        waiting = asyncio.create_task(hosts.lookup("plain.fi"))
        while not server.asked:
            await asyncio.sleep(0)
        await hosts.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting


def test_the_servers_are_read_from_the_setting():
    assert parse_servers("") == []
    assert parse_servers("9.9.9.9, 127.0.0.1:5353,[2620:fe::fe]:5300, 2620:fe::9") == [
        ("9.9.9.9", 53),
        ("127.0.0.1", 5353),
        ("2620:fe::fe", 5300),
        ("2620:fe::9", 53),
    ]


@pytest.mark.parametrize("wrong", ["dns.example", "9.9.9.9:0", "9.9.9.9:99999", "nonsense", "9.9.9.9:dns"])
def test_a_setting_without_a_valid_server_stops_the_start(wrong):
    with pytest.raises(BadSetting, match="CRAWL_DNS_SERVERS"):
        mx_lookup_of(Settings(CRAWL_DNS_SERVERS=wrong))
