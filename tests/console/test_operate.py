"""The operator's pages: every role, empty and full, hostile text, numbers that are their lists, and what buttons do."""

import re
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import event

from scrapersky.actions import jobs
from scrapersky.api.operations import dead_letters
from scrapersky.console import fresh
from scrapersky.core.roles import Role
from scrapersky.pipeline import build_pipeline
from tests.console.test_pages import HOSTILE, check_html
from tests.factories.console_browser import Page
from tests.factories.line_rows import add_line
from tests.factories.operated_rows import add_operations

FOR_ALL = ("/line", "/queues/deep_scan", "/dead-letters", "/dead-letters/rows", "/jobs")
FOR_OPERATORS = ("/dead-letters/retry", "/dead-letters/drop")
FOR_CONTROL = ("/runs", "/system")
FOR_ADMINS = ("/system/settings", "/system/tenants")
SECTIONS = ("processing", "ready", "waiting", "error", "skipped")
REASON = "a site did not answer in … s"
GROUP = urlencode({"workflow": "page_curation", "error_type": "TimedOut", "reason": REASON})
FULL = (
    *(f"/queues/deep_scan?section={section}" for section in SECTIONS),
    *(f"/queues/page_curation?section=error&of=own&period={period}" for period in ("1h", "24h", "7d")),
    "/dead-letters?workflow=page_curation&error_type=TimedOut",
    f"/dead-letters/rows?{GROUP}",
)


def is_allowed(role, path):
    needed = {
        **dict.fromkeys(FOR_OPERATORS, Role.OPERATOR),
        **dict.fromkeys(FOR_CONTROL, Role.OPERATOR),
        **dict.fromkeys(FOR_ADMINS, Role.ADMIN),
    }
    return role.covers(needed.get(path, Role.VIEWER))


async def fill(admin, tenant, hostile=""):
    ids = await add_line(admin, tenant)
    await add_operations(admin, tenant, ids["searches"], ids["domains"], hostile)
    return ids


@pytest.mark.parametrize("role", list(Role))
async def test_every_page_is_sound_for_every_role_empty_and_full(login, admin, tenant, role):
    browser = await login(role.value)
    every = (*FOR_ALL, *FOR_OPERATORS, *FOR_CONTROL, *FOR_ADMINS)
    for is_full in (False, True):
        if is_full:
            await fill(admin, tenant)
        for path in (*every, *FULL):
            answer = await browser.get(f"/console{path}")
            assert answer.status_code == (200 if is_allowed(role, path) else 403), path
            page = check_html(answer.text)
            changes = [form["action"] for form in page.all("form") if form.get("method") == "post"]
            operating = [one for one in changes if re.search("line/|queues/|dead-letters/|system/", one)]
            assert not operating or role.covers(Role.OPERATOR), (path, operating)


async def test_people_of_other_tenants_see_their_rows_and_control_nothing(login, admin, tenant, other_tenant):
    await fill(admin, tenant)
    foreign = await login("admin", tenant="other")
    for path in FOR_ALL:
        page = check_html((await foreign.get(f"/console{path}")).text)
        assert not [one for one in page.all("form") if "/console/line/" in one["action"]], path
        assert "Kallio" not in page.text
        assert "worker-1" not in page.text
    for path in (*FOR_CONTROL, *FOR_ADMINS):
        assert (await foreign.get(f"/console{path}")).status_code == 403, path
    rail = {one["href"] for one in page.all("a") if one.is_in("nav")}
    assert {"/console/queues", "/console/jobs"} < rail
    assert not {"/console/runs", "/console/system"} & rail


async def test_hostile_text_stays_text_on_every_page(login, admin, tenant):
    await fill(admin, tenant, HOSTILE)
    browser, shown = await login("admin"), 0
    letters = Page((await browser.get("/console/dead-letters")).text)
    groups = [one["href"].removeprefix("/console") for one in letters.all("a") if "reason=" in one["href"]]
    for path in (*FOR_ALL, *FOR_CONTROL, *FOR_ADMINS, *FULL, *groups, groups[0].replace("/rows", "/drop")):
        answer = await browser.get(f"/console{path}")
        assert answer.status_code == 200, path
        page = check_html(answer.text)
        assert len(page.all("script")) == 1, path
        shown += "<script>alert(1)" in page.one("body").text
    assert shown >= len(FULL)


