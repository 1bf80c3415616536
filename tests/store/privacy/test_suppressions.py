"""Whom never to write to again: kept by the database, whichever point a contact or a suppression comes."""

import asyncio
from uuid import UUID

import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.actions import merge_contacts
from scrapersky.extract.results import Contacts, Email
from scrapersky.models import Page
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import edit as contact_edits
from scrapersky.store.contacts import upsert as contacts
from scrapersky.store.listing.paginate import UnknownRow
from scrapersky.store.privacy import suppressions
from scrapersky.store.privacy.contact_points import ContactPoint, parse_points

ANNA = ContactPoint("email", "anna@molar.fi")


@pytest.fixture
def actor(tenant) -> Actor:
    return Actor("tester", tenant, "admin", "test")


async def suppressed(admin, tenant) -> set[str]:
    rows = await admin.fetch(
        "SELECT coalesce(email, phone, fax) AS point FROM contact WHERE suppressed_at IS NOT NULL AND tenant_id = $1",
        tenant,
    )
    return {row["point"] for row in rows}


async def suppress(database, actor, *written: str) -> suppressions.SuppressionCounts:
    async with database.session(actor.tenant_id) as session:
        points = [point for each in written for point in parse_points(each)]
        return await suppressions.suppress(session, actor, points)


@pytest.mark.parametrize(
    ("written", "country", "points"),
    [
        (" <Anna@Molar.FI>, ", "", [("email", "anna@molar.fi")]),
        ("mailto:anna+news@molar.fi", "", [("email", "anna+news@molar.fi")]),
        ("https://www.molar.fi/team?x=1", "", [("domain", "molar.fi")]),
        ("@mail.molar.fi", "", [("domain", "mail.molar.fi")]),
        ("09 123 4567", "fi", [("phone", "+35891234567")]),
        ("00358 9 123-4567", "", [("phone", "+35891234567")]),
        ("jörg@müller.de", "", [("email", "jörg@müller.de"), ("email", "jörg@xn--mller-kva.de")]),
        ("xn--mller-kva.de", "", [("domain", "xn--mller-kva.de"), ("domain", "müller.de")]),
    ],
)
def test_values_have_one_spelling(written, country, points):
    assert [(point.kind, point.value) for point in parse_points(written, country)] == points


@pytest.mark.parametrize(
    "written", ["", "molar", "anna@molar", "a b@molar.fi", "co.uk", "09 123 4567", "a&b.fi", "x" * 400]
)
def test_a_value_that_is_no_contact_point_is_refused(written):
    with pytest.raises(ValueError, match=r"is empty|not an email|no registrable|not a phone|more than"):
        parse_points(written)


async def test_texts_that_mention_a_suppressed_address_or_number_are_known(database, actor):
    texts = {
        "anna@molar.fi",
        "Anna Virtanen <Anna@Molar.fi>, bo@molar.fi",
        "bo@molar.fi; see https://molar.fi/@team",
        "call +358 9 123-4567.",
        "carl@mail.root.fi",
        "1+1=2 @ home",
        "",
    }
    async with database.session(actor.tenant_id) as session:
        assert await suppressions.mentioning(session, actor.tenant_id, texts) == set()
    await suppress(database, actor, "anna@molar.fi", "+35891234567", "root.fi")
    async with database.session(actor.tenant_id) as session:
        found = await suppressions.mentioning(session, actor.tenant_id, texts)
    assert found == {
        "anna@molar.fi",
        "Anna Virtanen <Anna@Molar.fi>, bo@molar.fi",
        "call +358 9 123-4567.",
        "carl@mail.root.fi",
    }


async def test_contacts_of_every_kind_are_marked_and_their_waiting_work_is_taken_back(database, admin, tenant, actor):
    ids = {
        point: await add(
            admin, "contact", tenant, identity=point, **{column: point}, contact_verification_status="Queued"
        )
        for column, point in [
            ("email", "anna@molar.fi"),
            ("email", "bo@mail.root.fi"),
            ("email", "carl@root.fi"),
            ("email", "dan@grassroot.fi"),
            ("phone", "+35891234567"),
            ("fax", "+35897654321"),
            ("email", "eve@free.fi"),
        ]
    }
    target = await add(admin, "destination", tenant, name="crm", kind="webhook")
    for point in ("anna@molar.fi", "eve@free.fi"):
        await add(
            admin,
            "delivery",
            tenant,
            destination_id=UUID(target),
            contact_id=UUID(ids[point]),
            delivery_status="Queued",
        )
    done = await suppress(database, actor, "anna@molar.fi", "root.fi", "+35891234567", "+35897654321")
    marked = {"anna@molar.fi", "bo@mail.root.fi", "carl@root.fi", "+35891234567", "+35897654321"}
    assert (done.added, done.known, done.contacts) == (4, 0, 5)
    assert await suppressed(admin, tenant) == marked
    waiting = await admin.fetch("SELECT identity FROM contact WHERE contact_verification_status = 'Queued'")
    assert {row["identity"] for row in waiting} == {"dan@grassroot.fi", "eve@free.fi"}
    assert await admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 1
    again = await suppress(database, actor, "anna@molar.fi", "new@molar.fi")
    assert (again.added, again.known, again.contacts) == (1, 1, 0)
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action = 'suppress'") == 2


