"""Imports in the console: table, columns, rehearsal, import, report; by paste and by file, without JavaScript."""

import re

import pytest

from scrapersky.console.forms import BadForm, parse_form
from tests.console.test_pages import HOSTILE, check_html
from tests.factories.console_browser import Page, browser_of

TABLE = "Firma,E-Mail,Telefon,Notiz\nKallio Dental,anna@molar.fi,+358401234567,x\nMolar,not an address,,y\n,,,z\n"
FILE = {"file": ("kontakte.csv", TABLE.encode("cp1252"), "text/csv")}


def fields_of(page: Page) -> dict[str, str]:
    """What the form of a page would send, its selects and its text aside."""
    return {one["name"]: one["value"] for one in page.all("input", type="hidden")}


async def test_a_table_goes_from_paste_to_report(login, admin):
    browser = await login("operator")
    seen = await browser.post(
        "/console/import/look", data={"noun": "contacts", "table": TABLE, "name": "fair"}, files={"x": ("", b"")}
    )
    page = check_html(seen.text)
    assert seen.status_code == 200
    shown = {one.text.split()[0]: one for one in page.all("tr") if one.is_in("tbody")}
    assert "email (recognized)" in shown["E-Mail"].text
    assert "phone (recognized)" in shown["Telefon"].text
    assert "not read" in shown["Notiz"].text.split("name")[0]
    assert await admin.fetchval("SELECT count(*) FROM contact") == 0
    form = {**fields_of(page), "table": page.one("textarea").text.removeprefix("\n"), "map": "Notiz=title"}
    rehearsed = check_html((await browser.post("/console/import/rehearse", data=form)).text)
    assert "1 new" in rehearsed.text
    assert "2 not usable" in rehearsed.text
    wrong = [row["id"] for row in rehearsed.all("h2") if row.get("id") == "errors"]
    lines = [one.text for one in rehearsed.all("th", scope="row") if one.get("class") == "number"]
    assert (wrong, lines) == (["errors"], ["3", "4"])  # the file's own lines
    assert await admin.fetchval("SELECT count(*) FROM contact") == 0
    form |= fields_of(rehearsed)
    done = await browser.post("/console/import/run", data=form)
    assert done.status_code == 303, done.text
    assert await admin.fetchval("SELECT title FROM contact WHERE email = 'anna@molar.fi'") == "x"
    report = check_html((await browser.get(done.headers["location"])).text)
    assert "fair" in report.one("h1").text
    assert "2 not usable" in report.text
    begin = check_html((await browser.get("/console/import")).text)
    assert begin.all("a", href=done.headers["location"])


async def test_a_file_is_uploaded_without_javascript_and_mapped_columns_can_be_left_out(login, admin):
    browser = await login("operator")
    page = check_html((await browser.post("/console/import/look", data={"noun": "contacts"}, files=FILE)).text)
    assert fields_of(page)["name"] == "kontakte.csv"
    form = {**fields_of(page), "table": page.one("textarea").text.removeprefix("\n"), "map": ["Telefon=-", ""]}
    page = check_html((await browser.post("/console/import/rehearse", data=form)).text)
    done = await browser.post("/console/import/run", data={**form, **fields_of(page)})
    assert done.status_code == 303, done.text
    assert await admin.fetchval("SELECT phone FROM contact") is None


@pytest.mark.parametrize(
    ("noun", "table", "count"),
    [
        ("domains", "molar.fi\nhttps://kallio.fi/\n\nnonsense\n", "SELECT count(*) FROM domain"),
        ("pages", "https://molar.fi/contact\nhttps://molar.fi/team\n127.0.0.1\n", "SELECT count(*) FROM page"),
        ("suppressions", "anna@molar.fi\nacme.fi\nx\n", "SELECT count(*) FROM suppression"),
    ],
)
async def test_a_list_needs_no_names_of_columns(login, admin, noun, table, count):
    browser = await login("operator")
    form = {"noun": noun, "table": table}
    page = check_html((await browser.post("/console/import/rehearse", data=form)).text)
    assert "1 not usable" in page.text
    done = await browser.post("/console/import/run", data={**form, **fields_of(page)})
    assert done.status_code == 303
    assert await admin.fetchval(count) == 2


async def test_what_was_changed_after_the_rehearsal_is_rehearsed_again(login, admin):
    browser = await login("operator")
    form = {"noun": "domains", "table": "domain\nmolar.fi\n"}
    page = Page((await browser.post("/console/import/rehearse", data=form)).text)
    form |= fields_of(page)
    answer = await browser.post("/console/import/run", data={**form, "table": "domain\nmolar.fi\nkallio.fi\n"})
    assert (answer.status_code, "changed after the rehearsal" in answer.text) == (422, True)
    assert await admin.fetchval("SELECT count(*) FROM domain") == 0


