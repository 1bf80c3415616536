"""In and out and administration in the console: every page for every role, empty and full of hostile text; flows."""

import json
from uuid import UUID

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from scrapersky.core.roles import Role
from scrapersky.store.deliveries.outbox import IN_COOLDOWN
from tests.console.test_pages import HOSTILE, check_html, least_role
from tests.factories.console_browser import Page, browser_of
from tests.factories.line_rows import add, add_line

PAGES = (
    "/import",
    "/deliveries",
    "/deliveries/new",
    "/destinations",
    "/destinations/new",
    "/destinations/new?kind=brevo",
    "/files",
    "/people",
    "/keys",
    "/privacy",
    "/audit",
)
MAX_STATEMENTS = 6


@pytest.fixture
def statements():
    """The statements of sessions since the list was cleared; the one that reads the login comes on top of them."""
    seen: list[str] = []

    def note(connection, cursor, statement, parameters, context, many):
        if "set_config" not in statement:
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


async def fill(admin, tenant, text="molar"):
    """One row of everything that these pages show, `text` in each text; the addresses of pages about one row."""
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET name = $1", text)
    await admin.execute("UPDATE search SET text = $1, area = $1", text)
    rule = json.dumps({"auto": True, "verdicts": ["risky"], "curation": ["Selected"], "min_confidence": 0.5})
    hook = {"kind": "webhook", "url": "https://hooks.example/x"}
    destination = await add(admin, "destination", tenant, name=text, rule=rule, disabled_reason=text, **hook)
    await admin.execute("UPDATE destination SET disabled_at = now(), failing_since = now()")
    delivery = {"destination_id": UUID(destination), "contact_id": UUID(ids["contacts"]), "external_id": text}
    await add(admin, "delivery", tenant, **delivery, delivery_status="Error", delivery_error=text)
    await add(admin, "suppression", tenant, kind="email", value=text, value_hash="0" * 64, reason=text)
    user = await add(admin, '"user"', tenant, name=text, role="viewer")
    await add(admin, "api_key", tenant, user_id=UUID(user), name=text, prefix="abc", secret_hash="x", scopes=["read"])
    for number in range(3):
        values = json.dumps({text: text, "n": number, "many": [text] * 9, "gone": None})
        await admin.execute(
            "INSERT INTO audit (tenant_id, actor, origin, action, subject, before, after) "
            "VALUES ($1, $2, $3, $2, $2, NULL, $4)",
            tenant,
            text,
            f"console {text}",
            values,
        )
    names = ("rows", "created", "updated", "unchanged", "queued", "failed", "incomplete")
    result = {**dict.fromkeys(names, 2), "errors": [{"line": 2, "message": text}], "search_id": ids["searches"]}
    result |= {"cells": [{"line": 3, "column": text, "message": text}], "ignored_columns": [text]}
    parameters = {"resource": "contacts", "name": text, "actor": {"name": text, "role": "operator", "origin": "cli"}}
    job = await add(
        admin,
        "job",
        tenant,
        kind="import",
        state="completed",
        parameters=json.dumps(parameters),
        result=json.dumps(result),
    )
    return (f"/import/reports/{job}", f"/destinations/{destination}", f"/deliveries?destination_id={destination}")


@pytest.mark.parametrize("role", list(Role))
async def test_every_page_is_sound_for_every_role_empty_and_full_of_hostile_text(
    login, admin, tenant, role, statements
):
    browser = await login(role.value)
    wrong = {}

    async def walk(paths):
        shown = 0
        for path in paths:
            statements.clear()
            answer = await browser.get(f"/console{path}")
            assert answer.status_code == (200 if role.covers(least_role(path)) else 403), (path, answer.status_code)
            if len(statements) > MAX_STATEMENTS - 1:
                wrong[path] = [one[:90] for one in statements]
            page = check_html(answer.text)
            assert len(page.all("script")) == 1, path
            assert not [one for one in page.all("a") if one["href"].lower().startswith("javascript:")]
            for form in page.all("form"):  # no button that the role may not press
                target, method = form["action"].partition("?")[0].removeprefix("/console"), form["method"].upper()
                assert role.covers(least_role(target, method)), (path, target)
            shown += "<script>alert(1)" in page.one("body").text
        return shown

    await walk(PAGES)
    rows = await fill(admin, tenant, HOSTILE)
    assert await walk((*PAGES, *rows)) >= 4
    assert not wrong


