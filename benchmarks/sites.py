"""make bench-sites: how many missing web sites are found, and how many of the found ones are those of others.

Every business of a sandbox whose map has no web site goes through deep_scan and site_search, once without and once with
a web search. The truth is known: sites at the name of the business, of chains, at the domain of an email address, in
the record of another map, or only in a web search; and namesakes, parked domains, directories and competitors where
the site would be.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from rich.console import Console
from rich.table import Table
from sqlalchemy import text

from benchmarks.parts import Parts
from benchmarks.record import Figure, record
from scrapersky.bootstrap import Application, open_application
from scrapersky.cli.demonstration.pipeline import sandbox_variables
from scrapersky.cli.shared.application import cli_actor
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, load
from scrapersky.models import Search
from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.osm.place import osm_place
from scrapersky.sandbox.osm.element import FIRST_ID, element, tags_of
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.truth import SiteScore, compare_sites
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.unlisted import Unlisted
from scrapersky.store.line import places
from scrapersky.worker import wait_until_idle

MAX_WRONG, MIN_FOUND = 0.02, 0.4
RULES = {"domain_extraction": "off"}  # the sites are found, not read
FOUND = """
SELECT p.provider_id, b.website, b.website_how FROM local_business b JOIN place p ON p.id = b.place_id
WHERE p.provider = 'openstreetmap'"""


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--businesses", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    parts, runs = Parts(), dict[str, Any]()
    for name, with_web_search in (("without a web search", False), ("with a web search", True)):
        with parts.part(name):
            async with Sandbox(asked.seed, asked.businesses) as sandbox:
                runs[name] = await run(sandbox, with_web_search)
            if not asked.json:
                show(name, runs[name])
    if asked.json:
        print(json.dumps(runs))
    record("sites", [figure for name, found in runs.items() for figure in figures(name, found["total"])])
    parts.end()


def figures(name: str, total: Mapping[str, int]) -> list[Figure]:
    """Return the share of the findable sites that were found, and of the given sites that are wrong."""
    found = total["found"] / total["findable"]
    wrong = total["wrong"] / max(total["found"] + total["wrong"], 1)
    return [
        Figure(f"found, {name}", round(100 * found, 1), "%", f"≥ {MIN_FOUND:.0%}", found >= MIN_FOUND),
        Figure(f"wrong, {name}", round(100 * wrong, 2), "%", f"≤ {MAX_WRONG:.0%}", wrong <= MAX_WRONG),
    ]


async def run(sandbox: Sandbox, with_web_search: bool) -> dict[str, Any]:
    """Look for every missing site of the world; return the score."""
    with tempfile.TemporaryDirectory(prefix="scrapersky-bench-") as name:
        variables = sandbox_variables(sandbox, Path(name))
        variables |= {"SITE_SEARCH_SEARXNG_URL": sandbox.web_search_url} if with_web_search else {}
        environment = Environment(variables, None)
        configure_logs(load(environment))
        application = await open_application(environment)
        try:
            await queue_places(application, sandbox)
            started, cpu = time.monotonic(), time.process_time()
            application.runtime.start()
            await wait_until_idle(application)
            seconds, cpu = time.monotonic() - started, time.process_time() - cpu
            return await score(application, sandbox) | {"seconds": round(seconds, 1), "cpu_seconds": round(cpu, 1)}
        finally:
            await application.runtime.stop(grace_seconds=1)
            await application.close()


async def queue_places(application: Application, sandbox: Sandbox) -> None:
    """Store the businesses as their map has them, and as another map has those that are in its records."""
    tenant_id: UUID = (await cli_actor(application)).tenant_id
    missing = [business for business in sandbox.world if business.website is None]
    found = [place for one in missing if (place := osm_place(element(one, tags_of(one), {"center", "tags"})))]
    recorded = [other_record(one) for one in missing if one.unlisted is Unlisted.RECORD]
    async with application.database.session(tenant_id) as session:
        search = Search(tenant_id=tenant_id, text="missing sites", provider="openstreetmap", rules=RULES)
        session.add(search)
        await session.flush()
        for batch in (recorded, found):
            ids = await places.upsert(session, search, batch)
            # The other map was searched before.
            await session.execute(
                text("UPDATE place SET deep_scan_status = 'Queued', priority = :urgent WHERE id = ANY (:ids)"),
                {"ids": ids, "urgent": int(batch is recorded)},
            )


def other_record(business: Business) -> PlaceDetails:
    """Build the record of another map."""
    where = {"latitude": business.latitude, "longitude": business.longitude, "city": business.city.name}
    return PlaceDetails(
        "file", f"other-{business.number}", business.name, website=business.site_url, phone=business.phone, **where
    )


async def score(application: Application, sandbox: Sandbox) -> dict[str, Any]:
    """Compare the found sites with the truth, all together and by the way in which they can be found."""
    async with application.database.engine_connection() as connection:
        rows = await connection.fetch(FOUND)
    hosts = {
        int(row["provider_id"].rpartition("/")[2]) - FIRST_ID: urlsplit(row["website"] or "").hostname for row in rows
    }
    truth = sandbox.truth()
    kinds = {entry["number"]: str(entry["unlisted"] or "none") for entry in truth}
    total: SiteScore = compare_sites(hosts, truth)
    by_kind = {
        kind: asdict(compare_sites({number: host for number, host in hosts.items() if kinds[number] == kind}, truth))
        for kind in sorted({kinds[number] for number in hosts})
    }
    how = Counter(row["website_how"] for row in rows if row["website_how"])
    requests = sandbox.traffic.report()
    return {"total": asdict(total), "kinds": by_kind, "how": how, "traffic": requests.get("total", None)}


def show(name: str, found: dict[str, Any]) -> None:
    """Print a run and whether the targets were met."""
    console = Console()
    table = Table("site", "missing", "findable", "found", "wrong", title=f"{name}: {found['cpu_seconds']} s of CPU")
    for kind, one in [*found["kinds"].items(), ("together", found["total"])]:
        table.add_row(kind, *(str(one[key]) for key in ("missing", "findable", "found", "wrong")))
    console.print(table)
    for figure in figures(name, found["total"]):
        console.print(f"{figure.what}: {figure.value} % ({figure.target}): {'met' if figure.met else 'MISSED'}")


if __name__ == "__main__":
    asyncio.run(main())