@pytest.mark.parametrize(("who", "rows"), [("default", 60), ("other", 61)])
async def test_every_number_of_the_line_leads_to_as_many_rows(login, admin, tenant, other_tenant, who, rows):
    await fill(admin, tenant)
    if who == "other":  # a tenant that is not the operator sees its own rows only
        await fill(admin, other_tenant)
        await admin.execute(
            "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status) "
            "VALUES ($1, 'fake', 'more', 'More', 'Queued')",
            other_tenant,
        )
    browser = await login("viewer", tenant=who)
    page = Page((await browser.get("/console/line")).text)
    links = [one for one in page.all("a") if "/console/queues/" in one["href"] and "section=" in one["href"]]
    counts = {}
    for link in links:
        path, listed = link["href"], 0
        while path:
            found = Page((await browser.get(path)).text)
            listed += len([one for one in found.all("th", scope="row") if one.within.within.tag == "tbody"])
            path = next((one["href"] for one in found.all("a", rel="next")), "")
        assert listed == int(link.text.replace(",", "")), link["href"]
        name, _, section = link["href"].removeprefix("/console/queues/").partition("?section=")
        counts[section, name] = listed
    assert counts["ready", "deep_scan"] == rows
    assert counts["waiting", "deep_scan"] == 4
    assert counts["processing", "deep_scan"] == 5
    assert counts["error", "page_curation"] == 10


async def test_the_line_says_why_steps_stand_still_and_has_the_button(login, app, admin, tenant):
    await fill(admin, tenant)
    page = Page((await (await login("operator")).get("/console/line")).text)
    assert "breaker open · tries again" in page.text
    assert "12 of 15 failed: 403 Forbidden" in page.text
    await admin.execute("UPDATE workflow_control SET breaker_until = now() - '1 hour'::interval")
    request: Any = SimpleNamespace(app=app)
    fresh.forget(request)
    past = Page((await (await login("viewer")).get("/console/queues/delivery")).text)
    assert "breaker open · tries again with the next row" in past.text
    assert "night (ada)" in page.text
    assert page.one("button", aria_label="Resume delivery")
    assert page.one("button", aria_label="Pause deep_scan")
    assert "1 worker on 1 host" in page.text
    sparks = page.all("svg", class_="spark")
    assert len(sparks) == 2
    search = page.one("ul", class_="plain")
    assert "dentists in Helsinki" in " ".join(search.text.split())


