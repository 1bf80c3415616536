"""What can go wrong on the way from a search to its file: each ends with a sentence, and nothing is lost."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.line_rows import add_line

BLOCKS = "16"  # of 512 bytes: the largest file that may be written


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=31, businesses=200) as little_internet:
        yield little_internet


@pytest.fixture
def find(process, sandbox, database_url, tmp_path: Path):
    """`find` in the sandbox: what it left with, what it said as JSON, and on standard error."""

    async def run(*words: str, query: str = "dentists in Helsinki", **variables: str):
        out = tmp_path / "leads.csv"
        said = await process(
            *("find", query, "--out", str(out), "--max-pages-per-site", "1", "--json", *words),
            **{**sandbox.environment(), **ONCE, "DATABASE_URL": database_url, **variables},
        ).leave(240)
        assert "Traceback" not in said.err
        return said.code, json.loads(said.out) if said.out else {}, said.err

    return run


STEPS = ("PLACE_SEARCH", "DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION")
ONCE = {
    "CRAWL_HOST_DELAY_SECONDS": "0",
    **{f"{step}_SCHEDULER_MAX_ATTEMPTS": "1" for step in STEPS},  # what is broken in the sandbox stays broken
    "CONTACT_VERIFICATION_SCHEDULER_BACKOFF_SECONDS": "0.5",  # and who is silent stays silent
}
GOOGLE = ("--provider", "google_places")


async def test_without_a_key_the_setting_is_named(line):
    said = await line("find", "dentists in Helsinki", *GOOGLE)
    assert said.code == 2
    assert said.sentence.endswith("'google_places' is not one of openstreetmap. Set PROVIDER_GOOGLE_API_KEY to use it.")


async def test_a_wrong_key_is_the_reason_why_nothing_was_found(find):
    code, told, _ = await find(*GOOGLE, PROVIDER_GOOGLE_API_KEY="not-the-key")
    [reason] = told["reasons"]
    assert (code, told["rows"], reason["step"], reason["status"]) == (4, 0, "place_search", "Error")
    assert "PROVIDER_GOOGLE_API_KEY" in reason["reason"]
    assert "not-the-key" not in json.dumps(told)


async def test_a_search_that_fails_keeps_the_file_of_yesterday(find, process, sandbox, database_url, tmp_path):
    out = tmp_path / "leads.csv"
    out.write_text("yesterday's")
    code, told, _ = await find(*GOOGLE, PROVIDER_GOOGLE_API_KEY="not-the-key")
    assert (code, told["kept"], out.read_text()) == (4, True, "yesterday's")
    words = ("find", "dentists in Helsinki", "--out", str(out), *GOOGLE)
    variables = {
        **sandbox.environment(),
        **ONCE,
        "DATABASE_URL": database_url,
        "PROVIDER_GOOGLE_API_KEY": "not-the-key",
    }
    said = (await process(*words, **variables).leave(240)).err.replace("\n", " ")
    assert "The search failed: " in said
    assert f"{out} existed before and was kept." in said
    code, told, _ = await find(*GOOGLE, "--limit", "5")
    assert (code, told["kept"]) == (0, False)
    assert out.read_text() != "yesterday's"


async def test_a_budget_of_zero_has_another_sentence_than_no_result_and_no_file(find):
    code, told, _ = await find(*GOOGLE, "--limit", "40", "--budget", "0.01")
    assert (code, told["rows"], told["written"]) == (4, 0, False)
    assert "over the budget of 0.01" in told["notes"]


async def test_the_estimate_is_printed_before_and_the_cost_after_the_search(find, sandbox):
    code, told, said = await find(*GOOGLE, "--limit", "40")
    assert code == 0
    assert (
        "Probably 0.07 at most in the provider's currency, with 2 calls. It stops before 0.14. This is the default"
        in said.replace("\n", " ")
    )
    assert (told["estimate"]["calls"], told["estimate"]["cents"], told["estimate"]["budget_cents"]) == (2, 7, 14)
    assert (told["bill"]["cost_cents"], told["bill"]["budget_cents"]) == (7, 14)
    code, told, said = await find(*GOOGLE, "--limit", "40")
    assert "Probably" not in said, "nobody is asked again"
    assert told["bill"]["cost_cents"] == 7
    code, told, said = await find("--limit", "5")
    assert "Probably" not in said, "free"
    assert told["estimate"]["cents"] == 0


async def test_results_within_a_budget_are_kept_and_a_larger_one_continues_where_it_ended(find, sandbox):
    code, told, _ = await find(*GOOGLE, "--limit", "40", "--budget", "0.05")
    assert (code, told["rows"]) == (0, 20)
    assert "over the budget of 0.05" in told["notes"]
    code, told, _ = await find(*GOOGLE, "--limit", "40", "--budget", "1")
    assert (code, told["notes"], told["bill"]["call_count"]) == (0, None, 2)
    assert told["rows"] > 20


async def test_a_quota_of_the_day_is_waited_for_and_the_same_command_goes_on(find, sandbox, admin):
    sandbox.google.per_day = 0
    code, told, _ = await find(*GOOGLE, "--limit", "10")
    [reason] = told["reasons"]
    assert (code, told["left"], reason["status"]) == (3, 1, "Queued")
    assert "quota of the day" in reason["reason"]
    sandbox.google.per_day = None
    await admin.execute("UPDATE provider_cooldown SET until = now()")  # midnight in California
    await admin.execute("UPDATE search SET place_search_due_at = NULL")
    code, told, _ = await find(*GOOGLE, "--limit", "10")
    assert (code, told["rows"], told["left"]) == (0, 10, 0)


async def test_a_provider_that_is_down_is_the_reason(find, sandbox):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        closed_port = listener.getsockname()[1]
    allowed = f"{sandbox.allowance}, 127.0.0.1:{closed_port}"
    code, told, _ = await find(
        PROVIDER_OVERPASS_URL=f"http://127.0.0.1:{closed_port}/api", CRAWL_ALLOWED_PRIVATE_NETWORKS=allowed
    )
    [reason] = told["reasons"]
    assert (code, told["rows"], reason["step"]) == (4, 0, "place_search")
    assert "Overpass" in reason["reason"]


async def test_a_misspelt_city_is_the_reason_and_nothing_has_failed(find, line, admin, tmp_path):
    code, told, _ = await find("--in", "Nowhere-upon-Nothing", query="dentists")
    [reason] = told["reasons"]
    assert (code, told["rows"], reason["status"]) == (4, 0, "Skipped")
    assert "Nowhere-upon-Nothing" in reason["reason"]
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 0
    assert (told["written"], (tmp_path / "leads.csv").exists()) == (False, False)
    again, _, _ = await find("--in", "Nowhere-upon-Nothing", query="dentists")
    assert again == 4
    assert await admin.fetchval("SELECT call_count FROM search") is not None
    assert await admin.fetchval("SELECT place_search_attempts FROM search") == 2, "the provider was asked again"


async def test_a_search_that_fails_leaves_no_empty_file_and_says_so(process, sandbox, database_url, tmp_path):
    out = tmp_path / "leads.csv"
    variables = {**sandbox.environment(), **ONCE, "DATABASE_URL": database_url, "PROVIDER_GOOGLE_API_KEY": "wrong"}
    said = await process("find", "dentists in Helsinki", "--out", str(out), *GOOGLE, **variables).leave(240)
    assert (said.code, out.exists()) == (4, False)
    assert "The search failed: " in said.err
    assert f"{out} was not written: it would have no row." in said.err


@pytest.mark.parametrize(
    ("control", "sentence"),
    [
        ("paused_at = now(), paused_by = 'ada', pause_reason = 'moving'", "domain_metadata was paused by ada: moving."),
        (
            "breaker = 'open', breaker_until = now() + interval '1 hour', breaker_reason = '9 of 10 rows failed'",
            "domain_metadata waits for its breaker, which is open (9 of 10 rows failed) until ",
        ),
    ],
)
async def test_a_wait_for_a_pause_or_a_breaker_names_its_reason(find, admin, tmp_path, control, sentence):
    await admin.execute("INSERT INTO workflow_control (workflow) VALUES ('domain_metadata')")
    await admin.execute(f"UPDATE workflow_control SET {control}")
    code, told, said = await find("--limit", "3", "--idle-timeout", "6")
    assert (code, told["left"] > 0) == (0, True)
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE found_by <> 'provider'") == 0, "no page was read"
    assert sentence in " ".join(said.split())
    assert any(sentence in held for held in told["held"])


@pytest.mark.parametrize("out", ["/proc/leads.csv", "/dev/null/leads.csv"])
async def test_a_file_that_cannot_be_written_is_known_before_the_work(line, admin, out):
    said = await line("find", "dentists in Helsinki", "--out", out)
    assert said.code == 2
    assert said.sentence.startswith("The file cannot be written.")
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


@pytest.mark.parametrize(
    ("ending", "why"),
    [("csv", "File too large"), ("jsonl", "File too large"), ("xlsx", "IO_EFBIG"), ("parquet", "File too large")],
)
async def test_a_full_disk_leaves_the_old_file_and_a_sentence(admin, tenant, database_url, tmp_path, ending, why):
    await add_line(admin, tenant)
    await admin.execute(
        "INSERT INTO contact (tenant_id, identity, email, name) "
        "SELECT $1, n::text, md5(n::text) || '@example.com', md5((n + 1)::text) FROM generate_series(1, 1000) n",
        tenant,
    )
    out = tmp_path / f"contacts.{ending}"
    out.write_bytes(b"yesterday's")
    command = [sys.executable, "-m", "scrapersky", "export", "contacts", "--out", str(out)]
    # No byte code and no measurement of coverage: their files would be cut off as well.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    said = subprocess.run(
        ["sh", "-c", f'ulimit -f {BLOCKS}; exec "$@"', "sh", *command],
        env={**inherited, "DATABASE_URL": database_url, "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (said.returncode, said.stdout) == (2, ""), said.stderr
    assert "Traceback" not in said.stderr
    assert f"{out} cannot be written: " in said.stderr
    assert said.stderr.strip().endswith(f"{why}.")
    assert out.read_bytes() == b"yesterday's"
    assert [file.name for file in tmp_path.iterdir()] == [out.name], "nothing half written is left"
