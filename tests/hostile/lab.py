"""A lab for addresses: run as a program inside a network namespace of its own, or on loopback where there is none.

In the namespace the machine owns public-looking addresses, private ones and a name server, so that a fetch that should
be refused would in fact arrive; canaries listen on every forbidden address. Prints one JSON report.
"""

import asyncio
import json
import socket
import struct
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import aiohttp
import uvloop

from scrapersky.crawl.errors import FetchError
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.limits import FetchLimits
from scrapersky.crawl.network.dns_resolver import DnsResolver
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from tests.hostile.odd_web import Canary, OddWeb

NO_NAMESPACE = 77
PUBLIC_FOUR, PUBLIC_SIX = "93.184.216.34", "2606:2800:220:1::34"
PRIVATE = [
    "10.0.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "172.16.0.1",
    "192.168.0.1",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "fd00:ec2::254",
    "64:ff9b::7f00:1",
    "2002:7f00:1::1",
    "fec0::1",
    "2001:db8::1",
]
LOOPBACK = ["127.0.0.1", "127.0.0.2", "::1"]
LIMITS = FetchLimits(deadline_seconds=4, connect_seconds=1)

# name -> the answers of its successive lookups; the last one stays. None: no answer at all. A number: that error code.
ZONE: dict[str, list[Any]] = {
    "site.lab": [[PUBLIC_FOUR]],
    "six.lab": [[PUBLIC_SIX]],
    "other.lab": [[PUBLIC_FOUR]],
    "rebind.lab": [[PUBLIC_FOUR], ["127.0.0.1"]],
    "mixed.lab": [["127.0.0.1", "10.0.0.1", PUBLIC_FOUR]],
    "loop.lab": [["127.0.0.1"]],
    "zero.lab": [["0.0.0.0"]],
    "ten.lab": [["10.0.0.1"]],
    "carrier.lab": [["100.100.100.200"]],
    "metadata.lab": [["169.254.169.254"]],
    "both.lab": [["127.0.0.1", "::1"]],
    "six-loop.lab": [["::1"]],
    "six-mapped.lab": [["::ffff:127.0.0.1"]],
    "six-translated.lab": [["64:ff9b::7f00:1"]],
    "six-local.lab": [["fd00:ec2::254"]],
    "alias.lab": [["localhost.", "127.0.0.1"]],
    "missing.lab": [3],
    "broken.lab": [2],
    "silent.lab": [None],
}
INSIDE = [name for name in ZONE if name not in ("site.lab", "six.lab", "other.lab", "rebind.lab", "mixed.lab")][:-3]


@dataclass
class Report:
    """What happened, for the test to judge."""

    mode: str
    ipv6: bool = False
    proved: list[str] = field(default_factory=list)
    naive_hits: int = 0
    canary_hits: int = 0
    cases: dict[str, tuple[str, str]] = field(default_factory=dict)