async def test_what_another_person_did_to_a_step_meanwhile_is_a_sentence_on_the_line(login, admin, tenant):
    await fill(admin, tenant)
    browser = await login("operator")
    for action, said in (
        ("sitemap_import/pause", "The workflow is paused already."),
        ("deep_scan/resume", "The workflow is running"),
        ("delivery/run", "The workflow claims no rows at present."),
        ("deep_scan/run", "deep_scan: 1 worker was notified."),
    ):
        answer = await browser.post(f"/console/line/{action}", data={"back": "/console/line"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/line")
        assert said in check_html((await browser.get("/console/line")).text).one("div", class_="notice").text
    assert not await admin.fetchval("SELECT count(*) FROM audit WHERE action IN ('pause', 'resume')")


async def test_a_row_in_flight_is_released_and_a_skipped_one_retried(login, admin, tenant):
    await fill(admin, tenant)
    browser = await login("operator")
    for section, action, before in (("processing", "release", "Processing"), ("skipped", "retry", "Skipped")):
        path = f"/console/queues/deep_scan?section={section}&of=own"
        page = Page((await browser.get(path)).text)
        row = page.all("input", name="id")[0]["value"]
        answer = await browser.post(f"/console/queues/deep_scan/{action}", data={"id": row, "back": path})
        assert (answer.status_code, answer.headers["location"]) == (303, path)
        assert await admin.fetchval("SELECT deep_scan_status FROM place WHERE id = $1", row) == "Queued"
        said = Page((await browser.get(path)).text).one("div", role="status", class_="notice").text
        assert "1 row" in said
        again = await browser.post(f"/console/queues/deep_scan/{action}", data={"id": row, "back": path})
        assert again.status_code == 303
        assert "No row was" in (await browser.get(path)).text
        assert before
    nothing = await browser.post("/console/queues/deep_scan/retry", data={})
    assert nothing.status_code == 303


async def test_rows_of_a_queue_are_those_of_a_search(login, admin, tenant):
    ids = await fill(admin, tenant)
    await admin.execute("UPDATE place SET deep_scan_status = 'Queued' WHERE id = $1", ids["places"])
    browser = await login("viewer")
    page = Page((await browser.get(f"/console/queues/deep_scan?section=ready&search_id={ids['searches']}")).text)
    assert [one.text.strip() for one in page.all("a") if "data-open" in one.attributes] == ["Molar Dental"]
    assert "dentists in Helsinki" in page.one("a", class_="chip").text
    assert (await browser.get("/console/queues/deep_scan?search_id=x")).status_code == 404
    assert (await browser.get("/console/queues/nothing")).status_code == 404


async def test_a_group_is_retried_and_another_dropped_with_their_exact_numbers(login, admin, tenant):
    await fill(admin, tenant)
    browser = await login("operator")
    page = Page((await browser.get("/console/dead-letters")).text)
    assert "10 rows in 2 groups" in page.text
    assert [one.text for one in page.all("button") if one.text.startswith("Retry")] == ["Retry 7", "Retry 3"]
    form = next(one for one in page.all("form") if one["action"] == "/console/dead-letters/retry")
    fields = {one["name"]: one["value"] for one in page.all("input") if one.within is form}
    answer = await browser.post(form["action"], data=fields)
    assert answer.status_code == 303
    assert "7 rows are queued again." in (await browser.get("/console/dead-letters")).text
    again = await browser.post(form["action"], data=fields)  # they are gone: seven were shown, none matches
    assert again.status_code == 303
    assert await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_status = 'Queued'") == 7
    drop = Page((await browser.get("/console/dead-letters/drop?error_type=Refused")).text)
    assert "Drop 3 dead letters" in drop.one("h1").text
    form = next(one for one in drop.all("form") if one["action"] == "/console/dead-letters/drop")
    fields = {one["name"]: one["value"] for one in drop.all("input") if one.within is form}
    refused = await browser.post(form["action"], data={**fields, "expected": "60"})
    assert refused.status_code == 409
    assert "3 rows match now, 60 were shown" in Page(refused.text).one("p", role="alert").text
    assert (await browser.post(form["action"], data=fields)).status_code == 303
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 0


async def test_single_letters_are_moved_and_a_gone_one_is_a_sentence(login, admin, tenant):
    await fill(admin, tenant)
    browser = await login("operator")
    path = f"/console/dead-letters/rows?{GROUP}"
    page = Page((await browser.get(path)).text)
    boxes = [one["value"] for one in page.all("input", name="id")]
    assert len(boxes) == 7
    for action in ("retry", "drop"):
        data = {"id": boxes.pop(), "back": path}
        assert (await browser.post(f"/console/dead-letters/{action}", data=data)).status_code == 303
        assert (await browser.post(f"/console/dead-letters/{action}", data=data)).status_code == 303
        assert "Nothing was changed." in (await browser.get(path)).text
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 8
    await browser.post("/console/dead-letters/retry", data={"back": path})
    assert "No row was selected" in (await browser.get(path)).text
    assert (await browser.post("/console/dead-letters/retry", data={"id": "x"})).status_code == 400


async def test_many_letters_become_a_job_that_jobs_shows_and_cancels(login, admin, tenant, database, monkeypatch):
    monkeypatch.setattr(dead_letters, "MAX_ROWS", 5)
    await fill(admin, tenant)
    browser = await login("operator")
    answer = await browser.post("/console/dead-letters/retry", data={"expected": "10"})
    assert answer.status_code == 303
    page = Page((await browser.get("/console/dead-letters")).text)
    assert "A job retries 10 dead letters." in page.text
    assert [one["href"] for one in page.all("a") if one.text == "Its progress in Jobs"] == ["/console/jobs"]
    page = Page((await browser.get("/console/jobs")).text)
    assert "Retry 10 dead letters" in page.text
    cancel = page.one("button", aria_label="Cancel: Retry 10 dead letters").within
    assert cancel is not None
    assert (await browser.post(cancel["action"])).status_code == 303
    assert "The job was cancelled" in (await browser.get("/console/jobs")).text
    await admin.execute("DELETE FROM job WHERE kind = 'curation'")  # it would queue the rows as well
    await jobs.RunJobs(build_pipeline({})).run_on(database)
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 10


async def test_a_bar_of_a_chart_leads_to_its_runs(login, admin, tenant):
    await fill(admin, tenant)
    browser = await login("operator")
    for period, marks in (("1h", 60), ("24h", 96), ("7d", 28)):
        page = Page((await browser.get(f"/console/queues/deep_scan?period={period}")).text)
        assert len(page.all("rect", class_="hit")) == 2 * marks
    page = Page((await browser.get("/console/queues/deep_scan")).text)
    bars = [one["href"] for one in page.all("a") if one.is_in("svg") and "/console/runs" in one["href"]]
    assert len(bars) > 100  # rows and durations
    found = Page((await browser.get(bars[3])).text)
    assert len(found.all("th", scope="row")) == 1
    assert (await browser.get("/console/runs?since=yesterday")).status_code == 422
    assert (await browser.get("/console/runs?workflow=&since=")).headers["location"] == "/console/runs"


async def test_quotas_of_a_tenant_are_changed_and_bad_ones_refused(login, admin, tenant, other_tenant):
    browser = await login("admin")
    path = f"/console/system/tenants/{other_tenant}"
    form = {"searches_per_day": "12", "pages_per_day": "", "cents_per_month": "50.5"}
    assert (await browser.post(path, data=form)).status_code == 303
    row = await admin.fetchrow(
        "SELECT searches_per_day, pages_per_day, cents_per_month FROM tenant WHERE id = $1", other_tenant
    )
    assert tuple(row) == (12, None, 5050)
    assert "$50.50" in (await browser.get(path)).text
    assert "$50.50" in (await browser.get("/console/system/tenants")).text
    for bad in ("many", "-1", "1e99"):
        refused = await browser.post(path, data={**form, "searches_per_day": bad})
        assert refused.status_code == 422, bad
        page = check_html(refused.text)
        assert page.one("p", role="alert").text
        assert page.one("input", name="searches_per_day")["value"] == bad  # input is kept
    assert (await browser.post(path, data={**form, "disabled": "yes"})).status_code == 303
    assert "disabled" in (await browser.get(path)).text


async def test_the_spending_of_a_month_is_money(login, admin, tenant):
    await fill(admin, tenant)
    browser = await login("admin")
    table = check_html((await browser.get("/console/system")).text)
    assert "$123.45" in [one.text for one in table.all("td", class_="number")]
    assert "$150.00" in [one.text for one in table.all("text", class_="level")]


async def test_settings_show_their_source_and_no_secret(login, app):
    browser = await login("admin")
    text = (await browser.get("/console/system/settings")).text
    page = Page(text)
    assert "SCRAPERSKY_SECRET_KEY" in page.text
    assert app.state.application.settings.secret_key.get_secret_value() not in text
    assert app.state.application.settings.metrics_token.get_secret_value() not in text
    assert "environment" in page.text


async def test_live_parts_are_small_and_unchanged_ones_are_not_sent(login, admin, tenant):
    await fill(admin, tenant)
    browser = await login("admin")
    for path, part in (("/line", "line"), ("/queues/deep_scan", "queue"), ("/jobs", "jobs")):
        first = await browser.get(f"/console{path}", headers={"Console-Part": part})
        assert first.status_code == 200
        assert "<html" not in first.text
        tag = {"Console-Part": part, "If-None-Match": first.headers["etag"]}
        again = await browser.get(f"/console{path}", headers=tag)
        assert again.status_code in (200, 304)


async def test_pages_need_few_statements_and_fresh_live_parts_none_of_their_own(login, app, admin, tenant, monkeypatch):
    await fill(admin, tenant)
    monkeypatch.setattr(fresh, "time", SimpleNamespace(monotonic=lambda: 1.0))  # what was read stays fresh
    browser = await login("admin")
    for path in (*FOR_ALL, *FOR_CONTROL, *FOR_ADMINS, *FULL):  # everything that is read once per process
        await browser.get(f"/console{path}")
    said: list[str] = []
    engine = app.state.application.database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", lambda *call: said.append(call[2]))
    counted = {}
    for path in (*FOR_ALL, *FOR_CONTROL, *FOR_ADMINS, *FULL):
        request: Any = SimpleNamespace(app=app)
        fresh.forget(request)  # as if nobody had looked for a while
        said.clear()
        await browser.get(f"/console{path}")
        counted[path] = len([one for one in said if not one.startswith("SELECT set_config")])
    assert max(counted.values()) <= 8, counted
    for path, part in (("/line", "line"), ("/jobs", "jobs")):
        await browser.get(f"/console{path}", headers={"Console-Part": part})
        said.clear()
        await browser.get(f"/console{path}", headers={"Console-Part": part})
        assert len([one for one in said if not one.startswith("SELECT set_config")]) <= 2, said
