"""Every page for every role, empty and full, with hostile rows: the rules of its HTML, and who may open it."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi.routing import APIRoute
from jinja2 import nodes

from scrapersky.console import fresh
from scrapersky.console.answers import environment
from scrapersky.console.assets import assets
from scrapersky.console.columns import GRIDS
from scrapersky.console.routes import console_routes
from scrapersky.core.roles import Role
from tests import ROOT
from tests.factories.console_browser import Page
from tests.factories.line_rows import NOUNS, add, add_line, fill_line

TEMPLATES = ROOT / "src" / "scrapersky" / "console" / "templates"
HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'{{7*7}}\u202e"
EMPTY_PAGES = (
    *("/line", "/searches", "/searches/new", "/schedules", "/account", "/help", "/find", "/map"),
    *("/contacts/new", "/contacts/deliver", "/contacts/duplicates"),
    *(f"/{noun}" for noun in NOUNS),
)
FORGED: tuple[dict[str, str], ...] = (
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    {"Sec-Fetch-Site": "", "Origin": "null"},
    {"Sec-Fetch-Site": ""},
)
NAMED = ("button", "a", "summary")
FIELDS = ("input", "select", "textarea")


def full_pages(ids):
    """The addresses of every page that shows rows."""
    search = ids["searches"]
    paths = [
        f"/searches/{search}{rest}"
        for rest in ("", "?tab=businesses", "?tab=files", "/change", "/deliver", "/schedule")
    ]
    for noun in NOUNS:
        paths += [
            f"/{noun}/{ids[noun]}",
            f"/{noun}?open={ids[noun]}",
            f"/{noun}?search_id={search}&curation_status=New",
            f"/{noun}?menu=curation_status",
            f"/{noun}?menu=filters",
            f"/{noun}?menu=columns",
            f"/{noun}?menu=views",
            f"/{noun}/matching?search_id={search}",
        ]
    paths += [f"/contacts/{ids['contacts']}/edit", "/find?find=mol", f"/map?search_id={search}", "/map?at=60,24&zoom=4"]
    return (*EMPTY_PAGES, *paths)


def least_role(path, method="GET"):
    """The role that the route of a page or of an action asks for."""
    wanted = f"/console{path.partition('?')[0]}"
    routes = [route for route in console_routes() if isinstance(route, APIRoute) and method in (route.methods or ())]
    found = next(route for route in routes if route.path_regex.match(wanted))
    role = (found.openapi_extra or {})["x-role"]
    return Role.VIEWER if role == "anyone" else Role(role)


def check_html(text):
    """The rules that hold for every page; the page."""
    page = Page(text)
    ids = [one["id"] for one in page.elements if one.get("id")]
    assert sorted(ids) == sorted(set(ids)), "an id occurs twice"
    assert page.one("html")["lang"] == "en"
    [title] = [one for one in page.all("title") if not one.is_in("svg")]
    assert title.text.strip()
    assert len(page.all("h1")) == 1
    assert len(page.all("main")) == 1
    levels = [int(one.tag[1]) for one in page.elements if re.fullmatch("h[1-6]", one.tag) and not one.is_in("nav")]
    assert all(after - before <= 1 for before, after in pairwise(levels)), levels
    for one in page.elements:
        assert "style" not in one.attributes, "an inline style"
        assert not [name for name in one.attributes if name.startswith("on")], "an inline handler"
        assert one.tag not in ("style", "img", "iframe", "object"), one.tag
        if one.tag == "script":
            assert one["src"].startswith("/console/static/")
            assert one.text == ""
        if one.tag in NAMED:
            assert one.text.strip() or one.get("aria-label"), f"{one.tag} {one.attributes} has no name"
        if one.tag in FIELDS and one.get("type") != "hidden":
            labelled = one.get("aria-label") or one.is_in("label") or page.all("label", for_=one.get("id"))
            assert labelled, f"{one.attributes} has no label"
        for name in ("aria-labelledby", "aria-describedby"):
            assert all(word in ids for word in (one.get(name) or "").split()), one.attributes
        if one.tag == "th":
            assert one["scope"] in ("row", "col")
    for link in page.all("a"):
        target = link["href"]
        is_row = target.partition("/")[0] in NOUNS  # a row of the list at this address
        assert is_row or target.startswith(("/console", "#", "mailto:", "tel:", "http://", "https://")) or target == ""
        if target.startswith("http"):
            assert "noopener" in link["rel"]
            assert "noreferrer" in link["rel"]
    for form in page.all("form"):
        assert form["action"].startswith("/console/")
    return page


@pytest.mark.parametrize("role", list(Role))
async def test_every_page_is_sound_for_every_role_empty_and_full(login, admin, tenant, role):
    browser = await login(role.value)
    for path in EMPTY_PAGES:
        answer = await browser.get(f"/console{path}")
        assert answer.status_code == (200 if role.covers(least_role(path)) else 403), path
        check_html(answer.text)
    ids = await add_line(admin, tenant)
    for path in full_pages(ids):
        answer = await browser.get(f"/console{path}")
        if answer.status_code != 403:
            assert answer.status_code == 200, path
        page = check_html(answer.text)
        decides = page.all("button", name="curation_status")
        assert not decides or role is not Role.VIEWER, path


async def test_empty_lists_say_why_and_offer_what_changes_it(login):
    curator, viewer = await login("curator"), await login("viewer")
    page = check_html((await curator.get("/console/contacts")).text)
    assert "A contact appears when" in page.text
    assert [one for one in page.all("a", href="/console/searches/new") if one.text.strip() == "Begin a search"]
    page = check_html((await viewer.get("/console/contacts")).text)
    assert not page.all("a", href="/console/searches/new")
    page = check_html((await curator.get("/console/contacts?text=zzz&verdict=risky")).text)
    assert "No row matches." in page.text
    assert page.all("a", href="/console/contacts?text=zzz")  # drops the last filter
    page = check_html((await curator.get("/console/map")).text)
    assert "Places are what a provider's map returns" in page.text
    assert [one for one in page.all("a", href="/console/searches/new") if one.text.strip() == "Begin a search"]
    assert "Decide about these places" not in page.text
    page = check_html((await curator.get("/console/map?provider=fake")).text)
    assert "No place that matches lies here." in page.text


async def make_hostile(admin, ids):
    await fill_line(admin, ids, HOSTILE, f"javascript:alert(3)//{HOSTILE}")


async def test_hostile_text_of_crawled_pages_stays_text(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await make_hostile(admin, ids)
    browser = await login("admin")
    shown = 0
    for path in full_pages(ids):
        answer = await browser.get(f"/console{path}")
        assert answer.status_code == 200, path
        page = check_html(answer.text)
        shown += "<script>alert(1)" in page.one("body").text  # as text: the parser has read no such element
        assert len(page.all("script")) == 1, path
        assert "49" not in re.sub(r"[0-9a-f-]{36}", "", page.one("main").text.partition("{{7*7}}")[0])[-1:]
        assert not [one for one in page.all("a") if one["href"].lower().startswith("javascript:")]
    assert shown > len(NOUNS)


def test_templates_hold_no_inline_code_and_nothing_unescaped():
    for path in TEMPLATES.glob("*.html"):
        text = path.read_text()
        for word in ("|safe", "| safe", "style=", "<style", "autoescape", "javascript:", "<script>"):
            assert word not in text, f"{path.name}: {word}"
        assert not re.search(r"\son[a-z]{3,12}=", text), path.name


def test_every_visible_word_of_a_template_goes_through_gettext():
    allowed = {"scrapersky", "· scrapersky", "Excel", "CSV", "p95", "scrapersky user create NAME"}
    allowed |= {"p50", "p50 · p95", "scrapersky worker", "scrapersky tenant create NAME"}
    for path in TEMPLATES.glob("*.html"):
        text = re.sub(r"(?s)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "\x00", path.read_text())
        words = {part.strip() for part in re.sub(r"(?s)<[^>]*>", "\x00", text).split("\x00")}
        loose = {word for word in words if re.search("[A-Za-z]{2}", word)} - allowed
        assert not loose, f"{path.name}: {loose}"


def test_what_counts_as_html_after_its_translation_stands_in_the_template():
    """What `_` returns is not escaped, and a % in it is a placeholder: data goes through `translated`."""
    drawn = environment()
    for path in TEMPLATES.glob("*.html"):
        for call in drawn.parse(path.read_text()).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name in ("_", "gettext", "ngettext"):
                texts = call.args[:2] if call.node.name == "ngettext" else call.args
                data = [one for one in texts if not isinstance(one, nodes.Const)]
                assert not data, f"{path.name}:{call.lineno}: use translated() for {data}"
    assert drawn.from_string("{{ translated(word) }}").render(word="<b>100 %") == "&lt;b&gt;100 %"


def test_only_one_policy_writes_html():
    for name, asset in assets().by_name.items():
        text = asset.plain.decode()
        if name.endswith(".js"):
            assert ("innerHTML" in text) == (name in ("parts.js", "console.js")), name  # console.js holds all of them
            for word in ("eval(", "document.write", "outerHTML", "insertAdjacentHTML", "http://", "https://"):
                assert word not in text, f"{name}: {word}"


async def test_every_route_for_every_role_and_with_foreign_ids(login, admin, tenant, other_tenant):
    mine, theirs = await add_line(admin, tenant), await add_line(admin, other_tenant, "other")
    browsers = {role: await login(role.value) for role in Role}
    counted = 0
    for route in console_routes():
        assert isinstance(route, APIRoute)
        declared = route.openapi_extra or {}
        if declared["x-role"] == "anyone" or route.path == "/console/logout":
            continue
        noun = route.path.split("/")[2] if route.path.count("/") > 1 else ""
        path = route.path.replace("{name}", "deep_scan").replace("{ending}", "csv")
        for role, browser in browsers.items():
            for method in route.methods or ():
                is_allowed = role.covers(Role(declared["x-role"]))
                answer = await send(browser, method, path.replace("{id}", mine.get(noun, str(uuid4()))))
                assert (answer.status_code == 403) == (not is_allowed), (role, method, path, answer.status_code)
                assert answer.status_code in (200, 303, 400, 403, 404, 409, 422), (
                    role,
                    method,
                    path,
                    answer.status_code,
                )
                assert answer.headers["cache-control"] == "no-store", path
                if method == "POST":
                    for forged in FORGED:
                        assert (await browser.post(path, headers=forged)).status_code == 403, (path, forged)
                counted += 1
                if "{id}" in path and is_allowed:
                    foreign = await send(browser, method, path.replace("{id}", theirs.get(noun, str(uuid4()))))
                    assert foreign.status_code == 404, (role, method, path, foreign.status_code)
    assert counted > 4 * len(GRIDS) * 4


async def send(browser, method, path):
    if method == "GET":
        return await browser.get(path)
    return await browser.post(path, data={"curation_status": "Maybe", "id": str(uuid4())})


async def test_an_operator_of_another_tenant_does_not_control_the_line(login, admin, tenant, other_tenant):
    foreign, own = await login("admin", tenant="other"), await login("operator")
    assert (await foreign.post("/console/line/deep_scan/pause")).status_code == 403
    assert not Page((await foreign.get("/console/line")).text).all("button", aria_label="Pause deep_scan")
    assert (await own.post("/console/line/deep_scan/pause", data={"reason": "night"})).status_code == 303
    page = Page((await own.get("/console/line")).text)
    assert "deep_scan is paused" in page.text
    assert "night" in page.text
    assert (await own.post("/console/line/deep_scan/resume")).status_code == 303


async def raise_alarm(admin, kind, subject, message, since):
    await admin.execute(
        "INSERT INTO alarm (id, kind, subject, message, raised_at) "
        "VALUES (gen_random_uuid(), $1, $2, $3, now() - $4::text::interval)",
        *(kind, subject, message, since),
    )


async def test_an_alarm_is_on_top_of_every_page_of_the_operator_tenant(login, admin, tenant, other_tenant):
    await admin.execute("INSERT INTO worker (id, host, pid, version) VALUES (gen_random_uuid(), 'one', 1, '1')")
    await raise_alarm(admin, "queue_age_exceeded", "place_search", "A row has been ready for 900 s", "2 hours")
    for subject, since in (("deep_scan", "1 hour"), ("delivery", "1 minute")):
        await raise_alarm(admin, "breaker_open", subject, f"12 of 15 rows failed {HOSTILE}", since)
    await raise_alarm(admin, "provider_failing", "google_places", "403 Forbidden", "1 hour")
    operator, viewer, foreign = await login("operator"), await login("viewer"), await login("admin", tenant="other")
    for path in EMPTY_PAGES:
        page = check_html((await operator.get(f"/console{path}")).text)
        shown = page.one("div", class_="alarm").text
        assert shown.index("deep_scan") < shown.index("delivery") < shown.index("place_search")  # the worst first
        assert "12 of 15 rows failed" in shown
        assert "3 more" in shown
    paths = [one["href"] for one in page.all("a") if one.within.get("class") in ("alarm", "menu-panel others")]
    assert paths == [
        "/console/queues/deep_scan",
        "/console/queues/delivery",
        "/console/system#providers",
        "/console/queues/place_search?section=ready",
    ]
    for path in paths:
        assert (await operator.get(path)).status_code == 200, path
    assert page.all("form", action="/console/line/deep_scan/resume")
    page = check_html((await viewer.get("/console/contacts")).text)
    assert page.all("div", class_="alarm")
    assert not page.all("form", action="/console/line/deep_scan/resume")
    assert "/console/system#providers" not in {one["href"] for one in page.all("a")}  # no page of a viewer
    assert not check_html((await foreign.get("/console/contacts")).text).all("div", class_="alarm")


async def test_without_a_worker_the_alarm_says_so_and_no_step_is_said_to_run(login, app, admin, tenant, other_tenant):
    await raise_alarm(admin, "breaker_open", "delivery", "12 of 15 rows failed", "1 hour")
    await admin.execute(
        "INSERT INTO worker (id, host, pid, version, seen_at) "
        "VALUES (gen_random_uuid(), 'one', 1, '1', now() - '3 minutes'::interval)"
    )
    operator, foreign = await login("operator"), await login("viewer", tenant="other")
    page = check_html((await operator.get("/console/contacts")).text)
    shown = page.one("div", class_="alarm")
    assert "No worker runs" in shown.text
    assert "1 more" in shown.text
    since = next(one for one in page.all("time") if one.within.within is shown)
    assert datetime.fromisoformat(since["datetime"]) < datetime.now(UTC) - timedelta(minutes=2)
    [look] = [one["href"] for one in page.all("a") if one.within is shown]
    assert look == "/console/system#workers"
    for browser in (operator, foreign):
        for path in ("/line", "/queues/deep_scan"):
            states = {one.text.strip() for one in states_of(check_html((await browser.get(f"/console{path}")).text))}
            assert "○ no worker" in states, path
            assert "● runs" not in states, path
    await admin.execute("UPDATE worker SET seen_at = now()")
    request: Any = SimpleNamespace(app=app)
    fresh.forget(request)
    page = check_html((await operator.get("/console/line")).text)
    assert "12 of 15 rows failed" in page.one("div", class_="alarm").text
    assert "● runs" in {one.text.strip() for one in states_of(page)}


def states_of(page):
    return [one for one in page.all("span") if (one.get("class") or "").startswith("state ")]


async def test_a_person_sees_how_a_web_site_was_found_and_sets_or_rejects_it(login, admin, tenant):
    ids = await add_line(admin, tenant)
    path = f"/console/businesses/{ids['businesses']}"
    await admin.execute(
        "UPDATE local_business SET website = 'https://molar.fi/', website_how = 'name', website_confidence = 0.96, "
        "website_proof = 'its number and its name in the title'"
    )
    viewer, curator = await login("viewer"), await login("curator")
    seen = Page((await viewer.get(path)).text)
    assert "from a domain made of its name · sure 0.96" in seen.text
    assert "its number and its name in the title" in seen.text
    assert not seen.all("button", name="act", value="reject")
    page = Page((await curator.get(path)).text)
    form = page.one("form", action=f"{path}/website")["action"]
    assert (await viewer.post(form, data={"act": "reject"})).status_code == 403
    for wrong, status in (("", 400), ("not an address", 422)):
        assert (await curator.post(form, data={"act": "set", "website": wrong})).status_code == status
    assert (await curator.post(form, data={"act": "reject", "back": path})).status_code == 303
    assert "None is known." in Page((await curator.get(path)).text).text
    assert (await curator.post(form, data={"act": "set", "website": "https://halla.fi/"})).status_code == 303
    assert "set by a person" in Page((await curator.get(path)).text).text
    row = await admin.fetchrow("SELECT website, website_how, rejected_websites FROM local_business")
    assert (row["website"], row["website_how"], "molar.fi" in row["rejected_websites"]) == (
        "https://halla.fi/",
        "person",
        True,
    )


async def test_a_business_shows_its_records_which_a_person_splits_and_joins(login, admin, tenant, other_tenant):
    ids, theirs = await add_line(admin, tenant), await add_line(admin, other_tenant, "other")
    second = await add(admin, "local_business", tenant, name="Molar Oy", same_as_id=UUID(ids["businesses"]),
                       same_reason=f"the same phone {HOSTILE}", same_confidence=0.97, same_by="rule")  # fmt: skip
    await admin.execute("UPDATE local_business SET chain = 'Molar chain' WHERE id = $1", UUID(ids["businesses"]))
    path, other = f"/console/businesses/{ids['businesses']}", f"/console/businesses/{second}"
    viewer, curator = await login("viewer"), await login("curator")
    seen = check_html((await viewer.get(path)).text)
    assert "the same phone" in seen.text
    assert "sure 0.97" in seen.text
    assert "Molar chain" in seen.text
    assert seen.all("a", href=other)
    assert not seen.all("form", action=f"{other}/split")
    assert (await viewer.post(f"{other}/split")).status_code == 403
    form = check_html((await curator.get(path)).text).one("form", action=f"{other}/split")
    assert (await curator.post(form["action"])).headers["location"] == other
    page = check_html((await curator.get(other)).text)
    assert "is a business of its own now" in page.text
    assert not page.all("form", action=f"{other}/split")
    assert await admin.fetchval("SELECT same_as_id FROM local_business WHERE id = $1", UUID(second)) is None
    assert (await curator.post(f"{other}/split")).status_code == 422
    for wrong, status in (("", 400), ("no id", 400), (str(uuid4()), 404), (theirs["businesses"], 404), (second, 422)):
        assert (await curator.post(f"{other}/join", data={"other": wrong})).status_code == status, wrong
    joined = await curator.post(f"{other}/join", data={"other": f"http://localhost:8000{path}?from=list"})
    assert joined.status_code == 303
    assert "one business now, with 2 records" in (await curator.get(joined.headers["location"])).text
    assert await admin.fetchval("SELECT count(*) FROM local_business WHERE same_as_id IS NOT NULL") == 1
