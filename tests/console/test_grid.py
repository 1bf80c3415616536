"""The grids: filters in the address, paging, the open row, decisions and undo."""

from uuid import uuid4

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
    chips = {one.text.split()[0]: one["href"] for one in page.all("a", class_="chip")}
    assert set(chips) == {"search", "has", "decision"}
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


async def test_the_open_row_is_part_of_the_address_and_leads_to_its_neighbours(login, admin, tenant):
    await add_places(admin, tenant, 3)
    browser = await login("curator")
    page = Page((await browser.get("/console/places?sort=name")).text)
    rows = [one["href"] for one in page.all("a") if "data-open" in one.attributes]
    page = Page((await browser.get(rows[1])).text)
    assert "Place 001" in page.one("aside").text
    assert page.one("a", aria_label="Row before")["href"] == rows[0]
    assert page.one("a", aria_label="Row after")["href"] == rows[2]
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
