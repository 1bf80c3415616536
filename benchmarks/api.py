"""The API under load: the busiest list over a million rows, and the same list while somebody floods the login."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import psutil
import uvloop
from rich.console import Console
from rich.table import Table

from benchmarks.api_load import Load, Request, press
from benchmarks.parts import Parts
from benchmarks.record import Figure, record
from scrapersky.core.database import Database
from scrapersky.core.embedded.server import EmbeddedServer
from scrapersky.core.roles import Role
from scrapersky.core.settings import Environment, load
from scrapersky.store.accounts import api_keys, tenants, users
from scrapersky.store.audit.record import Actor

ROWS = 1_000_000
REQUEST_SECONDS = 10  # SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS as it is by itself
LISTS = {
    "the latest": "?limit=50",
    "of one decision": "?limit=50&curation_status=Selected",
    "whose name begins": "?limit=50&text=name 77",
    "with an address": "?limit=50&has_email=true",
}
# More than anybody will ask: what is measured here is the work, with the buckets in it.
PLENTY = "100000000"
UNLIMITED = {"SCRAPERSKY_RATE_LIMIT_PER_KEY": PLENTY, "SCRAPERSKY_RATE_LIMIT_PER_IP": PLENTY}
OPEN = {**UNLIMITED, "SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT": PLENTY, "SCRAPERSKY_LOGIN_RATE_LIMIT_PER_IP": PLENTY}
# The default for whoever guesses; the people who read sit at addresses of their own.
DEFAULT = {"SCRAPERSKY_RATE_LIMIT_PER_KEY": PLENTY}
GUESSER = "127.0.0.66"
COLUMNS = ("requests", "per_second", "p50_ms", "p99_ms", "most_ms", "cpu_ms", "statuses")

# What a page of contacts needs, made as fast as PostgreSQL can; their queues are left alone.
FILL = """
INSERT INTO contact (tenant_id, identity, name, email, confidence, curation_status, created_at, updated_at)
SELECT $1, 'email:a' || n || '@x.example', 'name ' || n, CASE WHEN n % 3 > 0 THEN 'a' || n || '@x.example' END, 0.9,
    CASE WHEN n % 100 = 0 THEN 'Selected' ELSE 'New' END, t, t
FROM (SELECT n, now() - n * interval '1 second' AS t FROM generate_series($2::int, $3::int) n) AS made"""


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--requests", type=int, default=2_000, help="of each kind of list")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=30, help="at most, for each kind")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scrapersky-bench-") as name:
        home = Path(name)
        home.chmod(0o755)
        url = EmbeddedServer(home).start()
        subprocess.run([sys.executable, "-m", "scrapersky", "migrate"], env=environment(url), check=True)
        key = await prepare(url, asked.rows)
        parts = Parts()
        figures = {
            "lists": await parts.run("lists", lists(url, key, asked), None if asked.json else show_lists),
            "flood": await parts.run("flood", flood(url, key, asked), None if asked.json else show_flood),
        }
    kinds = (figures["lists"] or {}).get("kinds", {})
    recorded = [Figure(f"list {kind}, p50", one["p50_ms"], "ms") for kind, one in kinds.items()]
    record("api", [Figure("rows", asked.rows), *recorded])
    if asked.json:
        print(json.dumps(figures, indent=2))
    parts.end()


def environment(url: str, **variables: str) -> dict[str, str]:
    """Return the settings of the server under load: the defaults except for its log and its pace."""
    return {**os.environ, "DATABASE_URL": url, "SCRAPERSKY_PORT": "0", "SCRAPERSKY_LOG_LEVEL": "error", **variables}


async def prepare(url: str, rows: int) -> str:
    """Insert a million contacts and create a user with an API key."""
    database = Database(url, load(Environment({"DATABASE_URL": url}, None)))
    async with database.engine_session() as session:
        tenant_id = await tenants.id_of(session)
    actor = Actor("benchmark", tenant_id, "admin", "benchmark")
    async with database.session(tenant_id) as session:
        user = await users.create(session, actor, "benchmark", Role.ADMIN)
        key = (await api_keys.create(session, actor, user, "benchmark", None, None))[1]
    await database.close()
    await fill(url, tenant_id, rows)
    return str(key)


async def fill(url: str, tenant_id: UUID, rows: int) -> None:
    owner = await asyncpg.connect(url)
    for first in range(0, rows, 50_000):
        await owner.execute(FILL, tenant_id, first + 1, min(first + 50_000, rows))
    await owner.execute("VACUUM (ANALYZE) contact")
    await owner.close()


@asynccontextmanager
async def serving(url: str, **variables: str) -> AsyncIterator[tuple[int, psutil.Process]]:
    """Start the real command in its own process; yield its port and the process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "scrapersky", "serve", env=environment(url, **variables), stdout=subprocess.PIPE
    )
    try:
        yield await _port(process), psutil.Process(process.pid)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def _port(process: asyncio.subprocess.Process) -> int:
    """Read the port from the line that names the address."""
    assert process.stdout is not None
    async for line in process.stdout:
        if line.startswith(b"Listening on "):
            return int(line.split()[2].rsplit(b":", 1)[1])
    raise RuntimeError("the server did not start")


