"""`scrapersky find`: from a search to a file, resumed, repeated, killed in the middle; and every way to ask wrongly."""

import asyncio
import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scrapersky.core.vocabularies import HiddenReason
from scrapersky.sandbox.sandbox import Sandbox

SEED = 31
FEW_PAGES = ("--max-pages-per-site", "1")


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=SEED, businesses=120) as little_internet:
        yield little_internet


@pytest.fixture
def variables(sandbox, database_url):
    return {
        **sandbox.environment(),
        "DATABASE_URL": database_url,
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
        "CRAWL_PARSER_PROCESSES": "1",
        "DOMAIN_SCHEDULER_MAX_ATTEMPTS": "1",  # what is broken in the sandbox stays broken
        "DOMAIN_SITEMAP_SCHEDULER_MAX_ATTEMPTS": "1",
        "SITEMAP_IMPORT_SCHEDULER_MAX_ATTEMPTS": "1",
        "PAGE_CURATION_SCHEDULER_MAX_ATTEMPTS": "1",
        "CONTACT_VERIFICATION_SCHEDULER_BACKOFF_SECONDS": "0.5",
    }


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


COUNTS = """SELECT (SELECT count(*) FROM search), (SELECT count(*) FROM place), (SELECT count(*) FROM local_business),
    (SELECT count(*) FROM domain), (SELECT count(*) FROM page), (SELECT count(*) FROM contact)"""


async def test_a_search_becomes_a_file_and_again_the_same_file(process, variables, tmp_path, admin):
    out = tmp_path / "leads.csv"
    words = ("find", "dentists in Helsinki", "--out", str(out), "--json", "--limit", "12")
    said = await process(*words, **variables).leave(240)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["left"] == 0
    assert told["emails"] > 0
    rows = rows_of(out)
    assert len(rows) == told["rows"] == 12
    assert all(row["email"] or row["phone"] or row["state"] for row in rows)
    assert all(row["source"].startswith("http") for row in rows if row["email"])
    assert all(row["verdict"] and row["verdict_reasons"] for row in rows if row["email"])
    assert sum(told["verdicts"].values()) == told["emails"]
    assert told["steps"]["contact_verification"]["completed"] >= told["emails"]

    before = tuple(await admin.fetchrow(COUNTS))
    await admin.execute("UPDATE contact SET curation_status = 'Not a Fit' WHERE email = $1", rows_with_email(rows))
    again = await process(*words, "--refresh", **variables).leave(240)
    assert again.code == 0, again.err
    assert tuple(await admin.fetchrow(COUNTS)) == before, "the same search twice duplicates nothing"
    turned_down = await admin.fetchval("SELECT count(*) FROM contact WHERE curation_status = 'Not a Fit'")
    assert turned_down >= 1, "and what a person decided stays"
    assert rows_with_email(rows) not in [row["email"] for row in rows_of(out)]


async def test_a_search_keeps_its_rows_whoever_else_finds_the_same_places(process, variables, tmp_path):
    out = tmp_path / "leads.csv"
    words = ("find", "dentists in Helsinki", "--out", str(out), "--limit", "8", *FEW_PAGES)
    assert (await process(*words, **variables).leave(240)).code == 0
    before = rows_of(out)
    other = ("find", "dentists in Helsinki", "--out", str(tmp_path / "few.csv"), "--limit", "3", *FEW_PAGES)
    assert (await process(*other, **variables).leave(240)).code == 0
    assert (await process(*words, **variables).leave(240)).code == 0
    assert rows_of(out) == before, "another search has found some of its businesses, too"


def rows_with_email(rows: list[dict[str, str]]) -> str:
    return next(row["email"] for row in rows if row["email"])


async def test_killed_in_the_middle_the_same_command_goes_on(process, variables, tmp_path, admin):
    quick = {**variables, **{f"{name}_SCHEDULER_LEASE_SECONDS": "1" for name in LEASED}}
    out = tmp_path / "leads.csv"
    words = ("find", "dentists in Helsinki", "--out", str(out), "--json", "--limit", "12")
    first = process(*words, **quick)
    async with asyncio.timeout(240):
        while not await admin.fetchval("SELECT count(*) > 0 FROM contact"):
            await asyncio.sleep(0.05)
    first.tell(signal.SIGKILL)
    await first.leave()
    assert not out.exists(), "a file appears whole or not at all"
    said = await process(*words, **quick).leave(240)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert (told["rows"], told["left"]) == (12, 0)
    duplicates = await admin.fetchval(
        "SELECT count(*) FROM (SELECT 1 FROM contact GROUP BY tenant_id, domain_id, identity HAVING count(*) > 1) d"
    )
    stuck = await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_status = 'Processing'")
    assert (duplicates, stuck) == (0, 0)


