"""The page docs/adding-a-workflow.md is followed to the letter, and the ninth workflow works."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from tests.conftest import numbers

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-workflow.md"
STEP = re.compile(
    r"^(?:Create `(?P<create>[^`]+)`|In `(?P<edit>[^`]+)`, after the line `(?P<anchor>[^\n]+)`):\n\n"
    r"```python\n(?P<code>.*?)```$",
    re.MULTILINE | re.DOTALL,
)


def follow(page: str, application: Path) -> int:
    """Do what each step of the page says in a copy of the house; the number of steps."""
    steps = list(STEP.finditer(page))
    for step in steps:
        if step["create"]:
            (application / step["create"]).write_text(step["code"])
            continue
        path = application / step["edit"]
        text = path.read_text()
        assert text.count(step["anchor"] + "\n") == 1, f"{step['edit']} has no single line {step['anchor']!r}"
        path.write_text(text.replace(step["anchor"] + "\n", step["anchor"] + "\n" + step["code"]))
    return len(steps)


@pytest.fixture
async def empty_url(server):
    name = f"ninth_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name}")
    yield server.url(name)
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_whoever_follows_the_page_gets_a_working_tenth_workflow(tmp_path, empty_url):
    for part in ("src", "migrations"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    assert follow(PAGE.read_text(), tmp_path) == 6
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "DATABASE_URL": empty_url}

    async def scrapersky(*words: str, **variables: str) -> str:
        result = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "scrapersky", *words],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=90,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    await scrapersky("migrate")
    connection = await asyncpg.connect(empty_url)
    tenant = await connection.fetchval("SELECT id FROM tenant")
    for name in ("MOLAR & SONS", "Quiet Ltd"):
        await connection.execute(
            "INSERT INTO local_business (tenant_id, name, tidy_name_status) VALUES ($1, $2, 'Queued')", tenant, name
        )
    await scrapersky("run", "tidy_name")
    rows = {row["name"]: row for row in await connection.fetch("SELECT * FROM local_business")}
    assert rows["Molar & Sons"]["tidy_name_status"] == "Completed"
    assert rows["Quiet Ltd"]["tidy_name_error"] == "the name is fine"
    await connection.close()
    assert "tidy_name" in await scrapersky("status")
    assert "TIDY_NAME_SCHEDULER_BATCH_SIZE" in await scrapersky("settings", TIDY_NAME_SCHEDULER_BATCH_SIZE="500")
