"""What every page answers with: headers, assets, parts, errors."""

import re

import pytest

from scrapersky.console.assets import assets, joined
from tests.factories.api_application import app_over
from tests.factories.console_browser import Page, browser_of, create_person, log_in


async def test_the_root_leads_to_the_console(stranger):
    answer = await stranger.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/console")


async def test_pages_forbid_inline_code_storing_and_indexing(stranger):
    headers = (await stranger.get("/console/login")).headers
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    for part in (
        "default-src 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types console",
        "base-uri 'none'",
    ):
        assert part in policy
    assert headers["cache-control"] == "no-store"
    assert "noindex" in headers["x-robots-tag"]
    assert headers["referrer-policy"] == "same-origin"


async def test_assets_are_compressed_and_kept_for_ever_under_their_hash(stranger):
    page = Page((await stranger.get("/console/login")).text)
    linked = [
        page.one("link", rel="stylesheet")["href"],
        page.one("script")["src"],
        page.one("link", rel="icon")["href"],
    ]
    for path in linked:
        answer = await stranger.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-encoding"] == "gzip"
        plain = await stranger.get(path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == answer.content


async def test_the_hash_of_another_version_gets_the_present_file_unstored(stranger):
    answer = await stranger.get("/console/static/0123456789abcdef/console.css")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert (await stranger.get("/console/static/0123456789abcdef/nothing.css")).status_code == 404


def test_the_entry_module_holds_every_module_and_imports_nothing():
    served = assets().by_name["console.js"].plain.decode()
    for name in assets().by_name:
        if name.endswith(".js"):
            assert f"const ${name.removesuffix('.js')} = (() => {{" in served, f"console.js does not import {name}"
    assert not re.search(r"^(import|export)\b|\bimport\(", served, re.MULTILINE)


@pytest.mark.parametrize(
    ("modules", "wrong"),
    [
        ({"a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'}, "import each other"),
        ({"a.js": 'import b from "./b.js";', "b.js": ""}, "write `import"),
        ({"a.js": "export default 1;"}, "write `import"),
    ],
)
def test_modules_that_cannot_be_joined_are_refused(modules, wrong):
    with pytest.raises(ValueError, match=wrong):
        joined(modules, "a.js")


async def test_the_size_of_style_and_modules_is_within_the_budget():
    sizes = {name: len(asset.compressed) for name, asset in assets().by_name.items()}
    assert sizes["console.css"] <= 10_000
    assert sizes["console.js"] <= 25_000


async def test_assets_do_not_count_against_the_rate_limit(database_url):
    app = app_over(database_url, SCRAPERSKY_RATE_LIMIT_PER_IP="2")
    async with app.router.lifespan_context(app), browser_of(app) as browser:
        for _ in range(5):
            assert (await browser.get(assets().path("console.css"))).status_code == 200
        seen = [(await browser.get("/console/login")).status_code for _ in range(3)]
        assert seen == [200, 200, 429]


async def test_live_parts_of_open_tabs_leave_the_rate_limit_of_their_person_alone(database_url, database):
    app = app_over(database_url, SCRAPERSKY_RATE_LIMIT_PER_IP="10", SCRAPERSKY_RATE_LIMIT_PER_KEY="4")
    part = {"Console-Part": "line"}
    async with app.router.lifespan_context(app), browser_of(app) as browser:
        await create_person(database, "viewer", "default", "ada")
        await log_in(browser, "ada", "default")
        assert [(await browser.get("/console/line", headers=part)).status_code for _ in range(30)] == [200] * 30
        pages = [(await browser.get("/console/line")).status_code for _ in range(6)]
        assert (pages[0], pages[-1]) == (200, 429), "whole pages have the limit of the person"


@pytest.mark.parametrize(("path", "status"), [("/console/nothing", 404), ("/nothing", 404), ("/console/places/x", 422)])
async def test_an_error_is_a_page_where_a_browser_asks(login, path, status):
    browser = await login()
    answer = await browser.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert answer.headers["x-request-id"] in answer.text
    assert "trusted-types" in answer.headers["content-security-policy"]


async def test_errors_of_the_api_stay_problem_documents(stranger):
    answer = await stranger.get("/api/v3/contacts")
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")


async def test_an_error_page_of_a_person_keeps_the_rail(login):
    browser = await login()
    for path, said in (
        ("contacts/00000000-0000-0000-0000-000000000000", "row with this id"),
        ("no/thing", "such page"),
    ):
        page = Page((await browser.get(f"/console/{path}")).text)
        assert page.one("nav", id="rail")
        assert f"There is no {said}." in page.one("h1").text


async def test_a_page_that_the_role_may_not_open_says_so_and_keeps_the_rail(login):
    viewer = await login("viewer")
    for path in ("/console/people", "/console/system/settings", "/console/searches/new"):
        answer = await viewer.get(path)
        page = Page(answer.text)
        assert answer.status_code == 403
        assert "Your role does not allow this." in page.one("h1").text
        rail = {one["href"] for one in page.all("a") if one.is_in("nav")}
        assert "/console/line" in rail
        assert path not in rail


async def test_a_missing_login_leads_to_the_form_and_back(stranger):
    answer = await stranger.get("/console/contacts?text=a&sort=updated_at")
    assert answer.headers["location"] == "/console/login?next=/console/contacts%3Ftext%3Da%26sort%3Dupdated_at"
    page = Page((await stranger.get(answer.headers["location"])).text)
    assert page.one("input", name="next")["value"] == "/console/contacts?text=a&sort=updated_at"
    part = await stranger.get("/console/line", headers={"Console-Part": "line"})
    assert part.status_code == 401  # a module navigates; a redirect would put the login form into the page


async def test_a_part_is_one_block_with_an_etag(login):
    browser = await login()
    part = await browser.get("/console/line", headers={"Console-Part": "line"})
    assert part.status_code == 200
    assert "<html" not in part.text
    assert "place_search" in part.text
    again = await browser.get("/console/line", headers={"Console-Part": "line", "If-None-Match": part.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (await browser.get("/console/line", headers={"Console-Part": "nothing"})).status_code == 404


async def test_the_theme_is_kept_and_otherwise_that_of_the_system(login):
    browser = await login()
    assert Page((await browser.get("/console/line")).text).one("html").get("data-theme") is None
    await browser.post("/console/account/theme", data={"theme": "dark", "back": "/console/line"})
    assert Page((await browser.get("/console/line")).text).one("html")["data-theme"] == "dark"
    await browser.post("/console/account/theme", data={"theme": "auto"})
    assert Page((await browser.get("/console/line")).text).one("html").get("data-theme") is None


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
async def test_static_files_say_once_that_they_differ_by_encoding(stranger, accepted):
    for version in (assets().version, "0123456789abcdef"):
        answer = await stranger.get(f"/console/static/{version}/console.css", headers={"Accept-Encoding": accepted})
        assert answer.status_code == 200
        named = [word.strip() for word in answer.headers["vary"].split(",")]
        assert named.count("Accept-Encoding") == 1