class NameServer(asyncio.DatagramProtocol):
    """Answers from ZONE, with a time to live of zero."""

    def __init__(self) -> None:
        self.asked: dict[tuple[str, int], int] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, sender: Any) -> None:
        name, kind, end = _question(data)
        answers = ZONE.get(name, [3])
        turn = self.asked.get((name, kind), 0)
        self.asked[name, kind] = turn + 1
        answer = answers[min(turn, len(answers) - 1)]
        if answer is None:
            return
        code = answer if isinstance(answer, int) else 0
        records = [] if code else _records(answer, kind)
        head = data[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        self._transport.sendto(head + data[12:end] + b"".join(records), sender)  # type: ignore[attr-defined]


def _question(data: bytes) -> tuple[str, int, int]:
    labels, at = [], 12
    while length := data[at]:
        labels.append(data[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ".".join(labels).lower(), struct.unpack("!H", data[at + 1 : at + 3])[0], at + 5


def _records(addresses: list[str], kind: int) -> list[bytes]:
    records, owner = [], b"\xc0\x0c"
    for text in addresses:
        if text.endswith("."):
            packed = b"".join(bytes([len(part)]) + part.encode() for part in text.split("."))
            records.append(owner + struct.pack("!HHIH", 5, 1, 0, len(packed)) + packed)
            owner = packed
        elif kind == (1 if ip_address(text).version == 4 else 28):
            packed = ip_address(text).packed
            records.append(owner + struct.pack("!HHIH", kind, 1, 0, len(packed)) + packed)
    return records


class Lab:
    """Where the site and the canaries are in this mode, and how to fetch."""

    def __init__(self, namespace: bool, web: OddWeb, canary: Canary) -> None:
        self.namespace = namespace
        self.web = web
        self.canary = canary

    def client(self, *, filtered: bool = True, names: bool = True) -> Client:
        """Build a client. Without `filtered` addresses are not checked on lookup, only when connecting."""
        if self.namespace:
            client = Client(SsrfGuard(), LIMITS, dns_seconds=1.5)
            known = {}
        else:
            guard = SsrfGuard((80, 443, 8080, self.canary.port), Allowance([self.web.place]))
            known = {
                name: self._on_loopback(answers) for name, answers in ZONE.items() if isinstance(answers[-1], list)
            }
            client = Client(guard, LIMITS, known_hosts=known, dns_seconds=1.5)
        if not filtered:
            client._resolver = DnsResolver(None, known=known, seconds=1.5)
        return client

    def _on_loopback(self, answers: list[Any]) -> str:
        address = next((text for text in answers[0] if text in (PUBLIC_FOUR, PUBLIC_SIX)), None)
        if address:
            return self.web.place
        inside = next(text for text in answers[0] if not text.endswith("."))
        return f"[{inside}]:{self.canary.port}" if ":" in inside else f"{inside}:{self.canary.port}"

    def forms(self) -> list[str]:
        """Return every known notation of a forbidden address."""
        port = self.canary.port
        hosts = [*LOOPBACK, *PRIVATE, "0.0.0.0", "::", "::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1"]
        odd = ["2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.1", "0", "①②⑦.0.0.1", "127.0.0.1."]
        literal = [f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/" for host in hosts]
        return [
            *literal,
            *(f"http://{host}:{port}/" for host in odd),
            f"http://localhost:{port}/",
            f"http://localhost.:{port}/",
            f"http://good.example@127.0.0.1:{port}/",
            f"http://127.0.0.1:{port}\\@site.lab/",
            f"http://site.lab\\@127.0.0.1:{port}/",
            f"http://127.0.0.1:{port}\t/",
            f"//127.0.0.1:{port}/",
            f"//[::1]:{port}/",
            f"http:\\\\127.0.0.1:{port}\\",
            f"https://127.0.0.1:{port}/",
            "file:///etc/passwd",
            f"gopher://127.0.0.1:{port}/_x",
            f"ftp://127.0.0.1:{port}/",
            "data:text/html,x",
            "javascript:alert(1)",
            "http://site.lab:22/",
            "http://site.lab:6379/",
        ]


async def run(namespace: bool) -> Report:
    """Run all cases and return the report."""
    report = Report("namespace" if namespace else "loopback")
    async with AsyncExitStack() as stack:
        if namespace:
            await asyncio.get_running_loop().create_datagram_endpoint(NameServer, local_addr=("127.0.0.1", 53))
        web = await stack.enter_async_context(OddWeb(PUBLIC_FOUR if namespace else "127.0.0.1", 80 if namespace else 0))
        if namespace:
            await stack.enter_async_context(OddWeb(PUBLIC_SIX, 80))
        canary = await stack.enter_async_context(Canary(8080 if namespace else 0))
        lab = Lab(namespace, web, canary)
        report.ipv6 = canary.has_six
        await prove_the_canaries(lab, report)
        report.naive_hits = await naively(lab)
        canary.hits = 0
        await fetch_everything(lab, report)
        report.canary_hits = canary.hits
    return report


async def prove_the_canaries(lab: Lab, report: Report) -> None:
    """Connect to each canary without a guard, to prove that it can be reached."""
    for address in [*LOOPBACK, *(PRIVATE if lab.namespace else [])]:
        if ":" in address and not lab.canary.has_six:
            continue
        _, writer = await asyncio.wait_for(asyncio.open_connection(address, lab.canary.port), 30)
        writer.close()
        report.proved.append(address)
    await asyncio.sleep(0.05)
    if lab.canary.hits != len(report.proved):
        raise RuntimeError(f"{lab.canary.hits} of {len(report.proved)} canaries answered")


async def naively(lab: Lab) -> int:
    """Fetch without a guard and with redirects, as the control: this reaches the canaries."""
    before = lab.canary.hits
    site = f"http://{PUBLIC_FOUR}" if lab.namespace else f"http://{lab.web.place}"
    async with aiohttp.ClientSession() as session:
        for host in ("127.0.0.1", "localhost"):
            where = f"http://{host}:{lab.canary.port}/".encode().hex()
            async with session.get(f"{site}/to/anywhere?{where}") as response:
                await response.read()
    return lab.canary.hits - before


async def fetch_everything(lab: Lab, report: Report) -> None:
    async with lab.client() as client, lab.client(filtered=False) as unfiltered:
        for form in lab.forms():
            await record(report, f"direct {form}", client, form)
            where = form.encode("utf-8").hex()
            await record(report, f"redirect {form}", client, f"http://site.lab/to/anywhere?{where}")
        for name in INSIDE:
            port = lab.canary.port if lab.namespace else 80
            await record(report, f"name {name}", client, f"http://{name}:{port}/")
            await record(report, f"name at connect {name}", unfiltered, f"http://{name}:{port}/")
            where = f"http://{name}:{port}/".encode().hex()
            await record(report, f"redirect to name {name}", client, f"http://site.lab/to/anywhere?{where}")
        for name in ("site.lab", "six.lab", "mixed.lab"):
            await record(report, f"open {name}", client, f"http://{name}/fine")
        elsewhere = b"http://other.lab/fine".hex()
        await record(report, "redirect to another host", client, f"http://site.lab/to/anywhere?{elsewhere}")
    if lab.namespace:
        await names_that_change_or_fail(lab, report)


async def names_that_change_or_fail(lab: Lab, report: Report) -> None:
    """Run the cases that need a name server of our own."""
    async with lab.client() as first:
        await record(report, "rebind first", first, "http://rebind.lab/fine")
    async with lab.client() as second:
        await record(report, "rebind second", second, "http://rebind.lab:8080/fine")
    async with lab.client(filtered=False) as third:
        await record(report, "rebind at connect", third, "http://rebind.lab:8080/fine")
        for name in ("missing.lab", "broken.lab", "silent.lab"):
            await record(report, name, third, f"http://{name}/")


async def record(report: Report, case: str, client: Client, url: str) -> None:
    try:
        page = await client.fetch(url)
    except FetchError as error:
        report.cases[case] = (type(error).__name__, error.reason)
    else:
        report.cases[case] = ("Page", page.final_url)


def furnish() -> None:
    """Give this namespace its addresses and its name server; leave with NO_NAMESPACE where that cannot be done."""
    if {name for _, name in socket.if_nameindex()} != {"lo"}:
        sys.exit(NO_NAMESPACE)  # this is the real network: nothing here may be changed
    with NamedTemporaryFile("w", delete=False) as resolv:
        resolv.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    commands = [["ip", "link", "set", "lo", "up"], ["mount", "--bind", resolv.name, "/etc/resolv.conf"]]
    for address in (PUBLIC_FOUR, PUBLIC_SIX, *PRIVATE):
        six = ["-6"] if ":" in address else []
        bits = "128" if six else "32"
        commands.append(["ip", *six, "addr", "add", f"{address}/{bits}", "dev", "lo", *(["nodad"] if six else [])])
    try:
        for command in commands:
            subprocess.run(command, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        print(error, file=sys.stderr)
        sys.exit(NO_NAMESPACE)
    finally:
        Path(resolv.name).unlink()


if __name__ == "__main__":
    in_namespace = sys.argv[1] == "namespace"
    if in_namespace:
        furnish()
    print(json.dumps(vars(uvloop.run(run(in_namespace)))))
