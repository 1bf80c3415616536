"""Schedules in the console: given, paused, resumed, deleted; what is wrong stands at its field."""

from typing import Any

import pytest

from scrapersky.asgi import create_app
from scrapersky.pipeline import build_pipeline
from scrapersky.providers.base import Estimate
from tests.console.test_pages import HOSTILE, check_html
from tests.factories.api_application import environment
from tests.factories.console_browser import Page
from tests.factories.line_rows import add_line


class FreeProvider:
    """A provider whose searches cost nothing; the engine of these tests does not run."""

    name = "fake"

    async def estimate(self, query):
        return Estimate(calls=3, cents=0, explanation="free, about 3 requests.")


@pytest.fixture
def app(database_url):
    providers: Any = {"fake": FreeProvider()}
    return create_app(environment(database_url), run_engine=False, pipeline=build_pipeline({}), providers=providers)


@pytest.fixture
async def search(admin, tenant):
    """The path of a search."""
    return f"/console/searches/{(await add_line(admin, tenant))['searches']}"


async def schedule_of(admin):
    return await admin.fetchrow("SELECT id, every_seconds, cron, time_zone, paused_by FROM schedule")


async def test_a_search_gets_an_interval_and_then_a_cron_expression(login, admin, search):
    browser = await login("curator")
    assert "It is made once." in check_html((await browser.get(f"{search}/schedule")).text).text
    assert (await browser.post(f"{search}/schedule", data={"every": "2w"})).status_code == 303
    page = check_html((await browser.get(f"{search}/schedule")).text)
    assert "It is made again every 2w. The next run is" in page.one("div", class_="notice").text
    assert "selected" in page.one("option", value="2w").attributes
    assert "repeated every 2w" in Page((await browser.get(search)).text).text
    form = {"every": "cron", "cron": "0 6 * * 1", "time_zone": "Europe/Helsinki"}
    assert (await browser.post(f"{search}/schedule", data=form)).status_code == 303
    page = check_html((await browser.get(f"{search}/schedule")).text)
    assert page.one("input", id="cron")["value"] == "0 6 * * 1"
    assert page.one("input", id="time_zone")["value"] == "Europe/Helsinki"
    assert tuple(await schedule_of(admin))[1:] == (None, "0 6 * * 1", "Europe/Helsinki", None)


@pytest.mark.parametrize(
    ("form", "field", "sentence"),
    [
        ({"every": "often"}, "every", "An interval is a number"),
        ({"every": "5m"}, "every", "is too often"),
        ({"every": "400d"}, "every", "is too long: 366 days"),
        ({"every": "cron", "cron": "", "time_zone": "UTC"}, "cron", "A cron expression has five fields"),
        ({"every": "cron", "cron": "0 6 *", "time_zone": "UTC"}, "cron", "it has 3 fields"),
        ({"every": "cron", "cron": "* * * * *", "time_zone": ""}, "cron", "once per hour at most"),
        ({"every": "cron", "cron": "0 6 30 2 *", "time_zone": ""}, "cron", "there is no such day"),
        ({"every": "cron", "cron": "<script>", "time_zone": ""}, "cron", "A cron expression has five fields"),
        ({"every": "cron", "cron": "0 6 * * 1", "time_zone": "Mars"}, "time_zone", "'Mars' is unknown"),
        ({"every": "cron", "cron": "0 6 * * 1", "time_zone": HOSTILE}, "time_zone", "A time zone is a name"),
    ],
)
async def test_what_is_wrong_stands_at_its_field_and_the_input_is_kept(login, admin, search, form, field, sentence):
    browser = await login("curator")
    answer = await browser.post(f"{search}/schedule", data=form)
    page = check_html(answer.text)
    assert (answer.status_code, await schedule_of(admin)) == (422, None)
    [said] = page.all("p", role="alert")
    assert sentence in said.text
    assert said["id"] == f"note-{field}"
    element = page.one("select" if field == "every" else "input", id=field)
    assert (element["aria-invalid"], element["aria-describedby"]) == ("true", f"note-{field}")
    kept = {name: page.one("input", id=name)["value"] for name in ("cron", "time_zone")}
    assert kept == {"cron": form.get("cron", ""), "time_zone": form.get("time_zone", "")}
    assert "selected" in page.one("option", value=form["every"]).attributes
    assert "--" not in page.one("main").text  # no option of a command


