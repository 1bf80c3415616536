"""`scrapersky demo`: a search in the sandbox, compared with the truth."""

import csv
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import typer

from scrapersky.api.accounts.users import invitation_link
from scrapersky.api.dependencies import WebApplication
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.asgi import create_app
from scrapersky.bootstrap import Application, open_application
from scrapersky.cli.demonstration.next_steps import AFTER_PIPELINE, print_next_steps
from scrapersky.cli.finding.request import FindRequest, parse_search
from scrapersky.cli.finding.run import find_in
from scrapersky.cli.finding.summary import print_summary
from scrapersky.cli.serve import bound_socket, serve_until_stopped
from scrapersky.cli.shared.application import cli_actor, run_async
from scrapersky.cli.shared.lead_options import LeadOptions
from scrapersky.cli.shared.options import DEFAULT_TENANT
from scrapersky.cli.shared.output import format_seconds, notice_if_slow, print_json, print_table
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.roles import Role
from scrapersky.core.settings import Environment, load
from scrapersky.providers.areas.read_search import GivenWhere
from scrapersky.sandbox.osm.element import FIRST_ID
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.truth import compare, compare_sites, compare_verdicts
from scrapersky.store.accounts import api_keys, invitations, users
from scrapersky.store.searches import results

PAGES_PER_SITE = 8
IDLE_TIMEOUT_SECONDS = 12
COUNTS, RATES = ("true", "found", "wrong"), ("recall", "precision")
READING = ("DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION")  # prefixes of settings: steps that read sites
SHOWN_ROWS, SHOWN_COLUMNS = 5, ("business", "email", "phone", "person", "title")


def show_pipeline(
    home: Path, search: str, seed: int, businesses: int, out: Path | None, serve: bool, as_json: bool
) -> bool:
    """Run a search in a sandbox and print how much of the truth was found; return whether any contact was."""
    request, _ = parse_search([search], GivenWhere(), None, "openstreetmap", None, PAGES_PER_SITE, None)
    path = out or home / "leads.csv"
    find = FindRequest(request, None, None, LeadOptions(path), DEFAULT_TENANT, False, IDLE_TIMEOUT_SECONDS)
    return run_async(_run(home, find, seed, businesses, serve, as_json))


async def _run(home: Path, request: FindRequest, seed: int, businesses: int, serve: bool, as_json: bool) -> bool:
    async with Sandbox(seed=seed, businesses=businesses) as sandbox:
        environment = Environment(sandbox_variables(sandbox, home), None)
        configure_logs(load(environment))
        with notice_if_slow("Starting the database…"):
            application = await open_application(environment)
        try:
            summary = await find_in(application, request)
            first_rows = _first_rows(request.out)
            if request.out.is_relative_to(home):
                summary["file"] = None  # it is deleted with the directory of the demo
            summary["continues"] = False
            summary["truth"] = await _score(application, summary, sandbox)
            if as_json:
                print_json(summary)
            else:
                _print(summary, sandbox, first_rows, serve)
            if serve:
                await _serve(environment, f"{CONSOLE}/searches/{summary['search_id']}")
        finally:
            await application.close()
    return bool(summary["contacts"])


def sandbox_variables(sandbox: Sandbox, home: Path) -> dict[str, str]:
    """Return the settings with which the crawler can reach the sandbox and nothing else."""
    return {
        "SCRAPERSKY_DATA_DIR": str(home),
        "SCRAPERSKY_LOG_LEVEL": os.environ.get("SCRAPERSKY_LOG_LEVEL", "error"),
        **{name: os.environ[name] for name in ("SCRAPERSKY_HOST", "SCRAPERSKY_PORT") if name in os.environ},
        "CRAWL_HOST_DELAY_SECONDS": "0",  # the sites are local
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
        "CONTACT_VERIFICATION_SCHEDULER_BACKOFF_SECONDS": "1",  # some DNS servers of the sandbox never respond
        # What cannot be read in the sandbox stays so: the search is finished without another try minutes later.
        **{f"{step}_SCHEDULER_MAX_ATTEMPTS": "1" for step in READING},
        "SCHEDULER_POLL_INTERVAL_SECONDS": "0.2",
        **sandbox.environment(),
    }


