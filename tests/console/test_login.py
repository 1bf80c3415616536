"""Logins in a browser: the cookie, its life, its flags, and what forged requests get."""

import pytest

from tests.factories.api_application import app_over, client_with, make_key
from tests.factories.console_browser import PASSWORD, Page, browser_of, create_person, log_in
from tests.factories.line_rows import add_line


async def test_a_login_sets_a_cookie_that_opens_the_console_and_ends_at_logout(stranger, database, admin):
    await create_person(database, "admin", "default", "ada")
    answer = await log_in(stranger, "ada", next="/console/contacts?text=a")
    assert answer.headers["location"] == "/console/contacts?text=a"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("scrapersky=")
    for flag in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=2592000"):
        assert flag in cookie
    assert "Secure" not in cookie  # plain http on this machine
    kept = stranger.cookies["scrapersky"]
    assert len(kept) >= 43  # 32 random bytes
    assert await admin.fetchval("SELECT count(*) FROM session WHERE browser_hash = $1", kept) == 0  # only its hash
    assert (await stranger.get("/console/account")).status_code == 200
    left = await stranger.post("/console/logout")
    assert (left.status_code, left.headers["clear-site-data"]) == (303, '"cookies", "storage"')
    async with browser_of(stranger._transport.app, Cookie=f"scrapersky={kept}") as thief:
        assert (await thief.get("/console/account")).status_code == 303
    actions = await admin.fetch("SELECT action, origin FROM audit WHERE subject LIKE 'session %' ORDER BY id")
    assert [tuple(row) for row in actions] == [("login", "console 127.0.0.1"), ("logout", "console 127.0.0.1")]


async def test_over_https_the_cookie_is_bound_to_the_host(database, database_url):
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production")
    await create_person(database, "admin", "default", "ada")
    async with app.router.lifespan_context(app), browser_of(app, "https://leads.example") as browser:
        cookie = (await log_in(browser, "ada")).headers["set-cookie"]
        assert cookie.startswith("__Host-scrapersky=")
        assert "Secure" in cookie
        assert "Domain" not in cookie
        assert (await browser.get("/console/account")).status_code == 200


async def test_over_plain_http_from_another_machine_no_login_is_possible(database, database_url):
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production")
    await create_person(database, "admin", "default", "ada")
    async with app.router.lifespan_context(app), browser_of(app, "http://leads.example") as browser:
        answer = await browser.post("/console/login", data={"name": "ada", "password": PASSWORD})
        assert answer.status_code == 403
        assert "Open the console over https" in answer.text
        assert "set-cookie" not in answer.headers


async def test_a_login_lasts_seven_days_without_use_and_thirty_at_most(login, admin):
    browser = await login()
    left = "SELECT extract(epoch FROM expires_at - now())::int / 86400 FROM session"
    assert await admin.fetchval(left) in (6, 7)
    await admin.execute("UPDATE session SET created_at = now() - interval '28 days', seen_at = now() - interval '1 h'")
    assert (await browser.get("/console/account")).status_code == 200
    assert await admin.fetchval(left) in (1, 2)
    await admin.execute("UPDATE session SET expires_at = now() - interval '1 s'")
    assert (await browser.get("/console/account")).headers["location"] == "/console/login?next=/console/account"


async def test_two_tabs_share_a_login_and_it_is_listed(login):
    browser = await login()
    for _ in range(3):
        assert (await browser.get("/console/account")).status_code == 200
    page = Page((await browser.get("/console/account")).text)
    assert "console 127.0.0.1" in page.text
    assert "this one" in page.text


async def test_another_login_of_mine_can_be_ended_but_not_that_of_others(login, admin):
    mine, tab, other = await login("admin"), await login("admin"), await login("viewer")
    page = Page((await mine.get("/console/account")).text)
    actions = [form["action"] for form in page.all("form") if form["action"].endswith("/end")]
    assert len(actions) == 1
    assert (await other.post(actions[0])).status_code == 404
    assert (await mine.post(actions[0])).status_code == 303
    assert (await tab.get("/console/account")).status_code == 303
    assert (await mine.get("/console/account")).status_code == 200


async def test_a_changed_password_ends_the_other_logins(login):
    mine, other = await login("admin"), await login("admin")
    wrong = await mine.post("/console/account/password", data={"current": "no", "new": PASSWORD + "!"})
    assert (wrong.status_code, "The current password is wrong" in wrong.text) == (422, True)
    short = await mine.post("/console/account/password", data={"current": PASSWORD, "new": "short"})
    assert (short.status_code, "12 characters or more" in short.text) == (422, True)
    done = await mine.post("/console/account/password", data={"current": PASSWORD, "new": PASSWORD + "!"})
    assert done.status_code == 303
    assert (await other.get("/console/account")).status_code == 303
    assert "Your password was changed" in (await mine.get("/console/account")).text


async def test_a_wrong_login_keeps_the_name_and_says_the_same_for_unknown_names(stranger, database):
    await create_person(database, "admin", "default", "ada")
    for name in ("ada", "nobody"):
        answer = await stranger.post(
            "/console/login", data={"name": name, "password": "wrong", "next": "/console/line"}
        )
        page = Page(answer.text)
        assert answer.status_code == 401
        assert page.one("p", role="alert").text == "The name or the password is wrong."
        assert page.one("input", name="name")["value"] == name
        assert page.one("input", name="next")["value"] == "/console/line"
        assert "set-cookie" not in answer.headers


