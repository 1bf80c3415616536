"""Every route passes through the one door, and the wall before it keeps strangers out."""

import re

import httpx
import pytest
from fastapi.routing import APIRoute

from scrapersky.asgi import check_listen
from scrapersky.console.routes import console_routes
from scrapersky.core.errors import BadSetting
from scrapersky.core.roles import Role
from scrapersky.core.settings import load
from tests import ROOT
from tests.factories.api_application import LINE, app_over, client_with, environment, is_problem, served

OPEN = {
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("POST", "/api/v3/auth/login"),
    ("POST", "/api/v3/auth/refresh"),
    ("GET", "/api/v3/invitations/accept"),
    ("POST", "/api/v3/invitations/accept"),
    *(
        PAGES := {
            ("GET", "/"),
            ("GET", "/console/static/{version}/{name}"),
            ("GET", "/console/login"),
            ("POST", "/console/login"),
            ("GET", "/console/welcome"),
            ("POST", "/console/welcome"),
        }
    ),
}


def every_route(app):
    """Each route with its full path and methods; a mount or a bare route of Starlette would show up as itself."""
    found = []
    for outer in app.routes:
        for route in outer.effective_route_contexts() if hasattr(outer, "effective_route_contexts") else [outer]:
            assert isinstance(getattr(route, "original_route", route), APIRoute), f"{route} has no door"
            found += [(method, route.path) for method in route.methods]
    return found


async def test_every_route_declares_a_role_and_only_these_are_public(app, client):
    described = app.openapi()["paths"]
    operations = {(method.upper(), path): one for path, found in described.items() for method, one in found.items()}
    of_api = {route for route in every_route(app) if not route[1].startswith("/console")}
    assert {*operations, ("GET", "/"), ("GET", "/api/v3/openapi.json")} == of_api
    assert [route for route, one in operations.items() if "x-role" not in one or "x-operators" not in one] == []
    roles = {one["x-role"] for one in operations.values()}
    assert roles <= {"anyone", *Role}
    assert {route for route, one in operations.items() if one["x-role"] == "anyone"} == OPEN - PAGES


async def test_every_route_of_the_console_declares_a_role_and_takes_the_cookie_only():
    routes = [route for route in console_routes() if isinstance(route, APIRoute)]
    assert len(routes) == len(console_routes())
    declared = {(method, one.path): one.openapi_extra or {} for one in routes for method in one.methods or ()}
    assert {route for route, one in declared.items() if one["x-role"] == "anyone"} == PAGES
    assert [route for route, one in declared.items() if route not in PAGES and not one.get("x-browser")] == []


def test_the_security_page_lists_the_public_routes():
    page = (ROOT / "docs" / "security.md").read_text()
    listed = re.findall(
        r"`(GET|POST) (/[^` ]*)`", page.partition("Only these routes are public:")[2].partition("Credentials:")[0]
    )
    assert set(listed) == OPEN


@pytest.mark.parametrize(
    "path", ["/api/v3//places", "/api/v3/places/", "/api/v3/%70laces", "/api/v3/x/../places", "//api/v3/places"]
)
async def test_another_spelling_of_a_path_needs_authentication(app, client, path):
    async with client_with(app, None) as stranger:
        for headers in ({}, {"X-HTTP-Method-Override": "GET"}, {"X-Original-URL": "/health/live"}):
            answer = await stranger.get(f"http://localhost:8000{path}", headers=headers)
            assert answer.status_code in (401, 404, 405), path
        assert (await stranger.head(f"http://localhost:8000{path}")).status_code in (401, 404, 405)


async def test_every_route_but_the_public_ones_needs_a_credential(app, client):
    async with client_with(app, None) as stranger:
        for method, path in every_route(app):
            if (method, path) in OPEN or path.startswith("/console"):
                continue
            answer = await stranger.request(method, path, json={"ids": []} if method == "POST" else None)
            is_problem(answer, 401)
            assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("body", [b"{", b'{"ids": [], "ids": []}', b"\xff", b"[" * 60_000, b"null"])