async def test_a_closed_terminal_leaves_the_file_of_what_was_found(variables, tmp_path, admin):
    out, (ours, theirs) = tmp_path / "leads.csv", os.openpty()
    words = ("find", "dentists in Helsinki", "--out", str(out), "--limit", "60")
    begun = [sys.executable, "-c", ON_TERMINAL, "-m", "scrapersky", *words]
    environment = {**os.environ, **variables}
    find = subprocess.Popen(
        begun, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, env=environment, start_new_session=True
    )
    os.close(theirs)
    loop = asyncio.get_running_loop()
    loop.add_reader(ours, os.read, ours, 65_536)
    try:
        async with asyncio.timeout(240):
            while not await admin.fetchval("SELECT count(*) > 0 FROM contact WHERE email IS NOT NULL"):
                await asyncio.sleep(0.05)
        loop.remove_reader(ours)
        os.close(ours)
        assert await asyncio.to_thread(find.wait, 120) == 130
    finally:
        find.kill()
    assert rows_of(out)
    assert await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_status = 'Processing'") == 0


ON_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
LEASED = (
    "PLACE_SEARCH",
    "DEEP_SCAN",
    "SITE_SEARCH",
    "DOMAIN_EXTRACTION",
    "DOMAIN",
    "DOMAIN_SITEMAP",
    "SITEMAP_IMPORT",
    "PAGE_CURATION",
    "CONTACT_VERIFICATION",
)


async def test_a_list_of_web_sites_starts_a_search(process, variables, sandbox, tmp_path, admin):
    known = [entry for entry in sandbox.truth() if entry["reachable"] and entry["emails"]][:4]
    sites = tmp_path / "sites.txt"
    own = {entry["host"]: {"Account ID": f"00{n}", "email": f"me+{n}@own.example"} for n, entry in enumerate(known)}
    lines = [f"{cells['Account ID']};http://{host}/;{cells['email']}" for host, cells in own.items()]
    sites.write_text("\n".join(["Account ID;website;email", *lines, "x;not a site;"]))
    out = tmp_path / "people.jsonl"
    said = await process("find", "--domains", str(sites), "--out", str(out), "--json", **variables).leave(240)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["rejected_lines"] == ["line 6: 'not a site': It contains characters that no address has."]
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert list(found[0])[:4] == ["Account ID", "own_website", "own_email", "business"], "the own columns come first"
    given = {row["domain"]: {"Account ID": row["Account ID"], "email": row["own_email"]} for row in found}
    assert given == own
    assert all(row["email"] for row in found)

    read_at = "SELECT max(updated_at) FROM page"  # bodies that were fetched a moment ago are in the cache
    before = await admin.fetchval(read_at)
    words = ("find", "--domains", str(sites), "--out", str(out), "--json", "--idle-timeout", "5")
    assert (await process(*words, **variables).leave(240)).code == 0
    assert await admin.fetchval(read_at) == before
    assert (await process(*words, "--refresh", **variables).leave(240)).code == 0
    assert await admin.fetchval("SELECT max(number) FROM search_run WHERE is_complete") == 2
    assert await admin.fetchval(read_at) > before, "the web sites are read again"


async def test_slow_counts_cost_a_blank_in_the_progress_and_never_the_file(process, variables, sandbox, tmp_path):
    known = next(entry for entry in sandbox.truth() if entry["reachable"] and entry["emails"])
    sites, out = tmp_path / "sites.txt", tmp_path / "leads.csv"
    sites.write_text(f"http://{known['host']}/\n")
    words = ("find", "--domains", str(sites), "--out", str(out), "--idle-timeout", "8")
    slow = {**variables, "SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS": "1"}
    said = await process(*words, module="tests.cli.slow_progress", **slow).leave(240)
    assert said.code == 0, said.err
    assert said.err.count("Counting the rows takes too long") == 1
    assert "Traceback" not in said.err
    assert rows_of(out)[0]["domain"] == known["host"]


async def test_nothing_found_is_no_error_but_an_exit_code(process, variables, tmp_path):
    words = ("find", "--in", "Helsinki", "planetariums", "--out", str(tmp_path / "x.csv"))
    said = await process(*words, **variables).leave(240)
    assert said.code == 1, said.err
    assert "openstreetmap has no planetariums in Helsinki. Check the spelling" in said.err.replace("\n", " ")
    assert said.out == "", "no table of zeros"
    assert rows_of(tmp_path / "x.csv") == []


async def test_rows_that_pause_for_longer_than_the_patience_end_it_at_once_and_are_named(
    process, variables, sandbox, tmp_path
):
    words = ("find", "dentists in Helsinki", "--provider", "google_places", "--out", str(tmp_path / "x.csv"))
    sandbox.google.fail("per_day")
    said = await process(*words, "--limit", "5", "--idle-timeout", "600", **variables).leave(240)
    assert said.code == 3, said.err
    assert re.search(r"Postponed until .*\d \(searching, 1 row\): .* the quota of the day is used up", said.err)
    assert "1 row is left; the same command continues with it" in said.err.replace("\n", " ")
    told = json.loads((await process(*words, "--limit", "5", "--json", **variables).leave(240)).out)
    assert (told["left"], [wait["workflow"] for wait in told["waiting"]]) == (1, ["place_search"])


