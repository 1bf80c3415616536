"""Case 95: secrets are planted in every place that may hold one, the real process is used and abused, and nothing that
it says, answers, counts or stores shows one of them."""

import asyncio
import json
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from pydantic import SecretStr

from scrapersky.core.settings import Settings
from tests.cli.test_serve import until_ready
from tests.factories.api_application import make_key

PLANTED = {
    "DATABASE_URL": "planted-database-p@ss",
    "MIGRATION_DATABASE_URL": "planted-owner-p@ss",
    "CRAWL_PROXY_URL": "planted-proxy-pass",
    "PROVIDER_GOOGLE_API_KEY": "planted-google-key-0123456789abcdefgh",
    "SITE_SEARCH_BRAVE_API_KEY": "planted-brave-key-0123456789",
    "SCRAPERSKY_SECRET_KEY": "planted-Vq3hT9sLw0ZrYp6KmXc2Bn8DgFj4Ea71",
    "SCRAPERSKY_METRICS_TOKEN": "planted-metrics-token-0123456789",
}
GIVEN = {
    "bearer": "planted-bearer-0123456789",
    "password": "planted-password-of-a-login",
    "mistyped": "planted-password-in-the-wrong-field",
    "query": "planted-key-in-a-query",
    "path": "planted-token-in-a-path",
    "cookie": "planted-session-cookie",
    "header": "planted-key-in-a-header",
}
URLS = ("DATABASE_URL", "MIGRATION_DATABASE_URL")
NEEDLES = [*PLANTED.values(), *GIVEN.values(), *(quote(PLANTED[name], safe="") for name in URLS)]