async def test_pages_of_other_tenants_rows_do_not_exist(login, admin, tenant, other_tenant):
    rows = await fill(admin, other_tenant)
    browser = await login("admin")
    for path in rows:
        answer = await browser.get(f"/console{path}")
        assert answer.status_code == 404, path
    ids = await add_line(admin, tenant)
    job = await add(admin, "job", tenant, kind="curation", parameters="{}", subject_id=UUID(ids["places"]))
    assert (await browser.get(f"/console/import/reports/{job}")).status_code == 404  # a job, but no import


async def test_a_person_is_invited_by_a_link_that_is_shown_once_and_uncompressed(app, login, admin):
    browser = await login("admin")
    answer = await browser.post("/console/people/invitations", data={"role": "curator"})
    assert (answer.status_code, answer.headers["content-encoding"]) == (201, "identity")
    link = check_html(answer.text).one("input", id="link")["value"]
    assert link.startswith("http://localhost:8000/console/welcome?token=")
    page = check_html((await browser.get("/console/people")).text)
    assert link.partition("token=")[2] not in page.text
    async with browser_of(app) as guest:
        form = {"token": link.partition("token=")[2], "name": "grace", "password": "correct horse battery staple"}
        assert (await guest.post("/console/welcome", data=form)).status_code == 303
        assert (await guest.get("/console/account")).status_code == 200
        grace = await admin.fetchval("SELECT id FROM \"user\" WHERE name = 'grace'")
        assert (await browser.post(f"/console/people/{grace}/end-logins")).status_code == 303
        assert (await guest.get("/console/account")).status_code == 303
    assert (await browser.post(f"/console/people/{grace}", data={"role": "operator"})).status_code == 303
    assert (await browser.post(f"/console/people/{grace}", data={"disabled": "yes"})).status_code == 303
    row = await admin.fetchrow('SELECT role, disabled_at FROM "user" WHERE id = $1', grace)
    assert row["role"] == "operator"
    assert row["disabled_at"] is not None
    mine = await admin.fetchval("SELECT id FROM \"user\" WHERE name = 'admin of default'")
    await admin.execute('UPDATE "user" SET disabled_at = now() WHERE id <> $1', mine)
    last = await browser.post(f"/console/people/{mine}", data={"role": "viewer"})
    assert last.status_code == 409
    assert "is the last admin" in check_html(last.text).one("p", role="alert").text
    assert (await browser.post(f"/console/people/{mine}", data={"role": "king"})).status_code == 400
    await browser.post("/console/people/invitations", data={"role": "viewer"})
    page = Page((await browser.get("/console/people")).text)
    [withdraw] = [one["action"] for one in page.all("form") if one["action"].endswith("/withdraw")]
    assert (await browser.post(withdraw)).status_code == 303
    assert (await browser.post(withdraw)).status_code == 404


async def test_a_key_is_shown_once_has_the_chosen_scopes_and_can_be_revoked(login, admin):
    browser = await login("curator")
    made = await browser.post("/console/keys", data={"name": "nightly", "scope": ["read"], "days": "30"})
    assert (made.status_code, made.headers["content-encoding"]) == (201, "identity")
    key = check_html(made.text).one("input", id="key")["value"]
    assert key.startswith("ssk_")
    listed = check_html((await browser.get("/console/keys")).text)
    assert key not in listed.text
    assert "nightly" in listed.text
    row = await admin.fetchrow("SELECT id, scopes, expires_at - created_at AS days FROM api_key")
    assert (row["scopes"], row["days"].days) == (["read"], 29 + (row["days"].seconds < 60))
    wrong = await browser.post("/console/keys", data={"name": "more", "scope": ["admin"]})
    assert wrong.status_code == 409
    assert check_html(wrong.text).one("input", id="name")["value"] == "more"
    assert (await browser.post("/console/keys", data={"name": ""})).status_code == 422
    revoke = listed.one("form", action=f"/console/keys/{row['id']}/revoke")
    assert "A program that uses it" in revoke.within.text  # it asks first
    ask = next(one for one in listed.all("button") if one.get("popovertarget") == revoke.within["id"])
    assert ask["aria-label"] == "Revoke the key nightly"
    assert (await browser.post(revoke["action"])).status_code == 303
    assert "revoked" in (await browser.get("/console/keys")).text
    other = await login("viewer")
    assert (await other.post(f"/console/keys/{row['id']}/revoke")).status_code == 404


