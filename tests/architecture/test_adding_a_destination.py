"""The page docs/adding-a-destination.md is followed to the letter, and a contact is delivered to the new kind."""

import json
from pathlib import Path

import asyncpg

from tests.architecture.walkthrough import ROOT, Walkthrough
from tests.factories.http_server import Reply, ScriptedServer

PAGE = "adding-a-destination.md"
MAX_FILES = 3
URL = "http://ntfy.example"


async def test_following_the_page_gives_a_destination_that_is_delivered_to(tmp_path: Path, empty_url: str) -> None:
    copy = Walkthrough(PAGE, tmp_path, empty_url)
    assert len(copy.files) <= MAX_FILES
    assert f"it touches {len(copy.files)} files" in " ".join((ROOT / "docs" / PAGE).read_text().split())
    assert not any(path.startswith("migrations/") for path in copy.files)

    async with ScriptedServer() as server:
        server.replies["/v1/health"] = [Reply({"healthy": True})]
        server.replies["/"] = [Reply({"id": "hwQ2YpKdmg"})]
        copy.environment |= {
            "SCRAPERSKY_DATA_DIR": str(tmp_path / "data"),
            "CRAWL_HOST_OVERRIDES": f"ntfy.example=127.0.0.1:{server.port}",
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{server.port}",
        }
        await copy.scrapersky("migrate")
        connection = await asyncpg.connect(empty_url)
        await connection.execute(
            "INSERT INTO contact (tenant_id, identity, email, name) "
            "SELECT id, 'email:anna@molar.fi', 'anna@molar.fi', 'Anna Molar' FROM tenant"
        )
        await copy.scrapersky("destination", "add", "phone", "--kind", "ntfy", "--url", URL, stdin="tk_secret\n")
        assert await copy.scrapersky("destination", "test", "phone") == "phone: ntfy accepts requests.\n"
        await copy.scrapersky("deliver", "phone")
        await copy.scrapersky("run", "delivery")

        delivered = await connection.fetchrow("SELECT delivery_status, external_id FROM delivery")
        secret = await connection.fetchval("SELECT secret FROM destination")
        await connection.close()
        assert tuple(delivered) == ("Completed", "hwQ2YpKdmg")
        assert "tk_secret" not in secret
        health, published = server.requests
        assert health.path == "/v1/health"
        assert published.headers["Authorization"] == "Bearer tk_secret"
        assert (published.json["topic"], published.json["title"]) == ("contacts", "Anna Molar")

    described = json.loads(await copy.python("-c", DESCRIBE))
    assert described["kinds"] == ["webhook", "hubspot", "brevo", "n8n", "ntfy"]
    assert "ntfy: `topic`" in described["options"]


DESCRIBE = """
import json
from scrapersky.api.deliveries.destinations import NewDestination
schema = NewDestination.model_json_schema()["properties"]
print(json.dumps({"kinds": schema["kind"]["enum"], "options": schema["options"]["description"]}))
"""