async def test_rows_that_pause_for_a_moment_are_waited_for_and_it_says_so(process, variables, sandbox, tmp_path):
    sandbox.nominatim.fail("broken", times=2)  # before the search, and in it
    words = ("find", "dentists in Helsinki", "--limit", "5", "--out", str(tmp_path / "x.csv"), "--idle-timeout", "60")
    said = await process(*words, **variables, PLACE_SEARCH_SCHEDULER_BACKOFF_SECONDS="8").leave(240)
    assert said.code == 0, said.err
    assert re.search(r"Waiting until [^(]+ \(searching, 1 row\): .*Nominatim", said.err)
    assert "Postponed" not in said.err


async def test_without_money_for_details_it_says_what_to_raise_and_goes_on_when_it_is(
    process, variables, sandbox, tmp_path, admin
):
    words = ("find", "dentists in Helsinki", "--provider", "google_places", "--limit", "6", "--out")
    first = await process(*words, str(tmp_path / "x.csv"), "--budget", "0.04", "--json", **variables).leave(240)
    bill = json.loads(first.out)["bill"]
    assert (bill["cost_cents"], bill["budget_cents"], bill["call_count"], bill["details_count"]) == (4, 4, 1, 0)
    await admin.execute("UPDATE place SET deep_scan_status = 'Queued', fetched_at = now() - interval '2 days'")
    second = await process(*words, str(tmp_path / "x.csv"), "--budget", "0.04", **variables).leave(240)
    assert second.code == 0, second.err
    assert re.search(
        r"Postponed until [^(]+ \(places, 6 rows\): .*used up \(0\.04 of 0\.04\).*larger budget", second.err
    )
    assert sandbox.google.calls["details"] == 0
    third = await process(*words, str(tmp_path / "x.csv"), "--budget", "1", **variables).leave(240)
    assert third.code == 0, third.err
    assert sandbox.google.calls["details"] == 6
    assert "Cost 0.16 in the provider's currency, budget 1.00: 7 calls, 6 of them for details (0.12)." in third.err
    assert "Postponed" not in third.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("dentists in Helsinki", "--out", "missing/leads.csv"), "missing does not exist"),
        (("dentists in Helsinki", "--out", "leads.doc"), "ends in .doc"),
        (("--domains", "missing.txt"), "missing.txt cannot be read"),
        (("dentists in Helsinki", "--provider", "nobody"), "'nobody' is not one of"),
        (("dentists in Helsinki", "--tenant", "nobody"), "has no tenant 'nobody'"),
        ((), "Give either a search, --domains FILE or --queries FILE"),
        (("dentists in Helsinki", "--domains", "x"), "Give either a search, --domains FILE or --queries FILE"),
        (("",), 'The search does not say what to look for: write "dentists in Helsinki"'),
        (("dentists",), 'write "dentists in Helsinki"'),
        (("drive in cinemas",), 'write "drive in cinemas in Helsinki"'),
        (("--domains", "x", "--limit", "3", "--in", "Turku"), "leave out --in and --limit"),
        (("--domains", "x", "--provider", "openstreetmap"), "leave out --provider"),
        (("--domains", "x", "--budget", "1"), "leave out --budget"),
    ],
)
async def test_wrong_options_get_a_sentence_and_nothing_is_stored(line, admin, words, sentence):
    said = await line("find", *words)
    assert said.code == 2
    assert sentence in said.sentence
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


async def test_an_unknown_kind_of_rows_is_wrong_usage(command):
    assert (await command("find", "dentists in Helsinki", "--per", "planet")).code == 2


async def test_sites_that_hide_are_named_in_the_file_and_counted_in_the_summary(sandbox, process, variables, tmp_path):
    by_condition = {each.condition.value: each.host for each in sandbox.world if each.host}
    hosts = {reason.value: by_condition[reason.value] for reason in HiddenReason}
    sites, out = tmp_path / "sites.txt", tmp_path / "leads.csv"
    sites.write_text("\n".join([*hosts.values(), by_condition["healthy"]]))
    words = ("find", "--domains", str(sites), "--out", str(out))
    said = await process(*words, "--json", **variables).leave(240)
    assert said.code == 0, said.err
    assert json.loads(said.out)["hidden"] == dict.fromkeys(HiddenReason, 1)
    hidden = {row["domain"]: row["hidden"] for row in rows_of(out)}
    assert hidden == {**{host: reason for reason, host in hosts.items()}, by_condition["healthy"]: ""}
    assert all(row["state"] for row in rows_of(out) if row["hidden"])
    again = await process(*words, **variables).leave(240)
    assert "1 site asks for a bot check, 1 asks for consent first, 1 is drawn by JavaScript" in again.err
