"""Run in the copy of the project: the routes of brands are described, listed, read and curated over HTTP.

Prints one JSON object with the responses.
"""

import asyncio
import json
import sys
from typing import Any

import httpx

from tests.factories.api_application import app_over, client_with, make_key, served

BRANDS = "/api/v3/brands"


async def main(database_url: str) -> dict[str, Any]:
    """Return what the responses contain."""
    app = app_over(database_url)
    async with served(app) as client:
        seen = {"described": await described(client), **await listed(client), **await curated(client)}
        viewer = await make_key(app.state.application.database, "viewer", name="vera")
        async with client_with(app, viewer) as other:
            body = {"filter": {}, "curation_status": "Maybe"}
            seen["viewer"] = (await other.post(f"{BRANDS}/curation", json=body)).status_code
    return seen


async def described(client: httpx.AsyncClient) -> dict[str, Any]:
    paths = (await client.get("/api/v3/openapi.json")).json()["paths"]
    operations = [
        operation["operationId"] for path in paths if path.startswith(BRANDS) for operation in paths[path].values()
    ]
    return {"operations": operations, "query": [one["name"] for one in paths[BRANDS]["get"]["parameters"]]}


async def listed(client: httpx.AsyncClient) -> dict[str, Any]:
    first = (await client.get(f"{BRANDS}?sort=name&limit=3")).json()
    second = (await client.get(f"{BRANDS}?sort=name&limit=3&cursor={first['next_cursor']}")).json()
    assert second["next_cursor"] is None
    row = (await client.get(f"{BRANDS}/{first['items'][0]['id']}")).json()
    refused = [
        await client.get(f"{BRANDS}?colour=red"),
        await client.get(f"{BRANDS}?sort=-name&cursor={first['next_cursor']}"),
        await client.get(f"{BRANDS}/00000000-0000-7000-8000-000000000000"),
    ]
    return {
        "pages": [names(first), names(second)],
        "total": first["total"],
        "with_website": names((await client.get(f"{BRANDS}?has_website=true&sort=-name")).json()),
        "by_text": names((await client.get(f"{BRANDS}?text=brand 4")).json()),
        "refused": [response.status_code for response in refused],
        "row": {name: row[name] for name in ("name", "country", "notes", "curation_status")},
    }


async def curated(client: httpx.AsyncClient) -> dict[str, Any]:
    first = (await client.get(f"{BRANDS}?sort=name")).json()["items"][0]
    by_ids = {"ids": [first["id"]], "curation_status": "Selected"}
    preview = {"filter": {"curation_status": "New"}, "curation_status": "Maybe", "preview": True}
    return {
        "curated": (await client.post(f"{BRANDS}/curation", json=by_ids)).json(),
        "previewed": (await client.post(f"{BRANDS}/curation", json=preview)).json(),
        "selected": names((await client.get(f"{BRANDS}?curation_status=Selected")).json()),
    }


def names(page: dict[str, Any]) -> list[str]:
    return [item["name"] for item in page["items"]]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1]))))