async def test_removing_one_frees_those_whom_nothing_else_suppresses(database, admin, tenant, actor):
    for email in ("anna@molar.fi", "bo@molar.fi", "jörg@müller.de", "jörg@xn--mller-kva.de"):
        await add(admin, "contact", tenant, identity=email, email=email)
    await suppress(database, actor, "molar.fi", "anna@molar.fi", "müller.de")
    assert len(await suppressed(admin, tenant)) == 4
    for value in ("molar.fi", "xn--mller-kva.de"):
        row_id = await admin.fetchval("SELECT id FROM suppression WHERE value = $1", value)
        async with database.session(tenant) as session:
            await suppressions.remove(session, actor, row_id)
    assert await suppressed(admin, tenant) == {"anna@molar.fi"}
    async with database.session(tenant) as session:
        with pytest.raises(UnknownRow):
            await suppressions.remove(session, actor, row_id)


async def test_whichever_way_a_contact_comes_it_is_looked_up(database, admin, tenant, other_tenant, actor):
    line = await add_line(admin, tenant)
    elsewhere = await add_line(admin, other_tenant)
    await suppress(database, actor, "anna@molar.fi")
    assert await suppressed(admin, other_tenant) == set()
    await admin.execute("DELETE FROM contact")
    found = Contacts(
        emails=(Email("anna@molar.fi", "personal", "text", "", 0.9), Email("bo@molar.fi", "role", "", "", 1))
    )
    for _ in range(2):  # a page, and the same page again
        async with database.session(tenant) as session:
            page = await session.get(Page, UUID(line["pages"]))
            await contacts.upsert(session, [contacts.PageContacts(page, page.url, found)])
        assert await suppressed(admin, tenant) == {"anna@molar.fi"}
    async with database.session(other_tenant) as session:
        page = await session.get(Page, UUID(elsewhere["pages"]))
        await contacts.upsert(session, [contacts.PageContacts(page, page.url, found)])
    assert await suppressed(admin, other_tenant) == set()
    await admin.execute("DELETE FROM contact")
    async with database.session(tenant) as session:
        made = await contact_edits.create(session, actor, {"email": "anna@molar.fi"})
        assert made.suppressed_at is not None


async def test_a_suppressed_contact_stays_so_after_an_edit_and_a_merge(database, admin, tenant, actor):
    await suppress(database, actor, "anna@molar.fi")
    ids = [
        UUID(await add(admin, "contact", tenant, identity=mail, email=mail))
        for mail in ("anna@molar.fi", "ann@x.fi", "b@x.fi")
    ]
    async with database.session(tenant) as session:
        kept = await merge_contacts.merge(session, actor, ids[1], ids[0])
        assert kept.suppressed_at is not None
    async with database.session(tenant) as session:
        changed = await contact_edits.change(session, actor, ids[1], {"email": "anna.m@x.fi"}, None)
        assert changed.suppressed_at is not None
    assert await suppressed(admin, tenant) == {"anna@molar.fi", "anna.m@x.fi"}
    async with database.session(tenant) as session:
        free = await contact_edits.change(session, actor, ids[2], {"email": "bo@x.fi"}, None)
        assert free.suppressed_at is None


async def test_nobody_unmarks_a_contact_by_hand(database, admin, tenant, actor):
    await suppress(database, actor, "anna@molar.fi")
    await add(admin, "contact", tenant, identity="1", email="anna@molar.fi")
    await admin.execute("UPDATE contact SET suppressed_at = NULL")
    assert await suppressed(admin, tenant) == {"anna@molar.fi"}


async def test_a_contact_that_comes_at_the_same_moment_is_not_missed(database, admin, tenant, actor):
    """A page stores the contact while somebody suppresses it: whoever is second waits for the first."""
    async with database.session(tenant) as session:
        await contact_edits.create(session, actor, {"email": "anna@molar.fi"})
        suppressing = asyncio.create_task(suppress(database, actor, "anna@molar.fi"))
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not await admin.fetchval(waits):
            await asyncio.sleep(0.01)
    assert (await suppressing).contacts == 1
    assert await suppressed(admin, tenant) == {"anna@molar.fi"}