async def test_values_are_suppressed_and_wrong_ones_stay_in_the_form(login, admin, tenant):
    await add_line(admin, tenant)
    curator = await login("curator")
    form = {"values": "anna@molar.fi\nnonsense\n", "reason": "asked us"}
    answer = await curator.post("/console/privacy/suppressions", data=form)
    page = check_html(answer.text)
    assert answer.status_code == 422
    assert "1 was added. 1 contact is suppressed now. 1 value could not be read" in page.one("p", role="alert").text
    assert page.one("textarea").text.strip() == "nonsense"
    assert page.one("input", id="reason")["value"] == "asked us"
    assert await admin.fetchval("SELECT suppressed_at IS NOT NULL FROM contact") is True


@pytest.mark.parametrize(
    ("path", "form", "said"),
    [
        ("/privacy/suppressions", {"values": ""}, "The field values is empty."),
        ("/destinations", {"kind": "webhook", "name": "", "url": "https://a.example"}, "The field name is empty."),
        (
            "/destinations",
            {"kind": "webhook", "name": "a", "url": "https://a.example", "min_confidence": "seven"},
            "The field min confidence is no number.",
        ),
    ],
)
async def test_a_wrong_field_is_named_in_a_sentence(login, path, form, said):
    answer = await (await login("admin")).post(f"/console{path}", data=form)
    assert answer.status_code == 422
    assert check_html(answer.text).one("p", role="alert").text == said


async def removals(browser):
    """Return the addresses of the buttons that delete a suppression."""
    page = Page((await browser.get("/console/privacy?kind=email&text=anna")).text)
    assert "anna@molar.fi" in page.text
    return [one["action"] for one in page.all("form") if one["action"].endswith("/remove")]


async def test_an_operator_deletes_a_suppression_and_only_an_admin_that_of_an_erasure(login, admin):
    curator, operator = await login("curator"), await login("operator")
    await curator.post("/console/privacy/suppressions", data={"values": "anna@molar.fi"})
    [remove] = await removals(operator)
    page = Page((await operator.get("/console/privacy")).text)
    assert "may be contacted again" in page.one("form", action=remove).within.text  # it asks first
    assert not await removals(curator)
    assert (await curator.post(remove)).status_code == 403
    await admin.execute("UPDATE suppression SET origin = 'erasure'")
    assert not await removals(operator)
    assert (await operator.post(remove)).status_code == 403
    await admin.execute("UPDATE suppression SET origin = 'person'")
    assert (await operator.post(remove)).status_code == 303
    assert (await operator.post(remove)).status_code == 404  # another person was faster


async def test_a_person_is_looked_up_and_erased_after_a_preview_of_counts(login, admin, tenant):
    await fill(admin, tenant)
    await admin.execute("UPDATE contact SET name = NULL")  # a fact that is missing is not in the report
    browser = await login("admin")
    answer = await browser.post("/console/privacy/subject", data={"email": "anna@molar.fi"})
    page = check_html(answer.text)
    assert answer.status_code == 200
    assert "1 contact is deleted" in page.text
    assert "https://molar.fi/contact" not in page.one("form", action="/console/privacy/erase").text
    assert await admin.fetchval("SELECT count(*) FROM contact") == 1
    fields = {one["name"]: one["value"] for one in page.all("input", type="hidden") if one["name"] != "back"}
    done = await browser.post("/console/privacy/erase", data=fields)
    assert "The person is erased" in check_html(done.text).text
    assert await admin.fetchval("SELECT count(*) FROM contact") == 0
    for form in ({"email": "nobody"}, {"email": ""}, {"name": "Anna"}):
        answer = await browser.post("/console/privacy/subject", data=form)
        assert 400 <= answer.status_code < 500
        assert check_html(answer.text).one("p", role="alert").text


