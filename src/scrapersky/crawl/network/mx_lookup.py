"""Who takes mail for a domain, as the name servers say it. No mail host is ever connected to."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import dns.asyncresolver
import dns.exception
import dns.nameserver
import dns.rdatatype
import dns.resolver
from dns.rdata import Rdata
from dns.rdtypes.ANY.MX import MX
from dns.rdtypes.ANY.TXT import TXT
from dns.rdtypes.IN.A import A
from dns.rdtypes.IN.AAAA import AAAA

from scrapersky.core.errors import BadSetting, TryAgain
from scrapersky.core.settings import Settings
from scrapersky.crawl.network.ip_ranges import parse_address, split_host_port, why_denied
from scrapersky.extract.emails.deliverability import MailAcceptance, MailDomain

REMEMBERED = 20_000  # domains of one process
SHORTEST_SECONDS, MAX_SECONDS = 60.0, 3600.0  # a shorter or longer time to live is brought to these
ABSENT_SECONDS = 300.0  # what was not there is asked for again after so long
TRIES = 3  # within the wait: a lost packet is no lost answer
MAX_HOSTS = 10
DNS_PORT = 53


class NoAnswerFromNames(TryAgain):
    """The name servers give no answer."""


class Remembered(NamedTuple):
    """An answer, and until when it holds."""

    mail: MailDomain
    until: float


class MxLookup:
    """Looks domains up: each once at a time, so many at once, answers kept for their time to live.

    `servers` are asked in their order; none means those of this machine.
    """

    def __init__(
        self,
        servers: Iterable[tuple[str, int]] = (),
        *,
        at_once: int = 32,
        seconds: float = 5.0,
        remembered: int = REMEMBERED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._servers = tuple(servers)
        self._free = asyncio.Semaphore(at_once)
        self._seconds = seconds
        self._most = remembered
        self._clock = clock
        self._resolver: dns.asyncresolver.Resolver | None = None
        self._answers: dict[str, Remembered] = {}
        self._asking: dict[str, asyncio.Task[MailDomain]] = {}

    async def of(self, domain: str) -> MailDomain:
        """Who takes mail for this domain (in the letters of DNS); NoAnswerFromNames when that cannot be learnt now."""
        known = self._answers.get(domain)
        if known is not None and known.until > self._clock():
            return known.mail
        asking = self._asking.get(domain)
        if asking is None:
            asking = asyncio.create_task(self._ask(domain), name=f"mail hosts of {domain}")
            self._asking[domain] = asking
            asking.add_done_callback(lambda done: self._answered(domain, done))
        return await asyncio.shield(asking)  # somebody who stops waiting takes the answer from nobody else

    async def close(self) -> None:
        """Ask nothing more."""
        waiting = list(self._asking.values())
        for asking in waiting:
            asking.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def _answered(self, domain: str, asking: "asyncio.Task[MailDomain]") -> None:
        del self._asking[domain]
        if not asking.cancelled():
            asking.exception()  # whoever waits is told; here it only counts as looked at

    async def _ask(self, domain: str) -> MailDomain:
        try:
            async with self._free:
                mail, ttl = await self._look_up(domain)
        except (dns.resolver.LifetimeTimeout, dns.resolver.NoNameservers) as error:
            why = "in time" if isinstance(error, dns.resolver.LifetimeTimeout) else "but an error"
            raise NoAnswerFromNames(f"The name servers of {domain} gave no answer {why}.") from None
        except dns.exception.DNSException as error:
            raise NoAnswerFromNames(f"The answer about {domain} makes no sense ({type(error).__name__}).") from None
        self._remember(domain, mail, ttl)
        return mail

    async def _look_up(self, domain: str) -> tuple[MailDomain, float]:
        try:
            answer = await self._query(domain, dns.rdatatype.MX)
        except dns.resolver.NXDOMAIN:
            return MailDomain(MailAcceptance.NO_DOMAIN), ABSENT_SECONDS
        if answer.rrset is not None:
            records = sorted((record for record in answer if isinstance(record, MX)), key=lambda mx: mx.preference)
            return _by_records([record.exchange.to_text(omit_final_dot=True) for record in records]), answer.rrset.ttl
        return await self._without_records(domain)

    async def _without_records(self, domain: str) -> tuple[MailDomain, float]:
        """No mail host is named: an address would do, unless the domain says that it has nothing to do with mail."""
        kinds = (dns.rdatatype.A, dns.rdatatype.AAAA, dns.rdatatype.TXT)
        try:
            ipv4, ipv6, texts = [await self._query(domain, kind) for kind in kinds]
        except dns.resolver.NXDOMAIN:
            return MailDomain(MailAcceptance.NO_DOMAIN), ABSENT_SECONDS
        if any(isinstance(record, TXT) and _sends_nothing(record) for record in texts):
            return MailDomain(MailAcceptance.SPF_DENIES_ALL), ABSENT_SECONDS
        found = ipv4.rrset or ipv6.rrset
        if not found:
            return MailDomain(MailAcceptance.NO_HOST), ABSENT_SECONDS
        is_public = any(_is_public(record) for record in (*ipv4, *ipv6))
        return MailDomain(MailAcceptance.ADDRESS_ONLY if is_public else MailAcceptance.PRIVATE_ADDRESS), found.ttl

    async def _query(self, domain: str, kind: dns.rdatatype.RdataType) -> dns.resolver.Answer:
        if self._resolver is None:
            self._resolver = _resolver(self._servers, self._seconds)
        # With its last dot, so that no search list of this machine is tried behind it.
        return await self._resolver.resolve(f"{domain}.", kind, raise_on_no_answer=False)

    def _remember(self, domain: str, mail: MailDomain, ttl: float) -> None:
        if len(self._answers) >= self._most:
            del self._answers[next(iter(self._answers))]  # the oldest
        self._answers.pop(domain, None)
        seconds = min(max(ttl, SHORTEST_SECONDS), MAX_SECONDS)
        self._answers[domain] = Remembered(mail, self._clock() + seconds)


def mail_hosts_of(settings: Settings) -> MxLookup:
    """As the settings want it."""
    return MxLookup(
        parse_servers(settings.crawl_dns_servers),
        at_once=settings.crawl_max_dns_lookups,
        seconds=settings.crawl_dns_timeout_seconds,
    )


def parse_servers(text: str) -> list[tuple[str, int]]:
    """`9.9.9.9, 127.0.0.1:5353` as addresses and ports; BadSetting when it is not of this form."""
    return [_server(part.strip()) for part in text.split(",") if part.strip()]


def _server(text: str) -> tuple[str, int]:
    try:
        host, port = split_host_port(text)
    except ValueError:
        host, port = "", None
    if parse_address(host) is None:
        raise BadSetting(
            f"CRAWL_DNS_SERVERS cannot hold {text}: write addresses such as 9.9.9.9 or 127.0.0.1:5353, "
            "and a comma between two of them."
        )
    return host, port or DNS_PORT


def _resolver(servers: tuple[tuple[str, int], ...], seconds: float) -> dns.asyncresolver.Resolver:
    try:
        resolver = dns.asyncresolver.Resolver(configure=not servers)
    except dns.resolver.NoResolverConfiguration:
        raise NoAnswerFromNames("This machine knows no name server. Set CRAWL_DNS_SERVERS to one.") from None
    if servers:
        resolver.nameservers = [dns.nameserver.Do53Nameserver(*server) for server in servers]
    resolver.lifetime, resolver.timeout = seconds, seconds / TRIES
    return resolver


def _by_records(exchanges: list[str]) -> MailDomain:
    """The hosts of the MX records; a domain that names nothing but itself nowhere, or this machine, refuses mail."""
    hosts = tuple(dict.fromkeys(name.lower() for name in exchanges if name not in ("", ".")))
    if not hosts or all(name == "localhost" or parse_address(name) is not None for name in hosts):
        return MailDomain(MailAcceptance.NULL_MX)
    return MailDomain(MailAcceptance.MX_HOSTS, hosts[:MAX_HOSTS])


def _is_public(record: Rdata) -> bool:
    """Whether it is an address that mail from outside could reach: the same that a fetch may connect to."""
    address = parse_address(record.address) if isinstance(record, A | AAAA) else None
    return address is not None and why_denied(address) is None


def _sends_nothing(record: TXT) -> bool:
    """`v=spf1 -all`: nobody may send in the name of this domain."""
    return b"".join(record.strings).lower().split() == [b"v=spf1", b"-all"]
