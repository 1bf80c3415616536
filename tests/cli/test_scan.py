"""`scrapersky scan` and the scripts over it: pending, then completed, as the old work order wants it."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from scrapersky.sandbox.sandbox import Sandbox
from tests import ROOT

SCRIPTS = ROOT / "scripts" / "sitemap_scheduler"


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=8, businesses=40) as little_internet:
        yield little_internet


@pytest.fixture
def script(sandbox, database_url, tmp_path):
    """Run a script of the work order; its exit code and what it printed."""

    async def run(name: str, *words: str) -> tuple[int, str]:
        result = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, str(SCRIPTS / f"{name}.py"), *words],
            cwd=tmp_path,
            env={
                **os.environ,
                **sandbox.environment(),
                "DATABASE_URL": database_url,
                "CRAWL_HOST_DELAY_SECONDS": "0",
            },
            capture_output=True,
            text=True,
            timeout=240,
        )
        return result.returncode, result.stdout + result.stderr

    return run


async def test_a_domain_goes_from_pending_to_completed(script, sandbox, admin):
    host = next(
        entry["host"] for entry in sandbox.truth() if entry["reachable"] and entry["sitemap"] and entry["emails"]
    )
    await admin.execute("UPDATE workflow_control SET paused_at = now()")
    assert await script("add_test_sitemap", "--domain", f"http://{host}/") == (0, f"http://{host}/: pending\n")
    code, _ = await script("check_sitemap", "--domain", host)
    assert code == 1
    code, said = await script("process_sitemap", "--trigger-scheduler")
    assert code == 0, said
    code, said = await script("check_sitemap", "--domain", host)
    assert (code, said) == (0, f"{host}: completed, sitemaps found: 1 sitemap, 0 pages so far\n")
    code, said = await script("monitor_scheduler", "--interval", "0.1", "--times", "1")
    assert "sitemap_analysis" in said


async def test_the_status_of_a_site_that_was_never_scanned_names_the_command(line):
    said = await line("scan", "nowhere.fi", "--check")
    assert said.code == 2
    assert "scrapersky scan nowhere.fi" in said.sentence


@pytest.mark.parametrize("site", ["127.0.0.1", "localhost", "https://facebook.com/x", "not a site"])
async def test_a_text_that_is_no_site_is_refused(line, site):
    assert (await line("scan", site)).code == 2


async def test_a_scan_is_a_job_that_scripts_can_read(line, admin):
    said = await line("scan", "somewhere.fi", "--json")
    job = json.loads(said.out)
    assert (said.code, job["state"]) == (0, "pending")
    assert await admin.fetchval("SELECT sitemap_analysis_status FROM domain WHERE name = 'somewhere.fi'") == "Queued"
