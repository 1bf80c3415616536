"""The name server of the sandbox: the ordinary lookup gets what the truth says, and garbage gets nothing."""

import asyncio

import dns.asyncresolver
import dns.nameserver
import dns.resolver
import pytest

from scrapersky.core import clock
from scrapersky.core.settings import Settings
from scrapersky.crawl.network.mx_lookup import DnsUnavailable, mx_lookup_of, parse_servers
from scrapersky.extract.emails.deliverability import inspect_address, verify_email
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.server.dns_zone import DECK, SLOW_SECONDS, MailSetup, mail_setup_of
from scrapersky.sandbox.truth import compare_verdicts


async def test_the_ordinary_lookup_gives_every_true_address_its_true_verdict(sandbox: Sandbox):
    hosts = mx_lookup_of(Settings(CRAWL_DNS_SERVERS=sandbox.environment()["CRAWL_DNS_SERVERS"]))
    emails = [one["value"] for entry in sandbox.truth() for one in entry["emails"]]

    async def verdict(email: str) -> str:
        address = inspect_address(email)
        try:
            mail = await hosts.lookup(address.domain)
        except DnsUnavailable:
            mail = None
        return verify_email(address, mail, clock.now()).verdict.value

    found = dict(zip(emails, await asyncio.gather(*map(verdict, emails)), strict=True))
    score = compare_verdicts(found, sandbox.truth())

    assert score.true == score.found == score.right > 300
    assert set(found.values()) == {"deliverable", "risky", "undeliverable", "unknown"}


def test_the_shares_are_exact_and_most_take_mail(sandbox: Sandbox):
    assert len(DECK) == 100
    assert DECK.count(MailSetup.HOSTS) > 75
    assert set(DECK) == set(MailSetup)


async def test_a_name_that_is_nobody_s_does_not_exist_and_free_mailboxes_do(sandbox: Sandbox):
    resolver = dns.asyncresolver.Resolver(configure=False)
    resolver.nameservers = [dns.nameserver.Do53Nameserver(*one) for one in parse_servers(sandbox.names.address)]

    with pytest.raises(dns.resolver.NXDOMAIN):
        await resolver.resolve("wikipedia.org.", "A")

    assert [record.to_text() for record in await resolver.resolve("gmail.com.", "MX")]


async def test_a_slow_domain_takes_its_time_and_holds_up_nobody(sandbox: Sandbox):
    world = sandbox.world
    slow, quick = (
        next(business.host for business in world if business.host and mail_setup_of(world, business.host) is post)
        for post in (MailSetup.SLOW, MailSetup.HOSTS)
    )
    hosts = mx_lookup_of(Settings(CRAWL_DNS_SERVERS=sandbox.names.address))
    loop = asyncio.get_running_loop()
    began = loop.time()
    waiting = asyncio.create_task(hosts.lookup(slow))

    await hosts.lookup(quick)

    assert not waiting.done()
    await waiting
    assert loop.time() - began >= SLOW_SECONDS


async def test_garbage_gets_no_answer_and_does_no_harm(sandbox: Sandbox):
    [(host, port)] = parse_servers(sandbox.names.address)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=(host, port)
    )
    for garbage in (b"", b"\x00" * 12, b"\xff" * 600):
        transport.sendto(garbage)
    hosts = mx_lookup_of(Settings(CRAWL_DNS_SERVERS=sandbox.names.address))

    assert (await hosts.lookup("gmail.com")).hosts

    transport.close()
    assert set(sandbox.names.asked) == {("gmail.com", "MX")}


async def test_the_server_is_gone_with_the_sandbox():
    async with Sandbox(7, 20) as sandbox:
        assert sandbox.environment()["CRAWL_DNS_SERVERS"].startswith("127.0.0.1:")
    assert sandbox.names.address == ""


def test_comparing_counts_what_is_right_wrong_and_untold():
    truth = [{"emails": [{"value": "a@x.fi", "verdict": "risky"}, {"value": "b@x.fi", "verdict": "unknown"}]}]
    score = compare_verdicts({"A@x.fi": "risky", "b@x.fi": None, "nobody@x.fi": "risky"}, truth)
    assert (score.true, score.found, score.right) == (2, 1, 1)
