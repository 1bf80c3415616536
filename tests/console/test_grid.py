"""The grids: filters in the address, paging, the open row, decisions and undo."""

import json
from uuid import UUID, uuid4

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
    assert before == ["name", "decision", "address", "categories", "rating", "website", "deep scan", "changed"]
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
    assert "Queued 1 row for places." in (await browser.get("/console/places")).text
    assert await admin.fetchval("SELECT deep_scan_status FROM place") == "Queued"
    await admin.execute("UPDATE place SET deep_scan_status = 'Error', deep_scan_error = 'away'")
    page = Page((await browser.get(f"/console/places/{ids['places']}")).text)
    assert page.one("button", name="act")["value"] == "retry deep_scan"
    await browser.post("/console/places/queue", data={**form, "act": "retry deep_scan"})
    assert "1 row is tried again for places." in (await browser.get("/console/places")).text
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
        assert "Restored 1 row." in Page((await browser.get(f"/console/{noun}")).text).text
        again = Page((await browser.get(f"/console/{noun}")).text)
        assert "Restored" not in again.text  # a notice is shown once
    assert await admin.fetchval("SELECT curation_status FROM contact") == "New"
    assert {row[0] for row in await admin.fetch("SELECT origin FROM audit WHERE action = 'curate'")} == {
        "console 127.0.0.1"
    }


async def test_undo_says_what_has_happened_since(login, admin, tenant):
    for n in range(4):
        await add(admin, "contact", tenant, identity=f"email:{n}@molar.fi", email=f"{n}@molar.fi")
    ids = [str(row["id"]) for row in await admin.fetch("SELECT id FROM contact")]
    browser = await login("curator")
    await browser.post("/console/contacts/curation", data={"id": ids, "curation_status": "Selected"})
    undo = next(
        one
        for one in Page((await browser.get("/console/contacts")).text).all("form")
        if one["action"].startswith("/console/undo/")
    )
    done = "contact_verification_status = 'Completed', contact_verification_attempts = 1, verdict = 'deliverable'"
    await admin.execute(f"UPDATE contact SET {done} WHERE id = ANY ($1)", ids[:2])
    await browser.post("/console/contacts/curation", data={"id": ids[3], "curation_status": "Maybe"})
    await browser.post(undo["action"], data={"back": "/console/contacts"})
    told = Page((await browser.get("/console/contacts")).text).text
    assert "Restored 3 rows. 2 were processed meanwhile: their results stay. 1 was changed or deleted since" in told
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE curation_status = 'New'") == 3
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE verdict = 'deliverable'") == 2


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
    assert "queues 60 for places" in page.text
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
        "source_url = 'https://molar.fi/contact', seen_at = '2026-02-03T04:05:06Z'"
    )
    browser = await login("viewer")
    page = Page((await browser.get(f"/console/contacts/{ids['contacts']}")).text)
    source = page.one("figure").text
    for part in ("Write to Anna: anna@molar.fi", "molar.fi", "/contact", "mailto", "0.97"):
        assert part in source
    assert "2026-02-03T04:05:06Z" in [one["datetime"] for one in page.all("time") if one.is_in("figure")]  # last seen
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


async def test_a_wrong_filter_is_named_with_its_choices_and_can_be_dropped_alone(login, admin, tenant):
    browser = await login("viewer")
    for query, told, kept in (
        ("verdict=zzz&text=a", "deliverable, risky, undeliverable, unknown", "?text=a"),
        ("text=a&has_email=perhaps", "cannot be 'perhaps': it takes true or false", "?text=a"),
        ("domain_id=x", "it takes the id of a row", ""),
        ("created_since=soon", "2026-11-15T12:00:00Z", ""),
        ("nonsense=1&text=a", "is not a filter of this list", "?text=a"),
    ):
        answer = await browser.get(f"/console/contacts?{query}")
        page = Page(answer.text)
        assert answer.status_code == 422, query
        assert told in page.text, page.text
        assert "Input should" not in page.text
        dropped = next(one for one in page.all("a") if "without this filter" in one.text)
        assert dropped["href"] == f"/console/contacts{kept}"
        assert (await browser.get(dropped["href"])).status_code == 200


async def test_a_letter_goes_to_every_page_of_the_rail(login):
    browser = await login("admin")
    page = Page((await browser.get("/console/help")).text)
    links = [one for one in page.all("a") if "data-go" in one.attributes]
    letters = [one["data-go"] for one in links]
    assert len(set(letters)) == len(letters) == 24
    assert all(len(letter) == 1 for letter in letters)
    listed = next(one for one in page.all("dl") if "keys" in (one.get("class") or ""))
    assert "v Deliveries" in " ".join(listed.text.split())


async def test_find_tells_rows_of_one_name_apart(login, admin, tenant):
    for street in ("Katu 1", "Katu 2"):
        await add(admin, "place", tenant, provider="osm", provider_id=street, name="Aurora", address=street)
    browser = await login("viewer")
    page = Page((await browser.get("/console/find?find=auro")).text)
    told = [" ".join(one.text.split()) for one in page.all("li") if "Aurora" in one.text]
    assert sorted(told) == ["Aurora Katu 1", "Aurora Katu 2"]
    assert [one.text for one in page.all("mark")] == ["Auro", "Auro"]
    page = Page((await browser.get("/console/find?find=a")).text)
    assert [one.text for one in page.all("mark")] == ["A", "A"]  # where a word begins; not its last letter