@pytest.mark.parametrize(
    ("form", "content", "sentence"),
    [
        ({"noun": "places"}, b"PK\x03\x04\x00\x00workbook", "It is not text. Save the table as CSV"),
        ({"noun": "places"}, b"\x89PNG\r\n\x1a\n" + bytes(range(32)) * 40, "It is not text"),
        ({"noun": "places"}, b"name\n", "It has no row below"),
        ({"noun": "places"}, b"", "Choose a file, or paste the table"),
        ({"noun": "people"}, b"name\nAnna\n", "Choose what the rows are"),
        ({"noun": "places"}, b"x" * 5_000_001, "the console takes 5"),
    ],
)
async def test_an_upload_that_is_no_table_gets_a_sentence(login, form, content, sentence):
    browser = await login("operator")
    answer = await browser.post("/console/import/look", data=form, files={"file": ("x.bin", content)})
    assert answer.status_code == 400
    assert sentence in check_html(answer.text).one("p", role="alert").text


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        (
            {"table": "Firma\nMolar\n", "noun": "domains"},
            "No column is known: Firma. Choose what at least one of them is.",
        ),
        ({"table": '{"domain": "a.fi"\n', "noun": "domains"}, "No line can be read. Line 1:"),
        ({"table": '[{"domain": "a.fi"}]', "noun": "domains"}, "one object a line, without brackets"),
        ({"table": "<html><p>a.fi</p></html>", "noun": "contacts"}, "It looks like a web page"),
        ({"table": "domain,url\na.fi,b.fi\n", "noun": "domains"}, "both hold domain"),
        ({"table": "domain\na.fi\n", "noun": "domains", "country": "Nowhere"}, "is unknown: write a name"),
        ({"table": "email\na@molar.fi\n", "noun": "suppressions", "queues": "yes"}, "without queueing them"),
        ({"table": "domain\na.fi\n", "noun": "domains", "map": "domain=colour"}, "is not a field of domains"),
    ],
)
async def test_a_table_that_cannot_be_imported_like_this_says_why_and_keeps_the_text(login, form, sentence):
    browser = await login("operator")
    answer = await browser.post("/console/import/rehearse", data=form)
    assert answer.status_code in (400, 422)
    page = check_html(answer.text)
    assert sentence in page.one("p", role="alert").text
    assert page.one("textarea").text.strip() == form["table"].strip()


async def test_a_table_whose_login_ended_is_kept_until_the_next_login(app, login, admin):
    browser = await login("operator")
    await admin.execute("UPDATE session SET expires_at = now() - interval '1 s'")
    answer = await browser.post("/console/import/look", data={"noun": "contacts"}, files=FILE)
    page = Page(answer.text)
    assert answer.status_code == 401
    assert "what you sent is kept" in page.text
    kept = {name: page.one("input", name=name)["value"] for name in ("kept", "kept_path")}
    async with browser_of(app) as other:
        form = {"tenant": "default", "name": "operator of default", "password": "correct horse battery staple", **kept}
        again = Page((await other.post("/console/login", data=form)).text)
        sent = {one["name"]: one["value"] for one in again.all("input", type="hidden")}
        assert "anna@molar.fi" in sent["file"]
        page = check_html((await other.post(kept["kept_path"], data=sent)).text)
    assert "E-Mail" in page.text


async def test_hostile_cells_stay_text(login):
    browser = await login("operator")
    table = f'email,"{HOSTILE.replace(chr(34), chr(34) * 2)}"\n"{HOSTILE.replace(chr(34), chr(34) * 2)}",x\n'
    for step in ("look", "rehearse"):
        page = check_html(
            (await browser.post(f"/console/import/{step}", data={"noun": "contacts", "table": table})).text
        )
        assert len(page.all("script")) == 1


BODY = (
    b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    b'--b\r\nContent-Disposition: form-data; name="f"; filename="x.csv"\r\nContent-Type: text/csv\r\n\r\n'
    b"\x00\r\nlines\r\n\r\n--b--\r\n"
)


def test_a_form_in_parts_keeps_the_bytes_of_its_file():
    form = parse_form('multipart/form-data; boundary="b"', BODY)
    assert form.get("a") == "1"
    assert (form.files["f"].name, form.files["f"].content) == ("x.csv", b"\x00\r\nlines\r\n")


@pytest.mark.parametrize("body", [b"", b"--b\r\n\r\n", BODY[:-6], b"--b\r\nX: y\r\n\r\n1\r\n--b--", b"--b\xff"])
def test_a_form_in_parts_that_is_not_whole_is_refused(body):
    with pytest.raises(BadForm):
        parse_form("multipart/form-data; boundary=b", body)


def test_a_form_without_a_boundary_or_with_too_many_parts_is_refused():
    part = b'\r\n--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1'
    for kind, body in (("multipart/form-data", BODY), ("multipart/form-data; boundary=b", part[2:] + part * 2_000)):
        with pytest.raises(BadForm, match=re.escape("1,100 fields")):
            parse_form(kind, body)
