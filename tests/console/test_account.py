"""Your account in the console: choices that are kept for every browser, and the help."""

import pytest

from scrapersky.console.draw.words import program
from scrapersky.core.preferences import Preferences, read_preferences
from tests.factories.console_browser import Page, browser_of, log_in

CHOSEN = {"theme": "dark", "density": "dense", "times": "absolute", "time_zone": "Europe/Helsinki"}


async def test_choices_are_kept_for_every_browser_of_the_person(app, login, admin):
    browser = await login("viewer")
    assert (await browser.post("/console/account/preferences", data=CHOSEN)).status_code == 303
    async with browser_of(app) as other:
        await log_in(other, "viewer of default")
        page = Page((await other.get("/console/account")).text)
    shown = page.one("html")
    assert (shown["data-theme"], shown["data-density"], shown["data-keys"]) == ("dark", "dense", "off")
    assert (shown["data-times"], shown["data-zone"]) == ("absolute", "Europe/Helsinki")
    assert page.one("input", name="density", value="dense").get("checked") == ""
    assert page.one("input", name="keys").get("checked") is None
    await browser.post("/console/account/theme", data={"theme": "auto"})  # the others stay
    page = Page((await browser.get("/console/account")).text)
    assert page.one("html").get("data-theme") is None
    assert page.one("html")["data-density"] == "dense"


@pytest.mark.parametrize("wrong", [{"theme": "pink"}, {"time_zone": "Europe/Nowhere"}, {"density": ""}])
async def test_a_choice_that_is_not_offered_changes_nothing(login, admin, wrong):
    browser = await login("viewer")
    answer = await browser.post("/console/account/preferences", data={**CHOSEN, **wrong})
    assert (answer.status_code, "none that is offered" in answer.text) == (400, True)
    assert await admin.fetchval("SELECT count(*) FROM \"user\" WHERE preferences <> '{}'") == 0


def test_stored_choices_that_this_version_does_not_know_are_left_at_their_default():
    stored = {"theme": "pink", "keys": "no", "new": 1, "time_zone": 3, "columns": {"contacts": ["email"]}}
    assert read_preferences(stored) == Preferences(columns={"contacts": ("email",)})


@pytest.mark.parametrize(
    ("user_agent", "shown"),
    [
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox on Windows"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/142.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.5.0", "curl/8.5.0"),
    ],
)
def test_a_login_names_its_browser(user_agent, shown):
    assert program(user_agent) == shown


async def test_the_help_has_keys_and_the_meaning_of_states(login):
    browser = await login("viewer")
    page = Page((await browser.get("/console/help")).text)
    for word in (
        "select the row",
        "every attempt failed",
        "is in no file of leads",
        "name servers of its domain did not respond",
    ):
        assert word in page.text
    part = await browser.get("/console/help", headers={"Console-Part": "keys"})
    assert "select the row" in part.text
    assert "<html" not in part.text
