"""Contacts: written, edited, merged, split, suppressed and delivered by people."""

from uuid import UUID

from tests.factories.console_browser import Page
from tests.factories.line_rows import add, add_line


def fields_of(page):
    fields = [one for one in page.all("input") if one.get("name") and one.get("type") != "checkbox"]
    return {one["name"]: one.get("value") or "" for one in fields}


async def test_a_contact_is_written_and_the_form_keeps_what_was_typed(login, admin, tenant):
    await add_line(admin, tenant)
    browser = await login("curator")
    wrong = await browser.post("/console/contacts", data={"name": "Eva", "email": "eva at molar", "phone": "09 12"})
    page = Page(wrong.text)
    assert wrong.status_code == 422
    assert fields_of(page)["email"] == "eva at molar"
    assert {one["name"] for one in page.all("input", aria_invalid="true")} == {"email", "phone"}
    nothing = await browser.post("/console/contacts", data={"title": "Dentist"})
    assert (nothing.status_code, "email address, a name" in nothing.text) == (422, True)
    made = await browser.post("/console/contacts", data={"name": "Eva Molar", "email": "eva@molar.fi"})
    assert made.status_code == 303
    assert "The contact was created." in (await browser.get(made.headers["location"])).text
    assert await admin.fetchval("SELECT found_by FROM contact WHERE email = 'eva@molar.fi'") == "written by hand"
    again = await browser.post("/console/contacts", data={"email": "eva@molar.fi"})
    assert again.status_code == 409
    assert [one["href"] for one in Page(again.text).all("a") if one.text == "Open it"] == [made.headers["location"]]


async def test_an_edit_that_comes_too_late_shows_both_versions_and_keeps_the_input(login, admin, tenant):
    path = f"/console/contacts/{(await add_line(admin, tenant))['contacts']}/edit"
    first, second = await login("curator"), await login("operator")
    forms = [fields_of(Page((await one.get(path)).text)) for one in (first, second)]
    saved = await first.post(path, data={**forms[0], "title": "Dentist"})
    assert saved.headers["location"] == path.removesuffix("/edit")
    late = await second.post(path, data={**forms[1], "title": "Director", "phone": "+358912345678"})
    page = Page(late.text)
    assert late.status_code == 409
    assert fields_of(page)["title"] == "Director"
    assert "now stored: Dentist" in " ".join(page.one("p", id="note-title").text.split())
    assert await admin.fetchval("SELECT title FROM contact") == "Dentist"
    assert (await second.post(path, data=fields_of(page))).status_code == 303
    assert tuple(await admin.fetchrow("SELECT title, phone FROM contact")) == ("Director", "+358912345678")
    shown = Page((await second.get(path.removesuffix("/edit"))).text)
    assert "title: Director (was Dentist)" in shown.text  # the history
    refused = await second.post(path, data={**fields_of(page), "email": "?"})
    assert (refused.status_code, fields_of(Page(refused.text))["email"]) == (422, "?")


async def test_an_edit_of_a_deleted_contact_keeps_the_input(login, admin, tenant):
    path = f"/console/contacts/{(await add_line(admin, tenant))['contacts']}/edit"
    browser = await login("curator")
    form = fields_of(Page((await browser.get(path)).text))
    await admin.execute("DELETE FROM contact")
    late = await browser.post(path, data={**form, "title": "Director"})
    page = Page(late.text)
    assert late.status_code == 404
    assert "Somebody has deleted it meanwhile." in page.text
    assert fields_of(page)["title"] == "Director"
    created = await browser.post("/console/contacts", data=fields_of(page))
    assert created.status_code == 303
    assert await admin.fetchval("SELECT title FROM contact") == "Director"
    gone = Page((await browser.get(path)).text)
    assert [one.text for one in gone.all("a", class_="button") if one["href"].startswith("/console/contacts?")] == [
        "Contacts"
    ]


async def test_duplicates_are_merged_into_the_one_that_stays(login, admin, tenant):
    first, second = await add_line(admin, tenant), await add_line(admin, tenant, "other")
    await admin.execute("UPDATE contact SET phone = '+358912345678', curation_status = 'New'")
    viewer, curator = await login("viewer"), await login("curator")
    assert not Page((await viewer.get("/console/contacts/duplicates?by=phone")).text).all("button", aria_label="Merge")
    assert "No two contacts share an email" in (await curator.get("/console/contacts/duplicates")).text
    page = Page((await curator.get("/console/contacts/duplicates?by=phone")).text)
    assert {one["value"] for one in page.all("input", name="keep")} == {first["contacts"], second["contacts"]}
    form = {"keep": first["contacts"], "merge": second["contacts"], "back": "/console/contacts/duplicates?by=phone"}
    assert (await curator.post("/console/contacts/merge", data={**form, "merge": ""})).status_code in (400, 404)
    assert (await curator.post("/console/contacts/merge", data=form)).status_code == 303
    merged = await admin.fetchval("SELECT merged_into_id FROM contact WHERE id = $1", UUID(second["contacts"]))
    assert str(merged) == first["contacts"]
    page = Page((await curator.get(f"/console/contacts/{second['contacts']}")).text)
    assert "was merged into another one" in page.text
    assert not page.all("a", href=f"/console/contacts/{second['contacts']}/edit")


