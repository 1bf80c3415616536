"""The page docs/adding-a-provider.md is followed to the letter, and the new provider is found everywhere."""

import csv
import json
from pathlib import Path

from tests.architecture.walkthrough import ROOT, Walkthrough
from tests.factories.http_server import Reply, ScriptedServer

PAGE = "adding-a-provider.md"
MAX_FILES = 3
MOLAR = {
    "id": "fi-17",
    "name": "Molar Oy",
    "town": "Helsinki",
    "country": "FI",
    "phone": "+358 9 6131 4720",
    "emails": ["info@molar.fi"],
}
SEARCH = ("find", "dentists in Helsinki", "--provider", "directory", "--out", "leads.csv", "--json")


async def test_following_the_page_gives_a_provider_that_finds_leads(tmp_path: Path, empty_url: str) -> None:
    copy = Walkthrough(PAGE, tmp_path, empty_url)
    assert len(copy.files) <= MAX_FILES
    assert f"touches {len(copy.files)} files" in " ".join((ROOT / "docs" / PAGE).read_text().split())

    assert "PROVIDER_DIRECTORY_URL" in await copy.scrapersky("settings")
    await copy.scrapersky("migrate")
    async with ScriptedServer() as server:
        server.replies["/companies"] = [Reply([MOLAR])]
        allowed = {"PROVIDER_DIRECTORY_URL": server.url, "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{server.port}"}
        summary = json.loads(await copy.scrapersky(*SEARCH, **allowed))
        asked = [(request.path, request.query) for request in server.requests]
    assert asked == [("/companies", {"kind": "dentists", "town": "Helsinki"})]
    assert summary["provider"] == "directory"
    with (tmp_path / "leads.csv").open(encoding="utf-8-sig") as file:
        leads = list(csv.DictReader(file))
    assert [lead["business"] for lead in leads] == ["Molar Oy"]
    assert "info@molar.fi" in leads[0].values()


async def test_the_schema_of_the_api_names_the_new_provider(tmp_path: Path, empty_url: str) -> None:
    copy = Walkthrough(PAGE, tmp_path, empty_url)
    printed = await copy.python("-c", SCHEMA)
    assert "directory" in printed
    assert "Set PROVIDER_DIRECTORY_URL to use it." in printed


SCHEMA = """
from scrapersky.api.searches.searches import NewSearch
from scrapersky.providers.registry import unknown_provider
print(NewSearch.model_json_schema()["properties"]["provider"]["description"])
print(unknown_provider("directory", ["openstreetmap"]))
"""