async def test_the_audit_shows_before_and_after_and_is_filtered_and_downloaded(login, admin, tenant):
    browser = await login("admin")
    await browser.post("/console/account/theme", data={"theme": "dark"})
    await browser.post("/console/people/invitations", data={"role": "viewer"})
    mine = await admin.fetchval("SELECT id FROM \"user\" WHERE name = 'admin of default'")
    await browser.post(f"/console/people/{mine}", data={"role": "admin"})
    page = check_html((await browser.get("/console/audit?action=invite&origin=console")).text)
    rows = page.all("tbody")
    assert len(rows) == 1
    assert "viewer" in rows[0].text
    assert check_html((await browser.get("/console/audit?from=2030-01-01")).text).all("div", class_="empty")
    cleaned = await browser.get("/console/audit?actor=&action=invite")
    assert cleaned.headers["location"] == "/console/audit?action=invite"
    assert (await browser.get("/console/audit?from=yesterday")).status_code == 422
    ids = await add_line(admin, tenant)
    await browser.post("/console/contacts/curation", data={"id": ids["contacts"], "curation_status": "Selected"})
    rows = check_html((await browser.get("/console/audit?action=curate")).text).all("tbody")
    said = " ".join(rows[0].text.split())
    assert "decisionNew: 1Selected" in said
    assert (ids["contacts"] in said, "action id" in said) == (True, False)
    file = await browser.get("/console/audit/export.csv?action=invite")
    assert "attachment" in file.headers["content-disposition"]
    assert len(file.text.strip().splitlines()) == 2


async def test_files_of_every_noun_are_downloaded_with_the_filters_of_the_address(login, admin, tenant):
    await fill(admin, tenant)
    browser = await login("viewer")
    page = check_html((await browser.get("/console/files")).text)
    paths = [one["href"] for one in page.all("a") if "/files/" in one["href"] or "/leads." in one["href"]]
    assert len(paths) == 7 * 2 + 3 * 2
    for path in paths:
        answer = await browser.get(path)
        assert (answer.status_code, "attachment" in answer.headers["content-disposition"]) == (200, True), path
    assert len((await browser.get("/console/files/contacts.csv?text=nobody")).text.splitlines()) == 1
    assert (await browser.get("/console/files/contacts.csv?verdict=nice")).status_code == 422
    assert (await browser.get("/console/files/users.csv")).status_code == 404


async def make_destination(browser, **more):
    form = {"kind": "n8n", "name": "crm", "url": "https://93.184.216.34/hook", "option-header": "X-Key", **more}
    return await browser.post("/console/destinations", data=form)


async def test_a_destination_is_made_changed_and_its_secret_never_comes_out(login, admin):
    browser = await login("admin")
    made = await make_destination(browser, secret="top-secret", auto="yes", verdicts="risky", curation=["Selected"])
    assert made.status_code == 303, Page(made.text).text
    there = made.headers["location"]
    page = check_html((await browser.get(there)).text)
    assert "Sends by itself: risky contacts that are Selected" in page.text
    assert "top-secret" not in (await browser.get(there)).text
    assert page.one("input", id="option-header")["value"] == "X-Key"
    seen = page.one("input", name="updated_at")["value"]
    form = {"name": "crm 2", "url": "https://93.184.216.34/hook", "option-header": "X-Key", "updated_at": seen}
    assert (await browser.post(there, data=form)).status_code == 303
    late = await browser.post(there, data={**form, "name": "mine"})  # the other tab
    page = check_html(late.text)
    assert late.status_code == 409
    assert page.one("input", id="name")["value"] == "mine"
    assert "now: crm 2" in page.text
    again = {**form, "name": "mine", "updated_at": page.one("input", name="updated_at")["value"]}
    assert (await browser.post(there, data=again)).status_code == 303
    assert await admin.fetchval("SELECT name FROM destination") == "mine"
    for data, enabled in (({"enabled": "no"}, False), ({"enabled": "yes"}, True)):
        assert (await browser.post(f"{there}/state", data=data)).status_code == 303
        assert await admin.fetchval("SELECT disabled_at IS NULL FROM destination") is enabled
    failed = await browser.post(f"{there}/test")
    assert "The test failed" in check_html(failed.text).one("p", role="alert").text
    assert (await browser.post(f"{there}/remove")).status_code == 303
    gone = await browser.post(there, data=again)
    assert (gone.status_code, "There is no row with this id." in gone.text) == (404, True)


