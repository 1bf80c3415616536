"""Your account in the console: choices that are kept for every browser, and the help."""

import pytest

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


async def test_the_help_has_keys_and_the_meaning_of_states(login):
    browser = await login("viewer")
    page = Page((await browser.get("/console/help")).text)
    for word in ("select the row", "every attempt failed", "turned down", "the mail host could not be asked"):
        assert word in page.text
    part = await browser.get("/console/help", headers={"Console-Part": "keys"})
    assert "select the row" in part.text
    assert "<html" not in part.text
