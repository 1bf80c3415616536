"""The grids: filters in the address, paging, the open row, decisions and undo."""

from uuid import uuid4

from scrapersky.console.draw.words import marked
from tests.factories.console_browser import Page
from tests.factories.line_rows import NOUNS, add, add_line


async def add_places(admin, tenant, count):
    for n in range(count):
        await add(admin, "place", tenant, provider="fake", provider_id=str(uuid4()), name=f"Place {n:03}")


async def test_a_list_is_paged_by_cursor_and_counts_its_rows(login, admin, tenant):
    await add_places(admin, tenant, 120)
    browser, seen, path, counts = await login("viewer"), [], "/console/places?sort=name", []
    while path:
        page = Page((await browser.get(path)).text)
        seen += [one.text.strip() for one in page.all("a") if "data-open" in one.attributes]
        counts.append(page.one("p", id="count").text.split())
        nexts = page.all("a", rel="next")
        path = nexts[0]["href"] if nexts else ""
    assert seen == [f"Place {n:03}" for n in range(120)]
    assert counts == [["1–50", "of", "120"], ["51–100", "of", "120"], ["101–120", "of", "120"]]
    back = Page((await browser.get(page.one("a", rel="prev")["href"])).text)
    assert [one.text.strip() for one in back.all("a") if "data-open" in one.attributes] == seen[50:100]
    assert back.one("p", id="count").text.split() == counts[1]