async def test_a_contact_from_two_pages_is_split(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser = await login("curator")
    row = f"/console/contacts/{ids['contacts']}"
    assert not Page((await browser.get(row)).text).all("form", action=f"{row}/split")
    assert (await browser.post(f"{row}/split")).status_code == 422
    await admin.execute(
        "UPDATE contact SET source_url = 'https://molar.fi/contact', phone = '+358912345678', "
        """sources = '{"phone": {"url": "https://molar.fi/team", "snippet": "Anna 09 12345678"}}'"""
    )
    page = Page((await browser.get(row)).text)
    assert "Anna 09 12345678" in page.text
    assert (await browser.post(page.one("form", action=f"{row}/split")["action"])).status_code == 303
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE merged_into_id IS NULL") == 2


async def test_contacts_are_suppressed_after_a_question(login, admin, tenant):
    ids = await add_line(admin, tenant)
    curator, viewer = await login("curator"), await login("viewer")
    row = f"/console/contacts/{ids['contacts']}"
    assert not Page((await viewer.get(row)).text).all("form", action="/console/contacts/suppress")
    form = {"id": f"{ids['contacts']} New", "back": row}
    asked = await curator.post("/console/contacts/suppress", data=form)
    assert "Suppress 1 contact" in Page(asked.text).one("h1").text
    assert await admin.fetchval("SELECT count(*) FROM suppression") == 0
    done = await curator.post("/console/contacts/suppress", data={**fields_of(Page(asked.text)), "reason": "asked us"})
    assert done.headers["location"] == row
    page = Page((await curator.get(row)).text)
    assert "this contact must not be written to" in page.text
    assert not page.all("form", action="/console/contacts/suppress")
    assert await admin.fetchval("SELECT reason FROM suppression") == "asked us"


async def test_contacts_are_delivered_by_operators(login, admin, tenant):
    ids = await add_line(admin, tenant)
    operator, curator = await login("operator"), await login("curator")
    assert "no enabled destination" in (await operator.get("/console/contacts/deliver")).text
    crm = await add(admin, "destination", tenant, name="crm", kind="webhook", url="https://crm.example/hook")
    asked = Page((await operator.get("/console/contacts/deliver?has_email=true")).text)
    assert "Deliver 1 contact" in asked.one("h1").text
    form = {**fields_of(asked), "destination_id": crm}
    address = asked.one("form", class_="stack")["action"]
    assert (await curator.post(address, data=form)).status_code == 403
    sent = await operator.post(address, data=form)
    assert sent.headers["location"] == "/console/contacts?has_email=true"
    assert "1 contact is queued." in (await operator.get(sent.headers["location"])).text
    shown = Page((await operator.get(f"/console/contacts/{ids['contacts']}")).text)
    assert "crm ◔ Queued" in shown.text
    one = await operator.post("/console/contacts/deliver", data={"id": ids["contacts"], "destination_id": crm})
    assert one.status_code == 303
    assert "1 was queued before." in (await operator.get("/console/contacts")).text
    await add_line(admin, tenant, "other")  # later than what was shown
    await admin.execute("DELETE FROM contact WHERE id = $1", UUID(ids["contacts"]))
    assert (await operator.post(address, data={**form, "expected": "40"})).status_code == 409


async def test_the_history_of_a_row_can_be_undone_there(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser, viewer = await login("curator"), await login("viewer")
    row = f"/console/contacts/{ids['contacts']}"
    await browser.post("/console/contacts/curation", data={"id": ids["contacts"], "curation_status": "Maybe"})
    words = "curator of default set ◐ Maybe (was New)"
    assert words in Page((await viewer.get(row)).text).text
    assert not Page((await viewer.get(row)).text).all("button", aria_label="Undo what curator of default set")
    page = Page((await browser.get(row)).text)
    button = page.one("button", aria_label="Undo what curator of default set")
    assert button.within is not None
    assert (await browser.post(button.within["action"], data={"back": row})).status_code == 303
    assert await admin.fetchval("SELECT curation_status FROM contact") == "New"
    page = Page((await browser.get(row)).text)
    assert words in page.text
    assert not page.all("button", aria_label="Undo what curator of default set")


async def test_suppressed_contacts_are_marked_and_have_no_link_that_writes_or_calls(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET phone = '+358401111111'")
    viewer = await login("viewer")
    before = (await viewer.get("/console/contacts")).text
    assert "mailto:anna@molar.fi" in before
    assert "tel:+358401111111" in before
    added = {"values": "anna@molar.fi"}
    assert (await (await login("curator")).post("/console/privacy/suppressions", data=added)).status_code == 303
    answer = (await viewer.get("/console/contacts")).text
    assert [mark.text for mark in Page(answer).all("strong", class_="suppressed")] == ["suppressed"]
    for text in (answer, (await viewer.get(f"/console/contacts/{ids['contacts']}")).text):
        assert "molar.fi" in text
        assert "mailto:" not in text
        assert "tel:" not in text


async def test_a_suppressed_number_of_a_business_is_marked_and_no_link_that_calls(login, admin, tenant):
    ids = await add_line(admin, tenant)
    for table in ("local_business", "place"):
        await admin.execute(f"UPDATE {table} SET phone = '+358401111111'")
    curator = await login("curator")
    lists = ("/console/businesses", "/console/places", f"/console/searches/{ids['searches']}?tab=businesses")
    shown = {"column": ["phone"], "back": "/console/places"}
    assert (await curator.post("/console/places/layout", data=shown)).status_code == 303
    for path in lists:
        assert "tel:+358401111111" in (await curator.get(path)).text
    added = {"values": "+358401111111"}
    assert (await curator.post("/console/privacy/suppressions", data=added)).status_code == 303
    for path in lists:
        text = (await curator.get(path)).text
        assert "+358 40 1111111" in text
        assert "tel:" not in text
        assert [mark.text for mark in Page(text).all("strong", class_="suppressed")] == ["suppressed"]