async def test_a_signing_secret_is_shown_once_and_wrong_forms_keep_their_input(login, admin):
    browser = await login("admin")
    made = await make_destination(browser, kind="webhook")
    assert (made.status_code, made.headers["content-encoding"]) == (201, "identity")
    assert check_html(made.text).one("input", id="secret")["value"].startswith("whsec_")
    for form, sentence in (
        ({"url": "https://127.0.0.1/x"}, "public internet"),
        ({"kind": "hubspot", "url": ""}, "needs a `secret`"),
        ({"kind": "brevo", "secret": "x", "url": "", "option-list_ids": "one"}, "list_ids"),
        ({"min_confidence": "2", "kind": "webhook"}, "min confidence"),
        ({"kind": "webhook"}, "in use"),
    ):
        answer = await make_destination(browser, **form)
        assert 400 <= answer.status_code < 500, form
        page = check_html(answer.text)
        assert sentence in page.one("p", role="alert").text, form
        assert page.one("input", id="name")["value"] == "crm"
    assert (await make_destination(browser, kind="fax")).status_code == 400


async def test_contacts_are_counted_sent_and_taken_back(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET curation_status = 'Selected', verdict = 'deliverable'")
    destination = await add(admin, "destination", tenant, name="crm", kind="webhook", url="https://hooks.example/")
    browser = await login("operator")
    page = check_html((await browser.get(f"/console/deliveries/new?destination_id={destination}")).text)
    assert "1 contact matches" in page.text
    fields = {one["name"]: one["value"] for one in page.all("input", type="hidden") if one["name"] != "back"}
    await add(
        admin,
        "contact",
        tenant,
        identity="email:b@molar.fi",
        email="b@molar.fi",
        curation_status="Selected",
        verdict="deliverable",
        domain_id=UUID(ids["domains"]),
    )
    sent = await browser.post("/console/deliveries", data=fields)
    assert sent.status_code == 303
    assert await admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 1  # as was shown
    page = check_html((await browser.get(f"{sent.headers['location']}&delivery_status=Queued")).text)
    assert "Cancel 1 queued" in page.text
    [one] = [form for form in page.all("form") if form["action"] == "/console/deliveries/cancel"]
    row = page.one("input", name="id")["value"]
    assert (await browser.post(one["action"], data={"id": row})).status_code == 303
    assert await admin.fetchval("SELECT delivery_status FROM delivery") == "New"
    chosen = await browser.post(
        "/console/deliveries", data={"id": ids["contacts"]}
    )  # from a grid, without a destination
    page = check_html(chosen.text)
    assert "1 contact was chosen" in page.text
    done = await browser.post("/console/deliveries", data={"id": ids["contacts"], "destination_id": destination})
    assert done.status_code == 303
    cancel = f"/console/deliveries/cancel?destination_id={destination}&delivery_status=Queued"
    page = check_html((await browser.get(cancel.replace("/cancel", ""))).text)
    shown = {
        one["name"]: one["value"] for one in page.all("input", type="hidden") if one.within.get("action") == cancel
    }
    assert shown["expected"] == "1"
    assert (await browser.post(cancel, data={"matching": "yes"})).status_code == 400  # nobody was shown anything
    refused = await browser.post(cancel, data={**shown, "expected": "40"})
    assert "40 were shown" in Page((await browser.get(refused.headers["location"])).text).text
    assert await admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 1
    cancelled = await browser.post(cancel, data=shown)
    assert cancelled.status_code == 303
    assert "1 was taken back." in (await browser.get(cancelled.headers["location"])).text
    assert await admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 0
    assert (await browser.post("/console/deliveries", data={"destination_id": destination})).status_code == 400
    assert (await browser.post("/console/deliveries/cancel", data={"id": "x"})).status_code == 400
    failed = f"The receiver answers 500. {IN_COOLDOWN}"
    await admin.execute("UPDATE delivery SET delivery_status = 'Queued'")
    await admin.execute("UPDATE delivery SET delivery_error = $1", failed)
    await admin.execute("UPDATE destination SET failing_since = now()")
    page = check_html((await browser.get(f"/console/destinations/{destination}")).text)
    assert [one.text for one in page.all("dd") if "500" in one.text] == ["The receiver answers 500."]