async def test_filters_are_chips_that_can_be_dropped(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser = await login("viewer")
    address = f"/console/contacts?search_id={ids['searches']}&has_email=true&curation_status=New"
    page = Page((await browser.get(address)).text)
    chips = {one["aria-label"].removeprefix("Drop the filter "): one["href"] for one in page.all("a", class_="drop")}
    assert set(chips) == {"search", "has email", "decision"}
    assert chips["decision"] == f"/console/contacts?search_id={ids['searches']}&has_email=true"
    assert "dentists" in page.text  # the name of the search, not its id


async def test_empty_fields_of_the_filter_form_leave_the_address(login):
    browser = await login("viewer")
    answer = await browser.get("/console/contacts?verdict=&text=anna&curation_status=")
    assert answer.headers["location"] == "/console/contacts?text=anna"


async def test_an_unknown_filter_or_value_is_a_sentence(login):
    browser = await login("viewer")
    for query in ("nothing=1", "verdict=blue", "min_rating=9", "cursor=x"):
        answer = await browser.get(f"/console/{'places' if 'rating' in query else 'contacts'}?{query}")
        assert answer.status_code in (400, 422), query
        assert Page(answer.text).one("h1")


async def test_the_menu_of_a_filter_has_its_values_with_their_counts(login, admin, tenant):
    await add_places(admin, tenant, 7)
    await admin.execute("UPDATE place SET curation_status = 'Maybe' WHERE name < 'Place 003'")
    browser = await login("viewer")
    page = Page((await browser.get("/console/places?text=place&menu=curation_status")).text)
    counted = {" ".join(one.text.split()): one["href"] for one in page.all("a") if "data-go" in one.attributes}
    assert counted["New 4"] == "/console/places?text=place&curation_status=New"
    assert counted["Maybe 3"] == "/console/places?text=place&curation_status=Maybe"
    page = Page((await browser.get(counted["Maybe 3"] + "&menu=curation_status")).text)
    both = next(one["href"] for one in page.all("a") if "data-go" in one.attributes and "New" in one.text)
    assert both == "/console/places?text=place&curation_status=Maybe&curation_status=New"
    assert "1–7 of 7" in Page((await browser.get(both)).text).text
    typed = Page((await browser.get("/console/businesses?menu=city")).text)
    assert typed.one("input", name="city")["aria-label"] == "city"
    assert (await browser.get("/console/places?menu=nothing")).status_code == 404


async def test_columns_are_chosen_moved_and_reset(login, admin, tenant):
    await add_places(admin, tenant, 2)
    browser = await login("viewer")

    async def heads():
        page = Page((await browser.get("/console/places?menu=columns")).text)
        return [one.text.strip() for one in page.all("th", scope="col")], page

    before, page = await heads()
    assert before == ["name", "address", "categories", "rating", "website", "deep scan", "decision", "changed"]
    assert page.one("button", name="up", value="rating")["aria-label"] == "Move rating to the front"
    form = {"column": ["address", "rating", "provider"], "density": "dense", "back": "/console/places"}
    assert (await browser.post("/console/places/layout", data=form)).headers["location"] == "/console/places"
    after, page = await heads()
    assert after == ["name", "address", "rating", "provider"]
    assert page.one("html")["data-density"] == "dense"
    await browser.post("/console/places/layout", data={**form, "up": "provider", "density": ""})
    after, page = await heads()
    assert after == ["name", "address", "provider", "rating"]
    assert page.one("html").get("data-density") is None
    await browser.post("/console/places/layout", data={"column": ["address", "<b>"], "reset": "yes"})
    assert (await heads())[0] == before


async def test_parts_of_a_page_are_read_alone(login, admin, tenant):
    await add_places(admin, tenant, 60)
    browser = await login("curator")
    page = Page((await browser.get("/console/places?sort=name")).text)
    further = page.one("tbody")["data-next"]
    part = Page((await browser.get(further, headers={"Console-Part": "rows"})).text)
    assert [one["data-first"] for one in part.all("tbody")] == ["51"]
    assert len(part.all("tr")) == 10
    row = part.all("a")[0]["href"].removeprefix("places/")
    panel = await browser.get(f"/console/places?open={row}", headers={"Console-Part": "panel"})
    assert "Place 050" in Page(panel.text).one("h2").text
    menu = await browser.get("/console/places?menu=curation_status", headers={"Console-Part": "menu"})
    assert Page(menu.text).elements[0].tag == "p"
    assert (await browser.get("/console/places", headers={"Console-Part": "x"})).status_code == 404


async def test_two_people_who_decide_about_the_same_row_see_both_decisions(login, admin, tenant):
    ids = await add_line(admin, tenant)
    first, second = await login("curator"), await login("operator")
    seen = {
        one: Page((await one.get("/console/places")).text).one("input", name="id")["value"] for one in (first, second)
    }
    assert seen[first] == f"{ids['places']} New"
    form = {"id": seen[first], "curation_status": "Selected", "back": "/console/places"}
    assert (await first.post("/console/places/curation", data=form)).status_code == 303
    late = await second.post("/console/places/curation", data={**form, "curation_status": "Archived"})
    assert late.status_code == 409
    page = Page(late.text)
    assert len(page.all("tr")) == 2
    assert [one.text.split()[-1] for one in page.all("td")] == ["New", "Selected"]
    assert await admin.fetchval("SELECT curation_status FROM place") == "Selected"
    again = {one["name"]: one["value"] for one in page.all("input")}
    assert (await second.post("/console/places/curation", data=again)).status_code == 303
    assert await admin.fetchval("SELECT curation_status FROM place") == "Archived"
    same = await first.post("/console/places/curation", data={**form, "curation_status": "Archived"})
    assert same.status_code == 303  # both want the same


async def test_rows_are_queued_and_retried_by_operators(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser, curator = await login("operator"), await login("curator")
    page = Page((await browser.get(f"/console/places/{ids['places']}")).text)
    assert page.one("button", name="act")["value"] == "queue deep_scan"
    assert not Page((await curator.get(f"/console/places/{ids['places']}")).text).all("button", name="act")
    form = {"id": ids["places"], "act": "queue deep_scan", "back": "/console/places"}
    assert (await curator.post("/console/places/queue", data=form)).status_code == 403
    assert (await browser.post("/console/places/queue", data=form)).status_code == 303
    assert "Queued 1 rows for deep_scan." in (await browser.get("/console/places")).text
    assert await admin.fetchval("SELECT deep_scan_status FROM place") == "Queued"
    await admin.execute("UPDATE place SET deep_scan_status = 'Error', deep_scan_error = 'away'")
    page = Page((await browser.get(f"/console/places/{ids['places']}")).text)
    assert page.one("button", name="act")["value"] == "retry deep_scan"
    await browser.post("/console/places/queue", data={**form, "act": "retry deep_scan"})
    assert "1 rows are tried again by deep_scan." in (await browser.get("/console/places")).text
    assert (await browser.post("/console/places/queue", data={**form, "act": "retry page_curation"})).status_code == 400


async def test_a_list_is_exported_as_it_is_filtered(login, admin, tenant):
    await add_places(admin, tenant, 3)
    browser = await login("viewer")
    page = Page((await browser.get("/console/places?text=place+001")).text)
    files = [one["href"] for one in page.all("a") if "/export." in one["href"]]
    answer = await browser.get(files[0])
    assert answer.headers["content-type"].startswith("text/csv")
    assert "Place 001" in answer.text
    assert "Place 002" not in answer.text
    assert len((await browser.get(files[1])).text.splitlines()) == 1


async def test_the_open_row_is_part_of_the_address_and_leads_to_its_neighbours(login, admin, tenant):
    await add_places(admin, tenant, 3)
    browser = await login("curator")
    page = Page((await browser.get("/console/places?sort=name")).text)
    rows = [one["href"] for one in page.all("a") if "data-open" in one.attributes]
    ids = [row.removeprefix("places/") for row in rows]
    page = Page((await browser.get(f"/console/places?sort=name&open={ids[1]}")).text)
    assert "Place 001" in page.one("aside").text
    assert page.one("a", aria_label="Row before")["href"] == f"/console/places?sort=name&open={ids[0]}"
    assert page.one("a", aria_label="Row after")["href"] == f"/console/places?sort=name&open={ids[2]}"
    assert page.one("a", aria_label="Close")["href"] == "/console/places?sort=name"


async def test_rows_are_decided_and_the_decision_is_undone(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser = await login("curator")
    for noun in NOUNS:
        form = {"id": [ids[noun]], "curation_status": "Selected", "back": f"/console/{noun}/{ids[noun]}"}
        answer = await browser.post(f"/console/{noun}/curation", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/console/{noun}/{ids[noun]}")
        page = Page((await browser.get(answer.headers["location"])).text)
        assert f"1 {noun.removesuffix('s').replace('businesse', 'business')}: Selected." in page.text
        undo = next(one for one in page.all("form") if one["action"].startswith("/console/undo/"))
        assert (await browser.post(undo["action"], data={"back": f"/console/{noun}"})).status_code == 303
        assert "Restored 1 rows." in Page((await browser.get(f"/console/{noun}")).text).text
        again = Page((await browser.get(f"/console/{noun}")).text)
        assert "Restored" not in again.text  # a notice is shown once
    assert await admin.fetchval("SELECT curation_status FROM contact") == "New"
    assert {row[0] for row in await admin.fetch("SELECT origin FROM audit WHERE action = 'curate'")} == {
        "console 127.0.0.1"
    }


async def test_a_decision_needs_rows_and_a_word(login, admin, tenant):
    browser = await login("curator")
    answer = await browser.post("/console/places/curation", data={"curation_status": "Maybe"})
    assert answer.status_code == 303
    assert "No row was selected" in (await browser.get("/console/places")).text
    wrong = await browser.post("/console/places/curation", data={"id": str(uuid4()), "curation_status": "Perhaps"})
    assert wrong.status_code == 400
    gone = await browser.post("/console/places/curation", data={"id": str(uuid4()), "curation_status": "Maybe"})
    assert (gone.status_code, "deleted meanwhile" in gone.text) == (404, True)


async def test_all_that_match_are_decided_only_as_they_were_shown(login, admin, tenant):
    await add_places(admin, tenant, 60)
    browser = await login("curator")
    page = Page((await browser.get("/console/places?text=place")).text)
    link = next(one["href"] for one in page.all("a") if "that match" in one.text)
    page = Page((await browser.get(link)).text)
    assert "Decide about 60 places" in page.one("h1").text
    assert "queues deep_scan for 60" in page.text
    taken_out = str(await admin.fetchval("SELECT id FROM place LIMIT 1"))
    fewer = Page((await browser.post(link, data={"except": taken_out})).text)
    assert "Decide about 59 places" in fewer.one("h1").text
    assert fewer.one("input", name="except")["value"] == taken_out
    form = next(one for one in page.all("form") if one["action"].startswith("/console/places/matching"))
    fields = {one["name"]: one["value"] for one in page.all("input") if one.within is form}
    await add_places(admin, tenant, 5)  # later than what was shown
    answer = await browser.post(form["action"], data={**fields, "curation_status": "Maybe"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/places?text=place")
    assert await admin.fetchval("SELECT count(*) FROM place WHERE curation_status = 'Maybe'") == 60
    await admin.execute("DELETE FROM place WHERE curation_status = 'Maybe'")
    refused = await browser.post(form["action"], data={**fields, "curation_status": "Archived"})
    assert refused.status_code == 409
    assert "were shown" in Page(refused.text).one("p", role="alert").text
    assert await admin.fetchval("SELECT count(*) FROM place WHERE curation_status = 'Archived'") == 0


def test_a_value_is_marked_in_its_sentence_whatever_its_spelling():
    text = 'Anna <b> ANNA@molar.fi, puh. (09) 123 4567 tai "anna@molar.fi"'
    drawn = str(marked(text, ("anna@molar.fi", "+35891234567", None)))
    assert drawn.count("<mark>") == 3
    assert "<mark>ANNA@molar.fi</mark>" in drawn
    assert "<mark>(09) 123 4567</mark>" in drawn
    assert "<b>" not in drawn
    assert str(marked("İ anna", ("ANNA",))) == "İ anna"
    assert str(marked("<i>", ())) == "&lt;i&gt;"


async def test_a_contact_shows_the_page_and_the_sentence_it_was_found_in(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute(
        "UPDATE contact SET snippet = 'Write to Anna: anna@molar.fi', found_by = 'mailto', confidence = 0.97, "
        "source_url = 'https://molar.fi/contact'"
    )
    browser = await login("viewer")
    page = Page((await browser.get(f"/console/contacts/{ids['contacts']}")).text)
    source = page.one("figure").text
    for part in ("Write to Anna: anna@molar.fi", "molar.fi", "/contact", "mailto", "0.97"):
        assert part in source
    trail = [one["href"] for one in page.all("a") if one.is_in("ol")]
    assert trail == [f"/console/{noun}/{ids[noun]}" for noun in ("searches", *NOUNS[:-1])]


async def test_views_are_saved_shared_and_deleted(login, admin, tenant):
    await add_places(admin, tenant, 2)
    viewer, curator = await login("viewer"), await login("curator")
    page = Page((await curator.get("/console/places?text=place&sort=name&menu=views")).text)
    assert "No view is saved yet." in page.text
    form = {"query": page.one("input", name="query")["value"], "name": "To look at", "shared": "yes"}
    assert form["query"] == "text=place&sort=name"
    saved = await curator.post("/console/places/views", data=form)
    assert saved.headers["location"] == "/console/places?text=place&sort=name"
    assert "Saved the view To look at for all." in (await curator.get(saved.headers["location"])).text
    menu = Page((await viewer.get("/console/places?menu=views")).text)
    assert menu.one("a", href="/console/places?text=place&sort=name").text.split()[:3] == ["To", "look", "at"]
    assert not menu.all("button", aria_label="Delete the view To look at")
    assert not menu.all("input", name="shared")
    assert (await viewer.post("/console/places/views", data=form)).status_code == 403
    assert (await viewer.post("/console/places/views", data={"name": "", "query": ""})).status_code == 400
    assert "To look at" not in Page((await viewer.get("/console/contacts?menu=views")).text).text
    button = Page((await curator.get("/console/places?menu=views")).text).one(
        "button", aria_label="Delete the view To look at"
    )
    assert button.within is not None
    assert (await viewer.post(button.within["action"], data={"back": "/console/places"})).status_code == 404
    assert (await curator.post(button.within["action"], data={"back": "/console/places"})).status_code == 303
    assert await admin.fetchval("SELECT count(*) FROM saved_view") == 0