async def test_sitemaps_and_pages_are_named_by_their_path_in_lists(login, admin, tenant):
    ids = await add_line(admin, tenant)
    elsewhere = f"https://cdn.example/{'x' * 60}.xml"
    await add(admin, "sitemap_file", tenant, domain_id=UUID(ids["domains"]), url=elsewhere, kind="urlset")
    await add(admin, "page", tenant, domain_id=UUID(ids["domains"]), url="https://www.molar.fi/team?page=2")
    browser = await login("curator")
    names = {}
    for noun in ("sitemaps", "pages"):
        page = Page((await browser.get(f"/console/{noun}")).text)
        names[noun] = {one.text.strip() for one in page.all("a") if "data-open" in one.attributes}
        boxes = {one["aria-label"].removeprefix("Select ") for one in page.all("input", name="id")}
        assert len(boxes) == 2
    assert names["sitemaps"] == {"/sitemap.xml", elsewhere.removeprefix("https://")}
    assert names["pages"] == {"/contact", "/team?page=2"}
    assert Page((await browser.get(f"/console/pages/{ids['pages']}")).text).one("h1").text == "https://molar.fi/contact"


async def test_phone_numbers_have_spaces_and_dial_without_them(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET phone = '+35894294120'")
    await add(admin, "contact", tenant, domain_id=UUID(ids["domains"]), identity="tel", phone="+16502530000")
    browser = await login("viewer")
    for path in ("/console/contacts", f"/console/contacts/{ids['contacts']}"):
        page = Page((await browser.get(path)).text)
        assert page.one("a", href="tel:+35894294120").text == "+358 9 4294120"
    page = Page((await browser.get("/console/contacts")).text)
    assert "+1 650 253 0000" in {one.text for one in page.all("a") if "data-open" in one.attributes}


async def test_the_menus_ask_for_nothing_that_nobody_can_type(login, admin, tenant):
    browser = await login("viewer")
    for noun in NOUNS:
        page = Page((await browser.get(f"/console/{noun}?menu=filters")).text)
        offered = [one["href"] for one in page.all("a") if "menu=" in one["href"] and one.within.get("id") == "menu"]
        assert offered
        for path in offered:
            menu = Page((await browser.get(path)).text)
            assert all(word not in path for word in ("_id", "new_of_search", "box"))
            if fields := [one for one in menu.all("input") if one.get("aria-describedby") == "menu-hint"]:
                assert menu.one("p", id="menu-hint").text.strip()
                assert (fields[0].get("type") == "date") == fields[0]["name"].endswith("_since")
    page = Page((await browser.get("/console/contacts?changed_since=2026-11-01")).text)
    assert "changed since" in page.text


async def test_the_page_of_a_row_is_exact_and_leads_on(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE place SET latitude = 60.169912, longitude = 24.938412")
    facts: dict[str, object] = {
        "logo": "",
        "founded": None,
        "languages": [],
        "organisation": {"city": "Helsinki", "logo": ""},
    }
    await admin.execute("UPDATE domain SET facts = $1", json.dumps(facts))
    for n in range(12):
        url = f"https://molar.fi/{n}"
        await add(admin, "page", tenant, domain_id=UUID(ids["domains"]), url=url)
    await add(admin, "contact", tenant, domain_id=UUID(ids["domains"]), identity="address:kallio 1", address="Kallio 1")
    browser = await login("viewer")
    place = Page((await browser.get(f"/console/places/{ids['places']}")).text)
    assert "60.16991" in place.text
    assert "24.93841" in place.text
    domain = Page((await browser.get(f"/console/domains/{ids['domains']}")).text)
    assert "city: Helsinki" in domain.text
    assert not any(word in domain.text for word in ("logo", "founded", "languages"))
    for noun in ("places", "businesses", "domains"):
        page = Page((await browser.get(f"/console/{noun}/{ids[noun]}")).text)
        path = f"/console/pages?domain_id={ids['domains']}"
        assert [one["href"] for one in page.all("a") if one.text == "All in the list"] == [path]
    listed = Page((await browser.get(path)).text).one("p", id="count").text.split()
    assert listed[-1] == "13"
    contact = Page((await browser.get(f"/console/contacts/{ids['contacts']}")).text)
    assert "Kallio 1" in contact.text
    assert "search dentists in Helsinki" in contact.text


async def test_headings_that_do_not_explain_themselves_have_a_hint(login, admin, tenant):
    await add_line(admin, tenant)
    browser = await login("viewer")
    wanted = {"sure", "URLs", "contacts seen", "deep scan", "domain extraction", "sitemap analysis"}
    hints = set()
    for noun in NOUNS:
        page = Page((await browser.get(f"/console/{noun}")).text)
        hints |= {one.text.strip() for one in page.all("th", scope="col") if one.get("title")}
    assert hints >= wanted
