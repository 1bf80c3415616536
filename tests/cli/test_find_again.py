"""`scrapersky find` again without any worker: each run ends by itself, and what is gone is known."""

import csv
import json

import pytest

from scrapersky.sandbox.sandbox import Sandbox
from tests.cli.conftest import Command
from tests.factories.login_role import admitted_url

WORDS = ("find", "bakeries in Turku", "--json", "--max-pages-per-site", "1", "--no-site-search")
QUICK = {
    "CRAWL_HOST_DELAY_SECONDS": "0",
    "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
    "CRAWL_PARSER_PROCESSES": "1",
    "CONTACT_VERIFICATION_SCHEDULER_BACKOFF_SECONDS": "0.5",
}


@pytest.fixture
async def large():
    async with Sandbox(seed=77, businesses=400) as little_internet:
        yield little_internet


@pytest.fixture
async def small():
    async with Sandbox(seed=77, businesses=200) as little_internet:
        yield little_internet


async def test_what_is_gone_is_known_without_a_worker(process, line: Command, large, small, database_url, tmp_path):
    out = tmp_path / "leads.csv"
    words = (*WORDS, "--out", str(out), "--idle-timeout", "5")
    first = await process(*words, **large.environment(), **QUICK, DATABASE_URL=database_url).leave(240)
    second = await process(*words, "--refresh", **small.environment(), **QUICK, DATABASE_URL=database_url).leave(240)
    assert (first.code, second.code) == (0, 0), first.err + second.err
    told = json.loads(second.out)
    [search] = json.loads((await line("search", "list", "--json")).out)
    gone = json.loads(first.out)["rows"] - search["result_count"]
    runs = json.loads((await line("search", "runs", told["search_id"], "--json")).out)
    assert [(run["number"], run["is_whole"]) for run in runs] == [(2, True), (1, True)]
    found = json.loads((await line("search", "diff", told["search_id"], "--json")).out)
    assert found["businesses"]["gone"] == gone > 0
    exported = await line("export", "leads", "--search", told["search_id"], "--gone", "--out", str(tmp_path / "g.csv"))
    assert exported.code == 0
    with (tmp_path / "g.csv").open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.DictReader(file))) == gone


async def test_a_destination_is_notified_of_the_end_of_the_command(
    process, line: Command, small, database_url, tmp_path
):
    variables = {**small.environment(), **QUICK, "DATABASE_URL": await admitted_url(database_url)}
    variables |= {"SCRAPERSKY_DATA_DIR": str(tmp_path)}
    url = "http://hooks.example/ends"
    made = await line("destination", "add", "hook", "--kind", "webhook", "--url", url, "--json", **variables)
    assert made.code == 0, made.err
    receiver = small.hooks.add("/ends", json.loads(made.out)["signing_secret"])
    sites = tmp_path / "sites.txt"
    sites.write_text(next(entry["host"] for entry in small.truth() if entry["reachable"] and entry["emails"]))
    words = ("find", "--domains", str(sites), "--max-pages-per-site", "1", "--out", str(tmp_path / "leads.csv"))
    said = await process(*words, "--notify", url, "--idle-timeout", "20", **variables).leave(240)
    assert (said.code, "hook was notified." in said.err) == (0, True), said.err
    [event] = receiver.effects.values()
    assert (event["type"], event["data"]["ended"], receiver.forged) == ("search.completed", "complete", 0)
    again = await process(*words, "--notify", "hook", **variables).leave(240)
    assert "hook is not notified: the run is complete already. --refresh makes another run." in again.err
    unknown = await process(*words, "--notify", "nobody", **variables).leave(240)
    assert (unknown.code, "no destination with the name or URL 'nobody'" in unknown.err) == (2, True)
    assert len(receiver.seen) == 1
