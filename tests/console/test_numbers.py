"""Every number of a search and of the line is a link to a list that has as many rows."""

import re
from uuid import UUID

import httpx
import pytest

from tests.factories.console_browser import Page
from tests.factories.line_rows import add, add_line

REFUSED, HIDDEN = "robots.txt of {} asks robots not to fetch this page.", "{} answers 403 Forbidden."
SITES = (
    ("one.fi", "Skipped", REFUSED),
    ("two.fi", "Skipped", REFUSED),
    ("three.fi", "Skipped", "it is parked"),
    ("four.fi", "Error", HIDDEN),
    ("five.fi", "Error", HIDDEN),
    ("six.fi", "Error", None),
    ("seven.fi", "Completed", None),
    ("eight.fi", "Processing", None),
    ("nine.fi", "Queued", None),  # at once
    ("ten.fi", "Queued", None),  # on a later day
    ("eleven.fi", "Queued", REFUSED),  # once more
    ("twelve.fi", "New", None),
)
CONTACTS = (
    {"email": "a@seven.fi", "name": "Anna", "contact_verification_status": "Completed"},
    {"email": "b@seven.fi", "contact_verification_status": "Queued"},
    {"phone": "+3589123", "name": "Bo", "curation_status": "Not a Fit"},
    {"phone": "+3589123"},  # the number that another person has, too
    {"email": "c@seven.fi"},  # nobody has decided about it
)


@pytest.fixture
async def search(admin, tenant) -> str:
    """The path of a search whose rows are in every state."""
    ids = await add_line(admin, tenant)
    for name, status, message in SITES:
        later = "now() + '1 hour'::interval" if name in ("ten.fi", "eleven.fi") else "now()"
        await admin.execute(
            "INSERT INTO domain (tenant_id, search_id, name, domain_metadata_status, domain_metadata_error, "
            f"domain_metadata_due_at) VALUES ($1, $2, $3, $4, $5, {later})",
            *(tenant, UUID(ids["searches"]), name, status, message and message.format(name)),
        )
    domain = await admin.fetchval("SELECT id FROM domain WHERE name = 'seven.fi'")
    for number, columns in enumerate(CONTACTS):
        await add(admin, "contact", tenant, domain_id=domain, identity=str(number), **columns)
    await admin.execute("UPDATE place SET deep_scan_status = 'Completed'")
    await admin.execute("""UPDATE search SET rules = '{"contact_verification": "off"}'""")
    return f"/console/searches/{ids['searches']}"


def numbers(page: Page, within: str) -> dict[str, int]:
    """The links of a part that begin with a number, and those numbers."""
    links = [one for one in page.all("a") if is_in(one, within) and "data-open" not in one.attributes]
    return {
        one["href"]: int(found[1].replace(",", ""))
        for one in links
        if (found := re.match(r"([\d,]+)", one.text.strip()))
    }


def is_in(element, row_id: str) -> bool:
    return element is not None and (element.get("id") == row_id or is_in(element.within, row_id))


async def rows_of(browser: httpx.AsyncClient, path: str) -> int:
    """The number of rows that the list behind a link says it has; of a list that does not, its rows."""
    answer = await browser.get(path)
    assert answer.status_code == 200, f"{path}: {answer.text[-2000:]}"
    page = Page(answer.text)
    if counted := page.all("p", id="count"):
        words = counted[0].text.split()
        return 0 if words == ["no", "rows"] else int(words[-1].replace(",", ""))
    return len([one for one in page.all("tr") if one.is_in("tbody") and not one.is_in("details")])


async def test_every_number_of_a_search_leads_to_a_list_with_as_many_rows(login, search):
    browser = await login("curator")
    page = Page((await browser.get(search)).text)
    shown = numbers(page, "progress")
    assert {path: await rows_of(browser, path) for path in shown} == shown
    reasons = [one for one in shown if "_error=" in one]
    assert sorted(shown[one] for one in reasons) == [1, 1, 1, 1, 2, 2]  # of the same status, but no reason twice
    counts = [one for one in page.elements if one.tag == "strong" and is_in(one, "progress")]
    counts += [one for one in page.all("td", class_="number") if is_in(one, "progress")]
    linked = {one.text.strip() for one in page.all("a") if is_in(one, "progress")}
    for one in counts:
        assert one.is_in("a") or one.text.strip() in {*linked, "0", ""}, one.text
    [choose] = [one for one in page.all("a", class_="button") if is_in(one, "progress")]
    assert "2 contacts wait for your decision." in page.text
    assert await rows_of(browser, choose["href"]) == 2


async def test_every_number_of_the_line_leads_to_a_list_with_as_many_rows(login, search):
    browser = await login("operator")
    await browser.get(search)  # counts it
    shown = numbers(Page((await browser.get("/console/line")).text), "line")
    workers = shown.pop("/console/system#workers", None)
    assert workers is None  # none runs
    assert {path: await rows_of(browser, path) for path in shown} == shown
    assert {"contacts", "queues"} == {path.split("/")[2].partition("?")[0] for path in shown}
    names = [
        one.text.split()
        for one in Page((await browser.get("/console/line")).text).all("a")
        if "data-open" in one.attributes
    ]
    assert [words[0] for words in names] == [str(number + 1) for number in range(len(names))]
    assert names[2] == ["3", "missing", "web", "sites", "site_search"]


async def test_line_and_search_say_the_same_time_that_is_left(login, app, admin, search):
    await admin.execute("UPDATE search SET created_at = now() - '10 minutes'::interval")
    browser = await login("viewer")
    stands = Page((await browser.get("/console/line")).text)  # no worker runs
    assert "stands still" in stands.text
    assert "left" not in stands.one("section", class_="under-way").text
    await admin.execute("INSERT INTO worker (id, host, pid, version) VALUES (gen_random_uuid(), 'one', 1, '1')")
    app.state.fresh.clear()
    words = re.findall(r"about (.*? left)", Page((await browser.get(search)).text).text)
    assert words == ["1 h left"]  # one of its sites is read in an hour
    assert re.findall(r"about (.*? left)", Page((await browser.get("/console/line")).text).text) == words


async def test_the_places_and_web_sites_of_searches_lead_to_lists_with_as_many_rows(login, admin, tenant, search):
    await admin.execute("UPDATE search SET result_count = 1")
    sites = await add(admin, "search", tenant, text="two sites", provider="domains", result_count=2)
    imported = await add(admin, "search", tenant, text="pages of some", provider="import", result_count=1)
    empty = await admin.fetchval("SELECT id FROM domain WHERE name = 'twelve.fi'")
    await add(admin, "page", tenant, url="https://twelve.fi/x", domain_id=empty)
    for of_search, name in ((sites, "one.fi"), (sites, "two.fi"), (imported, "twelve.fi")):
        await admin.execute(
            "INSERT INTO search_domain (search_id, domain_id, tenant_id) SELECT $1, id, tenant_id FROM domain "
            "WHERE name = $2",
            *(UUID(of_search), name),
        )
    browser = await login("viewer")
    for path in ("/console/searches", "/console/files"):
        cells = Page((await browser.get(path)).text).all("a")
        shown = {one["href"]: int(one.text.split()[0]) for one in cells if one.within.get("data-label") == "places"}
        assert sorted(shown.values()) == [1, 1, 2]
        assert {each: await rows_of(browser, each) for each in shown} == shown