async def test_logins_are_rate_limited_as_in_the_api(database, database_url):
    app = app_over(database_url, SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT="1")
    async with app.router.lifespan_context(app), browser_of(app) as browser:
        form = {"name": "ada", "password": "wrong"}
        assert (await browser.post("/console/login", data=form)).status_code == 401
        answer = await browser.post("/console/login", data=form)
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0
        assert "Wait" in Page(answer.text).one("p", role="alert").text


async def test_a_key_or_an_access_token_never_opens_the_console(stranger, app, database):
    key = await make_key(database)
    async with client_with(app, key) as client:
        assert (await client.get("/console/account")).status_code == 303


async def test_the_cookie_opens_nothing_outside_the_console(login):
    browser = await login()
    assert (await browser.get("/api/v3/contacts")).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:8000"},
        {"Sec-Fetch-Site": "none", "Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": ""},
    ],
)
async def test_a_change_that_does_not_prove_its_origin_is_refused(login, headers):
    browser = await login()
    for path in ("/console/logout", "/console/login", "/api/v3/auth/refresh"):
        answer = await browser.post(path, headers=headers)
        assert answer.status_code == 403, path
    assert (await browser.get("/console/account")).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},  # as Chromium does with Referrer-Policy: no-referrer
        {"Sec-Fetch-Site": "", "Origin": "http://localhost:8000"},  # a browser without Sec-Fetch-Site
    ],
)
async def test_our_own_forms_are_accepted(login, headers):
    browser = await login()
    assert (await browser.post("/console/logout", headers=headers)).status_code == 303


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "/console//evil.example",
        "https://evil.example",
        "/console\\evil",
        "/\\evil.example",
        "/console/\nx",
        "/consolex",
        "javascript:alert(1)",
        "/api/v3/contacts",
    ],
)
async def test_next_leads_only_to_pages_of_the_console(stranger, database, path):
    await create_person(database, "admin", "default", "ada")
    assert (await log_in(stranger, "ada", next=path)).headers["location"] == "/console"


async def test_the_form_asks_for_the_tenant_only_if_there_are_several(stranger, database):
    assert not Page((await stranger.get("/console/login")).text).all("input", name="tenant")
    await create_person(database, "admin", "acme", "ada")
    assert Page((await stranger.get("/console/login")).text).one("input", name="tenant")


async def test_the_first_admin_is_made_by_the_link_without_a_second_login(stranger, database, admin):
    from scrapersky.api.accounts.users import invitation_link
    from scrapersky.store.accounts import invitations

    link = invitation_link(str(await invitations.for_first_admin(database)))
    page = Page((await stranger.get(link)).text)
    assert "You become admin of the tenant default" in page.text
    form = {"token": page.one("input", name="token")["value"], "name": "ada"}
    short = await stranger.post("/console/welcome", data={**form, "password": "short"})
    assert short.status_code == 422
    assert Page(short.text).one("input", name="name")["value"] == "ada"
    done = await stranger.post("/console/welcome", data={**form, "password": PASSWORD})
    assert (done.status_code, done.headers["location"]) == (303, "/console")
    assert (await stranger.get("/console")).headers["location"] == "/console/searches/new"
    assert await admin.fetchval("SELECT origin FROM audit WHERE subject LIKE 'user %'") == "console 127.0.0.1"
    used = await stranger.get(link)
    assert used.status_code == 404
    assert "Ask an admin for another one" in used.text


@pytest.mark.parametrize(
    "body", [b"", b"\xff=%ff", b"a=1&" * 2000, b"token=%3Cscript%3E&name=%22%3E%3Cb%3E&password=x"]
)
async def test_a_broken_form_is_a_page_with_a_sentence_and_repeats_no_markup(stranger, body):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/console/welcome", "/console/login"):
        answer = await stranger.post(path, content=body, headers=headers)
        assert 400 <= answer.status_code < 500
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "<script>" not in answer.text
        assert "<b>" not in answer.text


async def test_what_was_sent_after_the_login_had_ended_is_kept_and_sent_again_on_demand(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser = await login("curator")
    browser.cookies.clear()
    form = {"id": ids["contacts"], "curation_status": "Maybe", "back": "/console/contacts?text=anna"}
    asked = await browser.post("/console/contacts/curation", data=form)
    assert asked.status_code == 401
    page = Page(asked.text)
    assert "what you sent is kept" in page.one("p", role="alert").text
    kept = {name: page.one("input", name=name)["value"] for name in ("kept", "kept_path")}
    fields = {"name": "curator of default", "tenant": "", "password": PASSWORD, **kept}
    wrong = Page((await browser.post("/console/login", data={**fields, "password": "wrong"})).text)
    assert wrong.one("input", name="kept")["value"] == kept["kept"]
    again = Page((await browser.post("/console/login", data=fields)).text)
    assert await admin.fetchval("SELECT curation_status FROM contact") == "New"  # nothing happens by itself
    sent = {one["name"]: one["value"] for one in again.all("input")}
    assert sent == form
    done = await browser.post(again.one("form")["action"], data=sent)
    assert (done.status_code, done.headers["location"]) == (303, "/console/contacts?text=anna")
    assert await admin.fetchval("SELECT curation_status FROM contact") == "Maybe"


async def test_a_password_that_was_sent_after_the_login_had_ended_is_not_kept(stranger):
    answer = await stranger.post("/console/account/password", data={"current": "secret one", "new": "secret two"})
    assert (answer.status_code, "secret" in answer.text) == (401, False)
