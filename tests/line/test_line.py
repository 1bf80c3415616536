"""The whole line, read this first: a search goes in at the API, contacts come out, on real processes.

One process serves the API, two work on the queues, a sandbox plays the internet; PostgreSQL is all they share.
"""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.truth import compare, compare_verdicts
from tests.factories.api_application import make_key

STEPS = (
    "place_search",
    "deep_scan",
    "site_search",
    "domain_extraction",
    "domain_metadata",
    "sitemap_analysis",
    "sitemap_import",
    "page_curation",
    "contact_verification",
)


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=4711, businesses=120) as little_internet:
        yield little_internet


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def processes(sandbox, database_url, tmp_path: Path):
    """The API and two workers; the address of the API."""
    port = free_port()
    once = ("DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION")
    environment = {
        **os.environ,
        **sandbox.environment(),
        **{f"{name}_SCHEDULER_MAX_ATTEMPTS": "1" for name in once},  # what is broken in the sandbox stays broken
        "CONTACT_VERIFICATION_SCHEDULER_BACKOFF_SECONDS": "0.5",  # and who is silent stays silent
        "DATABASE_URL": database_url,
        "SCRAPERSKY_PORT": str(port),
        "SCRAPERSKY_LOG_LEVEL": "error",
        "SCHEDULER_POLL_INTERVAL_SECONDS": "0.2",
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
        "CRAWL_PARSER_PROCESSES": "1",
    }
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "scrapersky", word], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL
        )
        for word in ("serve", "worker", "worker")
    ]
    yield f"http://127.0.0.1:{port}"
    for process in started:
        process.terminate()
    for process in started:
        assert process.wait(240) == 0, "whoever is asked to stop, stops cleanly"


class Api:
    """The API as a program uses it."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session, self._address = session, address

    async def get(self, path: str, **query: str) -> Any:
        async with self._session.get(f"{self._address}{path}", params=query) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def post(self, path: str, **body: Any) -> Any:
        async with self._session.post(f"{self._address}{path}", json=body) as answer:
            assert answer.status in (200, 201, 202), await answer.text()
            return await answer.json()

    async def is_ready(self) -> bool:
        try:
            async with self._session.get(f"{self._address}/health/ready") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False


async def until(condition, seconds: float = 300) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.1)


async def test_a_search_goes_in_and_contacts_come_out(sandbox, processes, admin, database):
    headers = {"Authorization": f"Bearer {await make_key(database, 'curator')}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        api = Api(session, processes)
        await until(api.is_ready)

        # A search goes in, with what it will cost.
        whole_line = {"sitemap_analysis": "all"}  # sitemaps too, though the home pages link enough pages
        asked = await api.post("/api/v3/searches", text="dentists", area="Helsinki", limit=10, rules=whole_line)
        assert asked["estimate"]["cents"] == 0
        search_id = asked["search"]["id"]

        # The line works; every step says how it stands.
        async def is_done() -> bool:
            return bool((await api.get(f"/api/v3/searches/{search_id}"))["is_done"])

        await until(is_done)
        told = (await api.get(f"/api/v3/searches/{search_id}"))["steps"]
        steps = {step["workflow"]: step for step in told}
        assert tuple(steps) == STEPS
        assert steps["place_search"]["completed"] == 1
        extraction = steps["domain_extraction"]
        without_site = steps["site_search"]["skipped"]  # no web site was proven: there is no domain to extract
        assert steps["deep_scan"]["completed"] == extraction["completed"] + extraction["skipped"] + without_site, steps
        for step in STEPS:
            assert steps[step]["completed"] > 0, f"{step} did its part"

        # Two workers and the API shared the work.
        workers = await admin.fetchval("SELECT count(DISTINCT pid) FROM run WHERE claimed > 0")
        assert workers >= 2

        # Contacts come out, each with its source, and they are the truth.
        contacts = (await api.get("/api/v3/contacts", limit="200"))["items"]
        assert contacts
        assert all(contact["source_url"].startswith("http") for contact in contacts)
        hosts = {row["name"] for row in await admin.fetch("SELECT name FROM domain")}
        found = [
            (row["domain"], "email", row["email"])
            for row in await admin.fetch(
                "SELECT d.name AS domain, c.email FROM contact c JOIN domain d ON d.id = c.domain_id "
                "WHERE c.email IS NOT NULL"
            )
        ]
        score = compare(found, [entry for entry in sandbox.truth() if entry["host"] in hosts])["email"]
        assert score.recall >= 0.95
        assert score.precision >= 0.97

        # Every address that was found has its verdict, and it is the true one.
        rows = await admin.fetch("SELECT email, verdict FROM contact WHERE email IS NOT NULL")
        judged = compare_verdicts({row["email"]: row["verdict"] for row in rows}, sandbox.truth())
        assert judged.true == judged.found == judged.right > 0

        # A contact knows where it comes from, all the way up.
        story = (await api.get(f"/api/v3/contacts/{contacts[0]['id']}"))["provenance"]
        assert story["searches"]["items"][0]["id"] == search_id
        for noun in ("pages", "domains", "businesses", "places"):
            assert story[noun]["items"], f"a contact knows its {noun}"