def variables(url: str) -> dict[str, str]:
    """Every secret setting with something planted in it."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0] or "postgres"
    secrets = {setting: f"{name}:{quote(PLANTED[setting], safe='')}" for setting in URLS}
    return {
        **{setting: parts._replace(netloc=f"{secret}@{host}").geturl() for setting, secret in secrets.items()},
        "CRAWL_PROXY_URL": f"http://out:{PLANTED['CRAWL_PROXY_URL']}@127.0.0.1:1",
        "PROVIDER_GOOGLE_API_KEY": PLANTED["PROVIDER_GOOGLE_API_KEY"],
        "SITE_SEARCH_BRAVE_API_KEY": PLANTED["SITE_SEARCH_BRAVE_API_KEY"],
        "SCRAPERSKY_SECRET_KEY": PLANTED["SCRAPERSKY_SECRET_KEY"],
        "SCRAPERSKY_METRICS_TOKEN": PLANTED["SCRAPERSKY_METRICS_TOKEN"],
        "SCRAPERSKY_PORT": "0",
        "SCRAPERSKY_LOG_FORMAT": "json",
        "SCRAPERSKY_LOG_LEVEL": "debug",
        "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0",
        "PROVIDER_FILE_PATH": "missing.csv",
    }


def test_every_secret_setting_is_planted() -> None:
    secret = {field.alias for field in Settings.model_fields.values() if SecretStr in _kinds(field.annotation)}
    assert secret == set(PLANTED)


def _kinds(annotation: object) -> set[object]:
    return {annotation, *getattr(annotation, "__args__", ())}


async def test_planted_secrets_are_found_nowhere(process, command, database_url, database, admin) -> None:
    key = await make_key(database)
    serve = process("serve", **variables(database_url))
    address = (await serve.next_line()).split()[2]
    await until_ready(address)
    async with httpx.AsyncClient(base_url=address, timeout=240) as client:
        answers = await use_and_abuse(client, key, admin)
        await until_dead(client, key)
        await until_waiting(admin)
        for path in ("/metrics", "/health/ready", "/api/v3/dev-tools/scheduler_status", "/api/v3/dead-letters"):
            answer = await client.get(path, headers=bearer(key))
            assert answer.status_code == 200, (path, answer.text)
            answers.append(answer.text)
    serve.tell(15)
    said = await serve.leave()
    assert said.code == 0, said.err
    for word in ("request_failed", "login_failed", "request_served", "row_failed", "proxy_cooldown_started"):
        assert f'"{word}"' in said.err, word  # or the log has not seen what it must not show
    shown = [await command("settings", *form, **variables(database_url)) for form in ([], ["--json"])]
    heap = {
        "log": said.err + said.out,
        "answers": "\n".join(answers),
        "settings": "".join(one.out + one.err for one in shown),
        **{table: await stored(admin, table) for table in ("dead_letter", "audit", "run", "search", "maintenance")},
    }
    for needle in [*NEEDLES, key]:
        assert [place for place, text in heap.items() if needle in text] == [], needle


def bearer(credential: str) -> dict[str, str]:
    return {"authorization": f"Bearer {credential}"}


async def use_and_abuse(client: httpx.AsyncClient, key: str, admin) -> list[str]:
    """Requests that succeed, are refused and fail, each with a secret somewhere; their answers."""
    login, lists = "/api/v3/auth/login", "/api/v3/contacts"
    name, password = "ada", GIVEN["password"]
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", lists, {"headers": bearer(key)}),
        ("GET", lists, {"headers": bearer(GIVEN["bearer"])}),
        ("GET", lists, {"headers": {"authorization": f"Basic {GIVEN['bearer']}", "cookie": GIVEN["cookie"]}}),
        ("GET", lists, {"headers": {"x-api-key": GIVEN["header"], "x-request-id": f"token={GIVEN['header']}"}}),
        ("GET", lists, {"headers": bearer(key), "params": {"key": GIVEN["query"]}}),
        ("GET", f"/api/v3/token={GIVEN['path']}", {"headers": bearer(key)}),
        ("POST", login, {"json": {"name": name, "password": password}}),
        ("POST", login, {"json": {"name": name, "password": [password]}}),
        ("POST", login, {"json": {"name": name, "passwort": GIVEN["mistyped"]}}),
        ("POST", login, {"json": {"name": name, "password": password + "\0"}}),
        ("POST", login, {"content": f'{{"name": "{name}", "password": "{password}', "headers": JSON}),
        ("POST", login, {"content": f"name={name}&password={password}"}),
        *(("POST", "/api/v3/searches", {"headers": bearer(key), "json": search}) for search in SEARCHES),
    ]
    answers = [(await client.request(method, path, **more)).text for method, path, more in requests]
    await admin.execute("ALTER TABLE contact RENAME COLUMN title TO title_hidden")
    failed = await client.get(lists, headers=bearer(key))
    assert failed.status_code == 500
    await admin.execute("ALTER TABLE contact RENAME COLUMN title_hidden TO title")
    return [*answers, failed.text]


JSON = {"content-type": "application/json"}
SEARCHES = [
    {"text": "dentists", "area": "Helsinki", "provider": "google_places", "budget": 10},
    {"text": "dentists", "where": {"near": "60.17,24.94"}, "provider": "file"},
]


async def until_dead(client: httpx.AsyncClient, key: str) -> None:
    """The search fails at the file that is not there, and leaves a dead letter."""
    async with asyncio.timeout(240):
        while not (await client.get("/api/v3/dead-letters", headers=bearer(key))).json()["items"]:
            await asyncio.sleep(0.1)


async def until_waiting(admin) -> None:
    """The other search waits for the proxy that is not there."""
    async with asyncio.timeout(240):
        while not await admin.fetchval("SELECT count(*) FROM search WHERE place_search_error LIKE '%proxy%'"):
            await asyncio.sleep(0.1)


async def stored(admin, table: str) -> str:
    return json.dumps([str(row[0]) for row in await admin.fetch(f"SELECT t::text FROM {table} t")])


@pytest.mark.parametrize(
    "name",
    ["DATABASE_URL", "MIGRATION_DATABASE_URL", "CRAWL_PROXY_URL", "SCRAPERSKY_SECRET_KEY", "SCRAPERSKY_METRICS_TOKEN"],
)
async def test_a_secret_that_stops_the_start_is_not_repeated(command, name) -> None:
    wrong = {
        "DATABASE_URL": "mysql://me:planted-wrong@db/line",
        "MIGRATION_DATABASE_URL": "mysql://me:planted-wrong@db/line",
        "CRAWL_PROXY_URL": "gopher://me:planted-wrong@proxy:70",
        "SCRAPERSKY_SECRET_KEY": "planted-wrong",
        "SCRAPERSKY_METRICS_TOKEN": "planted-wrong",
    }
    said = await command("serve", **{name: wrong[name]}, SCRAPERSKY_PORT="0")
    assert said.code == 2
    assert "planted-wrong" not in said.out + said.err
