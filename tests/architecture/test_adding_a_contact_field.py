"""The page docs/adding-a-contact-field.md is followed to the letter, and the field appears everywhere."""

import csv
import json
from pathlib import Path

import asyncpg

from tests.architecture.walkthrough import ROOT, Walkthrough
from tests.factories.line_rows import add_line

PAGE = "adding-a-contact-field.md"
MAX_FILES = 5  # besides the migration


async def test_following_the_page_gives_a_contact_field_everywhere(tmp_path: Path, empty_url: str) -> None:
    copy = Walkthrough(PAGE, tmp_path, empty_url)
    touched = {path for path in copy.files if not path.startswith("migrations/")}
    assert len(touched) <= MAX_FILES
    assert f"it touches {len(touched)} files besides the migration" in " ".join(
        (ROOT / "docs" / PAGE).read_text().split()
    )

    await copy.scrapersky("migrate")
    connection = await asyncpg.connect(empty_url)
    tenant = await connection.fetchval("SELECT id FROM tenant")
    ids = await add_line(connection, tenant)
    await connection.execute("DELETE FROM contact")
    journey = ("-m", "tests.architecture.contact_field_journey", empty_url, str(tenant), ids["pages"])
    known = json.loads((await copy.python(*journey)).splitlines()[-1])
    both = {"anna.molar@molar.fi": "Finnish, English", "bo.bridge@molar.fi": "Swedish"}
    assert (known["found"], known["stored"], known["listed"]) == (both, both, both)
    assert (known["changed"], known["delivered"], known["reported"]) == ("Finnish", "Finnish", ["Finnish"])
    assert known["erased"] is None

    (tmp_path / "people.csv").write_text("email,spoken languages\ncia@molar.fi,Estonian\n")
    await copy.scrapersky("import", "contacts", "people.csv")
    assert await connection.fetchval("SELECT languages FROM contact WHERE email = 'cia@molar.fi'") == "Estonian"
    await connection.close()
    for per in ("contact", "business"):
        file = tmp_path / f"{per}.csv"
        await copy.scrapersky("export", "leads", "--search", ids["searches"], "--per", per, "--out", str(file))
        rows = list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))
        assert "Finnish" in {row["languages"] for row in rows}
