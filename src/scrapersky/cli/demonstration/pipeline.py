"""The whole line in the sandbox: found of true, and how long it took."""

import asyncio
import os
from pathlib import Path
from typing import Any

import typer
import uvloop

from scrapersky.bootstrap import Application, open_application
from scrapersky.cli.finding.progress import FindProgress
from scrapersky.cli.finding.request import FindRequest
from scrapersky.cli.finding.run import find_in
from scrapersky.cli.shared.actor import acting
from scrapersky.cli.shared.output import print_json, print_table, seconds
from scrapersky.cli.shared.slow_notice import said_if_slow
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.roles import Role
from scrapersky.core.settings import Environment, load
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.truth import compare, compare_verdicts
from scrapersky.store.accounts import api_keys, users
from scrapersky.store.searches import results

NEXT = """\
Where to look next:
  scrapersky demo --serve                                  the same, and then its API to look at, with address and key
  scrapersky find "dentists in Helsinki" --out leads.csv   the same on the real web, with OpenStreetMap
  scrapersky find --domains sites.txt --out leads.xlsx     begin with web sites you already have
  scrapersky serve                                         the API and the engine; scrapersky status shows them
  docs/the-line.md                                         what the steps are"""


def show_line(
    home: Path, search: str, seed: int, businesses: int, out: Path | None, serve: bool, as_json: bool
) -> bool:
    """Run the search in a sandbox and say how much of the truth came out; true if anything did."""
    summary = uvloop.run(_show(home, search, seed, businesses, out, serve, as_json))
    return bool(summary["contacts"])


async def _show(
    home: Path, search: str, seed: int, businesses: int, out: Path | None, serve: bool, as_json: bool
) -> dict[str, Any]:
    wish = FindRequest.of(search, None, None, "openstreetmap", None, 8, None)
    async with Sandbox(seed=seed, businesses=businesses) as sandbox:
        environment = Environment(sandbox_variables(sandbox, home), None)
        configure_logs(load(environment))
        with said_if_slow("Starting the database…"):
            application = await open_application(environment)
        try:
            summary = await find_in(
                application, wish, out or home / "leads.csv", "business", "default", False, patience=12
            )
            summary["truth"] = await _score(application, summary, sandbox)
            if as_json:
                print_json({key: value for key, value in summary.items() if key != "progress"})
            else:
                _tell(summary, sandbox)
            if serve:
                await _keep_serving(environment, application)
        finally:
            await application.close()
    return summary


def sandbox_variables(sandbox: Sandbox, home: Path) -> dict[str, str]:
    """The settings under which the ordinary client sees the sandbox and nothing else."""
    return {
        "SCRAPERSKY_DATA_DIR": str(home),
        "SCRAPERSKY_LOG_LEVEL": os.environ.get("SCRAPERSKY_LOG_LEVEL", "error"),
        "CRAWL_HOST_DELAY_SECONDS": "0",  # nobody is disturbed in here
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
        "CONTACT_VERIFICATION_SCHEDULER_BACKOFF_SECONDS": "1",  # a silent name server is silent on purpose
        "SCHEDULER_POLL_INTERVAL_SECONDS": "0.2",
        **sandbox.environment(),
    }


async def _score(application: Application, summary: dict[str, Any], sandbox: Sandbox) -> dict[str, Any]:
    """Found of true per field, over the businesses that the search found."""
    async with application.database.session(summary["tenant_id"]) as session:
        found = await results.found_values(session, summary["search_id"])
        hosts = await results.hosts(session, summary["search_id"])
        verdicts = await results.verdicts(session, summary["search_id"])
    world = [entry for entry in sandbox.truth() if entry["host"] in hosts]
    unreachable = [entry for entry in world if not entry["reachable"]]
    scores = compare(found, world)
    judged = compare_verdicts(verdicts, world)
    return {
        "sites": len(world),
        "unreachable": {entry["host"]: entry["why"] for entry in unreachable},
        "fields": {
            field: {
                "true": score.true,
                "found": score.right,
                "wrong": score.found - score.right,
                "recall": round(score.recall, 3),
                "precision": round(score.precision, 3),
            }
            for field, score in scores.items()
        },
        "verdicts": {"addresses": judged.true, "told": judged.found, "right": judged.right},
    }


def _tell(summary: dict[str, Any], sandbox: Sandbox) -> None:
    progress: FindProgress = summary["progress"]
    progress.summarise(summary)
    truth = summary["truth"]
    print_table(
        ["field", "true#", "found#", "wrong#", "recall#", "precision#"],
        [
            (field, one["true"], one["found"], one["wrong"], f"{one['recall']:.3f}", f"{one['precision']:.3f}")
            for field, one in truth["fields"].items()
        ],
        title=f"Found of true on {truth['sites']} web sites of world {sandbox.world.seed}",
    )
    verdicts = truth["verdicts"]
    typer.echo(f"Verdicts: {verdicts['right']} right of {verdicts['told']} on {verdicts['addresses']} true addresses.")
    for host, why in sorted(truth["unreachable"].items()):
        typer.echo(f"not readable: {host} ({why})")
    first, last = summary["first_contact_seconds"], summary["last_contact_seconds"]
    if first is not None:
        typer.echo(f"First contact after {seconds(first)}, last after {seconds(last)}.")
    typer.echo("\n" + NEXT)


async def _keep_serving(environment: Environment, application: Application) -> None:
    import uvicorn

    from scrapersky.asgi import create_app

    settings = load(environment)
    address, key = f"http://{settings.host}:{settings.port}", await _demo_key(application)
    typer.echo(
        f"The API is at {address}; Ctrl-C ends it. With a key made for this demo:\n"
        f"  curl -H 'Authorization: Bearer {key}' {address}/api/v3/workflows"
    )
    config = uvicorn.Config(create_app(environment), host=settings.host, port=settings.port, log_level="error")
    await asyncio.shield(uvicorn.Server(config).serve())


async def _demo_key(application: Application) -> str:
    """A key of an admin of the demo's own database, which goes away with it."""
    actor = await acting(application)
    async with application.database.session(actor.tenant_id) as session:
        user = await users.create(session, actor, "demo", Role.ADMIN)
        return (await api_keys.create(session, actor, user, "demo", None, None))[1]