async def test_a_search_that_cannot_be_made_again_says_why(login, admin, search):
    await admin.execute("UPDATE search SET provider = 'import'")
    answer = await (await login("curator")).post(f"{search}/schedule", data={"every": "1d"})
    assert answer.status_code == 422
    assert "cannot be repeated" in check_html(answer.text).one("p", class_="problem").text


async def test_a_schedule_is_paused_resumed_and_deleted(login, admin, search):
    curator, viewer = await login("curator"), await login("viewer")
    await curator.post(f"{search}/schedule", data={"every": "1d"})
    here = f"/console/schedules/{(await schedule_of(admin))['id']}"
    for action in ("pause", "resume", "remove"):
        assert (await viewer.post(f"{here}/{action}")).status_code == 403
    assert not check_html((await viewer.get("/console/schedules")).text).all("form", action=f"{here}/pause")
    page = check_html((await curator.get("/console/schedules")).text)
    form = page.one("form", action=f"{here}/pause")
    done = await curator.post(form["action"], data={"back": "/console/schedules"})
    assert done.headers["location"] == "/console/schedules"
    page = check_html((await curator.get("/console/schedules?paused=true")).text)
    assert "paused" in page.one("tbody").text
    assert "by curator of default" in page.one("tbody").text
    assert "paused by curator of default" in Page((await viewer.get(search)).text).text
    assert "No schedule matches." in Page((await curator.get("/console/schedules?paused=false")).text).text
    assert (await curator.post(f"{here}/resume")).status_code == 303
    assert (await schedule_of(admin))["paused_by"] is None
    page = check_html((await curator.get(f"{search}/schedule")).text)
    removed = await curator.post(
        page.one("form", action=f"{here}/remove")["action"], data={"back": f"{search}/schedule"}
    )
    assert removed.headers["location"] == f"{search}/schedule"
    assert await schedule_of(admin) is None
    assert "The schedule is deleted." in (await curator.get(removed.headers["location"])).text


async def test_the_list_says_when_the_next_run_is_and_what_became_of_the_last(login, admin, search):
    browser = await login("curator")
    await browser.post(f"{search}/schedule", data={"every": "1d"})
    row = Page((await browser.get("/console/schedules")).text).one("tbody")
    assert "dentists in Helsinki" in row.text
    assert "every 1d" in row.text
    assert "none yet" in row.text
    for outcome, reason in (("started", None), ("skipped", "The run before is still searching."), ("refused", HOSTILE)):
        await admin.execute(
            "UPDATE schedule SET last_outcome = $1, last_reason = $2, last_run_at = now(), run_count = 1234",
            outcome,
            reason,
        )
        for path in ("/console/schedules", f"{search}/schedule"):
            page = check_html((await browser.get(path)).text)
            assert outcome in page.one("main").text
            assert (reason or "1,234") in page.one("main").text
            assert len(page.all("script")) == 1
    assert (await browser.get("/console/schedules?paused=perhaps")).status_code == 422


async def test_schedules_of_another_tenant_are_not_there(login, admin, search, other_tenant):
    await (await login("curator")).post(f"{search}/schedule", data={"every": "1d"})
    foreign = await login("admin", tenant="other")
    assert "There is no schedule yet." in (await foreign.get("/console/schedules")).text
    here = f"/console/schedules/{(await schedule_of(admin))['id']}"
    for path in (f"{here}/pause", f"{here}/resume", f"{here}/remove", f"{search}/schedule"):
        assert (await foreign.post(path, data={"every": "1d"})).status_code == 404
    assert (await foreign.get(f"{search}/schedule")).status_code == 404