def get(path: str, key: str) -> Request:
    line = f"GET {path.replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    return lambda _number: line


def login(number: int) -> bytes:
    body = json.dumps({"name": f"nobody {number}", "password": "not the right one"})
    head = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"POST /api/v3/auth/login HTTP/1.1\r\n{head}\r\n\r\n{body}".encode()


async def lists(url: str, key: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Request each kind of list in turn; count database connections before, during and after."""
    figures: dict[str, Any] = {"kinds": {}}
    async with serving(url, **UNLIMITED) as (port, process):
        await press(port, get(f"/api/v3/contacts{LISTS['the latest']}", key), asked.connections, 200, 20)
        figures["connections_before"], figures["rss_mb_before"] = await connections(url), rss(process)
        for kind, query in LISTS.items():
            request = get(f"/api/v3/contacts{query}", key)
            before = cpu(process)
            pressed = await press(port, request, asked.connections, asked.requests, asked.seconds)
            each = (cpu(process) - before) / len(pressed.waits)
            figures["kinds"][kind] = {**told(pressed), "cpu_ms": round(each * 1000, 1)}
        figures["connections_after"], figures["rss_mb_after"] = await connections(url), rss(process)
    return figures


async def flood(url: str, key: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Read a list with four clients: alone, and while 50 connections guess passwords, with and without the limit."""
    figures: dict[str, Any] = {}
    request = get(f"/api/v3/contacts{LISTS['the latest']}", key)
    for name, rates in {"no limit": OPEN, "limits as they are": DEFAULT}.items():
        async with serving(url, **rates) as (port, process):
            await read(port, request, 25, 20)
            alone = await read(port, request, 125, 8)
            guessing = asyncio.create_task(press(port, login, 50, 1_000_000, 10, GUESSER))
            await asyncio.sleep(1)
            during = await read(port, request, 125, 8)
            guessed = await guessing
            figures[name] = {
                "alone": told(alone),
                "during": told(during),
                "logins": told(guessed),
                "rss_mb": rss(process),
                "connections": await connections(url),
            }
    return figures


async def read(port: int, request: Request, requests: int, seconds: float) -> Load:
    """Read with four clients at four addresses, one connection each."""
    loads = await asyncio.gather(*(press(port, request, 1, requests, seconds, f"127.0.1.{n}") for n in range(1, 5)))
    whole = Load(max(one.seconds for one in loads))
    for one in loads:
        whole.waits += one.waits
        whole.statuses += one.statuses
    return whole


def told(load: Load) -> dict[str, Any]:
    return {
        "requests": len(load.waits),
        "per_second": round(load.per_second),
        "p50_ms": round(load.at(0.5), 1),
        "p99_ms": round(load.at(0.99), 1),
        "most_ms": round(load.at(1), 1),
        "statuses": dict(load.statuses),
    }


def rss(process: psutil.Process) -> int:
    """Return the resident memory of the server process in megabytes."""
    return process.memory_info().rss // 1_000_000


def cpu(process: psutil.Process) -> float:
    """Return the CPU seconds of the server process: steadier than wall time on a busy machine."""
    times = process.cpu_times()
    return times.user + times.system


async def connections(url: str) -> int:
    owner = await asyncpg.connect(url)
    count = await owner.fetchval("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'scrapersky %'")
    await owner.close()
    return int(count)


def show_table(rows: dict[str, Any]) -> None:
    """Print one line for each kind of request."""
    table = Table("contacts", "count", "a s", "p50 ms", "p99", "max", "CPU ms", "statuses")
    for name, one in rows.items():
        cells = (one.get(key, "") for key in COLUMNS)
        table.add_row(name, *map(str, cells))
    Console().print(table)


def show_flood(figures: dict[str, Any]) -> None:
    """Print the requests beside a flood of logins."""
    show_table(
        {f"{part}, {name}": flood[part] for name, flood in figures.items() for part in ("alone", "during", "logins")}
    )


def show_lists(lists: dict[str, Any]) -> None:
    """Print the lists, and whether connections and times are within their targets."""
    console = Console()
    show_table({f"list {kind}": one for kind, one in lists["kinds"].items()})
    before, after = lists["connections_before"], lists["connections_after"]
    longest = max(one["most_ms"] for one in lists["kinds"].values()) / 1000
    only_200 = all(set(one["statuses"]) == {200} for one in lists["kinds"].values())
    console.print(f"connections {before} → {after}: {'kept' if after <= before else 'MISSED'}")
    console.print(f"memory {lists['rss_mb_before']} → {lists['rss_mb_after']} MB")
    inside = longest < REQUEST_SECONDS and only_200
    console.print(f"longest {longest:.2f} s of {REQUEST_SECONDS}, all answered 200: {'kept' if inside else 'MISSED'}")


if __name__ == "__main__":
    uvloop.run(main())