async def waits_for_a_lock(admin) -> None:
    """Return when somebody in this database stands before a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with asyncio.timeout(90):
        while not await admin.fetchval(waiting):
            await asyncio.sleep(0.01)


async def test_an_edit_and_a_suppression_of_one_contact_never_wait_in_a_ring(database, admin, tenant, actor):
    anna = UUID(await add(admin, "contact", tenant, identity="email:anna@molar.fi", email="anna@molar.fi"))

    async def edit():
        async with database.session(tenant) as session:
            await contact_edits.change(session, actor, anna, {"email": "anna@molars.fi"}, None)

    async with database.session(tenant) as session:
        await suppressions.suppress(session, actor, parse_points("bert@molar.fi"))
        editing = asyncio.create_task(edit())
        await waits_for_a_lock(admin)
        await suppressions.suppress(session, actor, [ANNA])
    await editing
    assert await suppressed(admin, tenant) == {"anna@molars.fi"}


async def test_a_removal_and_an_erasure_of_one_address_never_wait_in_a_ring(database, admin, tenant, actor):
    await suppress(database, actor, "anna@molar.fi")
    known = await admin.fetchval("SELECT id FROM suppression")

    async def remove():
        async with database.session(tenant) as session:
            await suppressions.remove(session, actor, known)

    async with database.session(tenant) as session:
        await suppressions.suppress_erased(session, actor, parse_points("bert@molar.fi"))
        removing = asyncio.create_task(remove())
        await waits_for_a_lock(admin)
        await suppressions.suppress_erased(session, actor, [ANNA])
    await removing


async def test_what_is_known_is_told_with_what_suppresses_it(database, tenant, actor):
    await suppress(database, actor, "molar.fi", "anna@molar.fi", "+35891234567")
    asked = [
        ANNA,
        ContactPoint("email", "bo@mail.molar.fi"),
        ContactPoint("phone", "+35891234567"),
        ContactPoint("email", "c@free.fi"),
    ]
    async with database.session(tenant) as session:
        found = await suppressions.known(session, tenant, asked)
    assert [found[point].value if point in found else None for point in asked] == [
        "anna@molar.fi",
        "molar.fi",
        "+35891234567",
        None,
    ]


async def test_all_ways_to_some_contacts_are_suppressed_at_once(database, admin, tenant, other_tenant, actor):
    await admin.execute(
        "INSERT INTO contact (tenant_id, identity, email, phone, name) "
        "SELECT t, n::text, n || '@molar.fi', '+3589' || 1000000 + n, CASE WHEN n % 2 = 0 THEN 'even' END "
        "FROM generate_series(1, 200) n, unnest($1::uuid[]) t",
        [tenant, other_tenant],
    )
    async with database.session(tenant) as session:
        done = await suppressions.suppress_contacts(session, actor, {"has_name": True}, ["email"], "asked us")
    assert (done.added, done.contacts) == (100, 100)
    assert await suppressed(admin, other_tenant) == set()
    one = await admin.fetchval("SELECT id FROM contact WHERE tenant_id = $1 AND identity = '1'", tenant)
    theirs = await admin.fetchval("SELECT id FROM contact WHERE tenant_id = $1 AND identity = '3'", other_tenant)
    async with database.session(tenant) as session:
        done = await suppressions.suppress_contacts(session, actor, [one, theirs], ["email", "phone"])
    assert (done.added, done.contacts) == (2, 1)


async def test_marking_reads_indexes_also_under_row_level_security(database, admin, tenant, actor):
    await admin.execute(
        "INSERT INTO contact (tenant_id, identity, email, phone) SELECT $1, n::text, n || '@h' || n || '.fi', '+' || n "
        "FROM generate_series(1, 20000) n",
        tenant,
    )
    await admin.execute("VACUUM ANALYZE contact")
    before = await admin.fetchval("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'contact'")
    await suppress(database, actor, "7@h7.fi", "h8.fi", "+35891234567")
    await database.close()  # its statistics are told when a connection ends
    await admin.execute("SELECT pg_stat_clear_snapshot()")
    after = await admin.fetchval("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'contact'")
    assert after == before
    assert await suppressed(admin, tenant) == {"7@h7.fi", "8@h8.fi"}


async def test_a_page_read_again_and_a_suppression_never_wait_in_a_ring(database, admin, tenant, actor):
    """As page_curation writes: first what pages say, then what was found on pages that have not changed."""
    ids = await add_line(admin, tenant)
    async with database.session(tenant) as session:
        page = await session.get(Page, UUID(ids["pages"]))
        told = Contacts(emails=(Email("bert@molar.fi", "personal", "mailto", "", 0.9),))
        await contacts.upsert(session, [contacts.PageContacts(page, "https://molar.fi/", told)])
        suppressing = asyncio.create_task(suppress(database, actor, "anna@molar.fi"))
        await waits_for_a_lock(admin)
        await contacts.confirm(session, [page.id])
    assert (await suppressing).contacts == 1