async def test_authentication_comes_before_the_validation_of_the_body(app, client, body):
    headers = {"Content-Type": "application/json"}
    async with client_with(app, None) as stranger:
        for method, path in every_route(app):
            if path.startswith("/console"):
                continue
            if (method, path) not in OPEN and method in ("POST", "PUT", "PATCH", "DELETE"):
                is_problem(await stranger.request(method, path, content=body, headers=headers), 401)
        assert (await stranger.post("/api/v3/auth/login", content=body, headers=headers)).status_code in (400, 422)
    is_problem(await client.post("/api/v3/searches", content=b"{", headers=headers), 400)


async def test_a_route_without_a_declared_role_is_closed(app, client):
    @app.get("/undeclared")
    async def undeclared():
        return "secret"

    problem = is_problem(await client.get("/undeclared"), 403)
    assert problem["detail"] == "This route declares no role, so it is closed."
    async with client_with(app, None) as stranger:
        is_problem(await stranger.get("/undeclared"), 401)


async def test_a_rebound_host_name_is_refused(client):
    for host in ["evil.example", "localhost.evil.example", ""]:
        problem = is_problem(await client.get("/health/live", headers={"host": host}), 403)
        assert "only requests of this machine" in problem["detail"]


async def test_every_name_of_this_machine_is_accepted(client):
    for host in ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"]:
        assert (await client.get("/health/live", headers={"host": host})).status_code == 200


async def test_another_machine_is_refused_even_if_the_server_listens_to_it(app, client):
    stranger = httpx.ASGITransport(app, client=("192.0.2.7", 4711))
    async with httpx.AsyncClient(transport=stranger, base_url="http://localhost") as remote:
        is_problem(await remote.get(LINE), 403)


async def test_other_machines_are_accepted_in_production(database_url):
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production")
    async with served(app) as client, client_with(app, None, host="192.0.2.7") as remote:
        headers = {"Host": "scrapersky.example", "Authorization": client.headers["authorization"]}
        assert (await remote.get(LINE, headers=headers)).status_code == 200


async def test_a_page_of_another_origin_changes_nothing(client):
    for headers in [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}]:
        problem = is_problem(await client.post(f"{LINE}/packing/pause", headers=headers), 403)
        assert "another origin" in problem["detail"]
    assert (await client.get(f"{LINE}/packing")).json()["paused"] is False


async def test_a_page_of_the_same_origin_is_accepted(client):
    headers = {"origin": "http://localhost:8000", "sec-fetch-site": "same-origin"}
    assert (await client.post(f"{LINE}/packing/pause", headers=headers)).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_loopback_hosts_are_allowed_in_development(host):
    check_listen(load(environment("postgresql://x/y", SCRAPERSKY_HOST=host)))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.com"])
def test_other_hosts_need_production_and_allowed_host_names(host):
    said = {"SCRAPERSKY_HOST": host}
    with pytest.raises(BadSetting, match=f"SCRAPERSKY_HOST={re.escape(host)}.*SCRAPERSKY_ENVIRONMENT=production"):
        check_listen(load(environment("postgresql://x/y", **said)))
    said["SCRAPERSKY_ENVIRONMENT"] = "production"
    with pytest.raises(BadSetting, match="SCRAPERSKY_ALLOWED_HOSTS is not set"):
        check_listen(load(environment("postgresql://x/y", **said)))
    check_listen(load(environment("postgresql://x/y", **said, SCRAPERSKY_ALLOWED_HOSTS="sky.example")))


def test_a_wrong_proxy_stops_the_start_instead_of_the_first_request():
    with pytest.raises(BadSetting, match=r"SCRAPERSKY_TRUSTED_PROXIES: 10\.0\.0\.300 is neither"):
        check_listen(load(environment("postgresql://x/y", SCRAPERSKY_TRUSTED_PROXIES="10.0.0.1, 10.0.0.300")))
