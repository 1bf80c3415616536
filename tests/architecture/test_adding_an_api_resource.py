"""The page docs/adding-an-api-resource.md is followed to the letter, and the resource is served."""

import json
from pathlib import Path

import asyncpg

from tests.architecture.walkthrough import ROOT, Walkthrough

PAGE = "adding-an-api-resource.md"
MAX_FILES = 4  # besides the migration


async def test_following_the_page_gives_a_resource_with_list_get_and_curation(tmp_path: Path, empty_url: str) -> None:
    copy = Walkthrough(PAGE, tmp_path, empty_url)
    touched = {path for path in copy.files if not path.startswith("migrations/")}
    assert len(touched) <= MAX_FILES
    assert f"Besides the migration it touches {len(touched)} files" in " ".join(
        (ROOT / "docs" / PAGE).read_text().split()
    )

    await copy.scrapersky("migrate")
    connection = await asyncpg.connect(empty_url)
    tenant = await connection.fetchval("SELECT id FROM tenant")
    await connection.executemany(
        "INSERT INTO brand (tenant_id, name, country, website) VALUES ($1, $2, 'FI', $3)",
        [(tenant, f"Brand {number}", "https://brand.example" if number % 2 else None) for number in range(5)],
    )
    await connection.close()
    requests = ("-m", "tests.architecture.api_resource_requests", empty_url)
    seen = json.loads((await copy.python(*requests)).splitlines()[-1])

    described = seen["described"]
    assert described["operations"] == [
        "list_brands",
        "count_brands",
        "curate_brands",
        "get_brand",
        "get_brand_history",
    ]
    assert {"curation_status", "country", "has_website", "text", "sort", "cursor", "limit"} <= {*described["query"]}
    assert seen["pages"] == [["Brand 0", "Brand 1", "Brand 2"], ["Brand 3", "Brand 4"]]
    assert (seen["total"], seen["with_website"], seen["by_text"]) == (5, ["Brand 3", "Brand 1"], ["Brand 4"])
    assert seen["refused"] == [422, 400, 404]
    assert seen["row"] == {"name": "Brand 0", "country": "FI", "notes": None, "curation_status": "New"}
    assert (seen["curated"]["updated"], seen["previewed"]["matched"], seen["selected"]) == (1, 4, ["Brand 0"])
    assert seen["viewer"] == 403
