"""Looks up the mail hosts of domains in DNS. No mail host is ever connected to."""

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

from scrapersky.core.errors import Retryable
from scrapersky.core.settings import Settings
from scrapersky.crawl.network.ip_ranges import parse_address, parse_address_port, why_denied
from scrapersky.extract.emails.deliverability import MailAcceptance, MailDomain

MAX_CACHED = 20_000  # domains of one process
MIN_TTL_SECONDS, MAX_TTL_SECONDS = 60.0, 3600.0  # bounds for the time to live of a record
ABSENT_TTL_SECONDS = 300.0  # for records that do not exist
TRIES = 3  # within the timeout, so that a lost packet does not lose the lookup
MAX_HOSTS = 10
DNS_PORT = 53


class DnsUnavailable(Retryable):
    """The name servers give no usable response."""

    opens_breaker = False  # those of one mail domain; the next one may respond


class NoNameServer(DnsUnavailable):
    """This machine has no name server."""

    opens_breaker = True


class CachedMailDomain(NamedTuple):
    """A lookup result and when it expires."""

    mail: MailDomain
    expires: float


class MxLookup:
    """Looks up domains with bounded concurrency; shares concurrent lookups and caches results for their time to live.

    `servers` are used in their order; without any, those of this machine are used.
    """

    def __init__(
        self,
        servers: Iterable[tuple[str, int]] = (),
        *,
        concurrency: int = 32,
        seconds: float = 5.0,
        max_cached: int = MAX_CACHED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._servers = tuple(servers)
        self._slots = asyncio.Semaphore(concurrency)
        self._seconds = seconds
        self._max_cached = max_cached
        self._clock = clock
        self._resolver: dns.asyncresolver.Resolver | None = None
        self._cache: dict[str, CachedMailDomain] = {}
        self._in_flight: dict[str, asyncio.Task[MailDomain]] = {}

    async def lookup(self, domain: str) -> MailDomain:
        """Return the mail hosts of a domain (in ASCII form); raise DnsUnavailable if the lookup fails now."""
        cached = self._cache.get(domain)
        if cached is not None and cached.expires > self._clock():
            return cached.mail
        task = self._in_flight.get(domain)
        if task is None:
            task = asyncio.create_task(self._look_up(domain), name=f"mail hosts of {domain}")
            self._in_flight[domain] = task
            task.add_done_callback(lambda done: self._finished(domain, done))
        return await asyncio.shield(task)  # a cancelled caller does not cancel the lookup of the others

    async def close(self) -> None:
        """Cancel all lookups."""
        tasks = list(self._in_flight.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _finished(self, domain: str, task: "asyncio.Task[MailDomain]") -> None:
        del self._in_flight[domain]
        if not task.cancelled():
            task.exception()  # marks the exception as retrieved; the callers get it from the task

    async def _look_up(self, domain: str) -> MailDomain:
        try:
            async with self._slots:
                mail, ttl = await self._by_mx(domain)
        except (dns.resolver.LifetimeTimeout, dns.resolver.NoNameservers) as error:
            why = "in time" if isinstance(error, dns.resolver.LifetimeTimeout) else "but an error"
            raise DnsUnavailable(f"The name servers of {domain} gave no answer {why}.") from None
        except dns.exception.DNSException as error:
            raise DnsUnavailable(f"The DNS response about {domain} is invalid ({type(error).__name__}).") from None
        self._store(domain, mail, ttl)
        return mail

    async def _by_mx(self, domain: str) -> tuple[MailDomain, float]:
        try:
            response = await self._query(domain, dns.rdatatype.MX)
        except dns.resolver.NXDOMAIN:
            return MailDomain(MailAcceptance.NO_DOMAIN), ABSENT_TTL_SECONDS
        if response.rrset is None:
            return await self._without_mx(domain)
        records = sorted((record for record in response if isinstance(record, MX)), key=lambda mx: mx.preference)
        return _mail_domain([record.exchange.to_text(omit_final_dot=True) for record in records]), response.rrset.ttl

    async def _without_mx(self, domain: str) -> tuple[MailDomain, float]:
        """Decide for a domain without MX: its own address accepts mail, unless SPF declares that it sends none."""
        kinds = (dns.rdatatype.A, dns.rdatatype.AAAA, dns.rdatatype.TXT)
        try:
            ipv4, ipv6, texts = [await self._query(domain, kind) for kind in kinds]
        except dns.resolver.NXDOMAIN:
            return MailDomain(MailAcceptance.NO_DOMAIN), ABSENT_TTL_SECONDS
        if any(isinstance(record, TXT) and _sends_nothing(record) for record in texts):
            return MailDomain(MailAcceptance.SPF_DENIES_ALL), ABSENT_TTL_SECONDS
        found = ipv4.rrset or ipv6.rrset
        if not found:
            return MailDomain(MailAcceptance.NO_HOST), ABSENT_TTL_SECONDS
        is_public = any(_is_public(record) for record in (*ipv4, *ipv6))
        return MailDomain(MailAcceptance.ADDRESS_ONLY if is_public else MailAcceptance.PRIVATE_ADDRESS), found.ttl

    async def _query(self, domain: str, kind: dns.rdatatype.RdataType) -> dns.resolver.Answer:
        if self._resolver is None:
            self._resolver = _resolver(self._servers, self._seconds)
        # With a final dot, so that the search list of this machine is not used.
        return await self._resolver.resolve(f"{domain}.", kind, raise_on_no_answer=False)

    def _store(self, domain: str, mail: MailDomain, ttl: float) -> None:
        if len(self._cache) >= self._max_cached:
            del self._cache[next(iter(self._cache))]  # the oldest
        self._cache.pop(domain, None)
        seconds = min(max(ttl, MIN_TTL_SECONDS), MAX_TTL_SECONDS)
        self._cache[domain] = CachedMailDomain(mail, self._clock() + seconds)


def mx_lookup_of(settings: Settings) -> MxLookup:
    """Build the lookup from the settings."""
    return MxLookup(
        parse_servers(settings.crawl_dns_servers),
        concurrency=settings.crawl_max_dns_lookups,
        seconds=settings.crawl_dns_timeout_seconds,
    )


def parse_servers(text: str) -> list[tuple[str, int]]:
    """Parse `9.9.9.9, 127.0.0.1:5353` into addresses and ports; raise BadSetting for any other form."""
    return [_server(part.strip()) for part in text.split(",") if part.strip()]


def _server(text: str) -> tuple[str, int]:
    host, port = parse_address_port(
        text,
        f"CRAWL_DNS_SERVERS cannot hold {text}: write addresses such as 9.9.9.9 or 127.0.0.1:5353, "
        "and a comma between two of them.",
    )
    return host, port or DNS_PORT


def _resolver(servers: tuple[tuple[str, int], ...], seconds: float) -> dns.asyncresolver.Resolver:
    try:
        resolver = dns.asyncresolver.Resolver(configure=not servers)
    except dns.resolver.NoResolverConfiguration:
        raise NoNameServer("No name server is configured on this machine. Set CRAWL_DNS_SERVERS to one.") from None
    if servers:
        resolver.nameservers = [dns.nameserver.Do53Nameserver(*server) for server in servers]
    resolver.lifetime, resolver.timeout = seconds, seconds / TRIES
    return resolver


def _mail_domain(exchanges: list[str]) -> MailDomain:
    """Return the hosts of the MX records; a null MX, or only localhost or addresses, means that mail is refused."""
    hosts = tuple(dict.fromkeys(name.lower() for name in exchanges if name not in ("", ".")))
    if not hosts or all(name == "localhost" or parse_address(name) is not None for name in hosts):
        return MailDomain(MailAcceptance.NULL_MX)
    return MailDomain(MailAcceptance.MX_HOSTS, hosts[:MAX_HOSTS])


def _is_public(record: Rdata) -> bool:
    """Return whether the record is a public address, which mail from outside can reach."""
    address = parse_address(record.address) if isinstance(record, A | AAAA) else None
    return address is not None and why_denied(address) is None


def _sends_nothing(record: TXT) -> bool:
    """Return whether the record is `v=spf1 -all`: no host may send mail for this domain."""
    return b"".join(record.strings).lower().split() == [b"v=spf1", b"-all"]