async def _score(application: Application, summary: dict[str, Any], sandbox: Sandbox) -> dict[str, Any]:
    """Compare the result with the truth about the businesses that the search found, by field."""
    async with application.database.session(summary["tenant_id"]) as session:
        found = await results.found_values(session, summary["search_id"])
        hosts = await results.hosts(session, summary["search_id"])
        verdicts = await results.verdicts(session, summary["search_id"])
        sites = await results.found_sites(session, summary["search_id"])
    truth = [entry for entry in sandbox.truth() if entry["host"] in hosts]
    judged = compare_verdicts(verdicts, truth)
    return {
        "sites": len(truth),
        "unreachable": {entry["host"]: entry["why"] for entry in truth if not entry["reachable"]},
        "fields": {
            field: {
                "true": score.true,
                "found": score.right,
                "wrong": score.found - score.right,
                "recall": round(score.recall, 3),
                "precision": round(score.precision, 3),
            }
            for field, score in compare(found, truth).items()
        },
        "missing_sites": asdict(compare_sites(_numbers(sites), sandbox.truth())),
        "verdicts": {"addresses": judged.true, "judged": judged.found, "right": judged.right},
    }


def _numbers(sites: Mapping[str, str | None]) -> dict[int, str | None]:
    """Return the host of each found site by the number of its business, which the map's id contains."""
    hosts = {place: urlsplit(website).hostname if website else None for place, website in sites.items()}
    return {int(place.rpartition("/")[2]) - FIRST_ID: host for place, host in hosts.items()}


def _first_rows(path: Path) -> list[list[str]]:
    """Return some columns of the first rows of a csv file; nothing of a file in another format."""
    if path.suffix != ".csv":
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = islice((row for row in csv.DictReader(file) if row["email"]), SHOWN_ROWS)
        return [[row[column] for column in SHOWN_COLUMNS] for row in rows]


def _print(summary: dict[str, Any], sandbox: Sandbox, first_rows: list[list[str]], serve: bool) -> None:
    print_summary(summary)
    if first_rows:
        print_table(SHOWN_COLUMNS, first_rows, title=f"The first rows with an email address, of {summary['rows']} rows")
    if summary["file"] is None:
        when = "when you stop the demo" if serve else "now"
        typer.echo(f"The file of the demo is deleted {when}, with its database.")
    truth = summary["truth"]
    print_table(
        ["field", *(f"{key}#" for key in (*COUNTS, *RATES))],
        [
            (field, *(score[key] for key in COUNTS), *(f"{score[key]:.3f}" for key in RATES))
            for field, score in truth["fields"].items()
        ],
        title=f"Found values compared with the truth, on {truth['sites']} web sites of seed {sandbox.world.seed}",
    )
    verdicts = truth["verdicts"]
    typer.echo(f"Verdicts: {verdicts['right']} right of {verdicts['judged']}, {verdicts['addresses']} true addresses.")
    sites = truth["missing_sites"]
    typer.echo(
        f"Missing web sites: {sites['found']} found of {sites['findable']} that exist, {sites['wrong']} wrong, "
        f"of {sites['missing']} businesses without one."
    )
    for host, why in sorted(truth["unreachable"].items()):
        typer.echo(f"Not readable: {host} ({why})")
    first, last = summary["first_contact_seconds"], summary["last_contact_seconds"]
    if first is not None:
        typer.echo(f"First contact after {format_seconds(first)}, last after {format_seconds(last)}.")
    if not serve:
        print_next_steps(AFTER_PIPELINE)


async def _serve(environment: Environment, first_page: str) -> None:
    """Serve the console and the API of the demo until Ctrl-C; the console opens on this page."""

    async def announce(application: WebApplication, url: str) -> None:
        await _announce(application, url, first_page)

    with bound_socket(load(environment)) as listener:
        await serve_until_stopped(create_app(environment), listener, announce)


async def _announce(application: WebApplication, url: str, first_page: str) -> None:
    key, invitation = await _create_admin(application)
    typer.echo(
        "\nThe finished search in the console; all people are invented. The link logs in once; Ctrl-C stops it:"
        f"\n  {url}{invitation_link(invitation)}&look=yes&next={first_page}\n"
        f"The API, with a key of this demo:\n"
        f"  curl -H 'Authorization: Bearer {key}' {url}/api/v3/workflows"
    )


async def _create_admin(application: WebApplication) -> tuple[str, str]:
    """Create an admin in the database of the demo, which is deleted at the end; return a key and an invitation."""
    actor = await cli_actor(application)
    async with application.database.session(actor.tenant_id) as session:
        user = await users.create(session, actor, "demo", Role.ADMIN)
        key = (await api_keys.create(session, actor, user, "demo", None, None))[1]
        return key, (await invitations.create(session, replace(actor, user_id=user.id), Role.ADMIN))[1]
