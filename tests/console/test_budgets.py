"""What a page of a grid may cost: statements, bytes; and how large the console's own files may be."""

import gzip
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from scrapersky.console.assets import assets
from tests.factories.line_rows import NOUNS, add_line

MAX_STATEMENTS, MAX_BYTES, MAX_COMPRESSED = 6, 50_000, 9_000


@contextmanager
def counting(app):
    """The statements of a request, without the one that begins each transaction; those of the login come on top."""
    engine, seen = app.state.application.database.engine.sync_engine, []

    def note(_connection, _cursor, statement, *_rest):
        if "set_config" not in statement:
            seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


async def fill(admin, tenant, ids):
    await admin.execute(
        "INSERT INTO contact (tenant_id, domain_id, page_id, business_id, identity, email, name, phone, title, "
        "verdict, confidence, source_url, updated_at) "
        "SELECT $1, $2::uuid, $3::uuid, $4::uuid, 'x:' || n, 'person' || n || '@' || left(md5(n::text), 8) || '.fi', "
        "'Person ' || left(md5((n + 7)::text), 9), '+35891' || (1000000 + n * 7919 % 8999999), 'position ' || n % 13, "
        "(ARRAY['deliverable', 'risky', 'unknown'])[1 + n % 3], 0.5 + (n % 50) / 100.0, "
        "'https://' || left(md5(n::text), 8) || '.fi/yhteystiedot/henkilosto', now() - n * interval '1 minute' "
        "FROM generate_series(1, 120) n",
        tenant, *(ids[noun] for noun in ("domains", "pages", "businesses")),
    )  # fmt: skip
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name, address, website, categories, rating) "
        "SELECT $1, 'osm', n::text, 'Hammas ' || left(md5(n::text), 12), 'Katu ' || n || ', 00' || n || ' Helsinki', "
        "'https://' || left(md5(n::text), 12) || '.fi/', ARRAY['dentist', 'clinic'], 4.2 "
        "FROM generate_series(1, 120) n",
        tenant,
    )


@pytest.mark.parametrize("role", ["viewer", "admin"])
async def test_grids_keep_their_budget_of_statements_and_bytes(app, login, admin, tenant, role):
    ids = await add_line(admin, tenant)
    await fill(admin, tenant, ids)
    browser = await login(role)
    for noun in NOUNS:
        paths = [f"/{noun}", f"/{noun}?search_id={ids['searches']}", f"/{noun}?sort=name&text=p"]
        for path in paths if noun not in ("sitemaps", "pages") else paths[:2]:
            with counting(app) as seen:
                answer = await browser.get(f"/console{path}")
            assert answer.status_code == 200, path
            assert len(seen) + 1 <= MAX_STATEMENTS, (path, seen)  # one more authenticates
            assert len(answer.content) <= MAX_BYTES, (path, len(answer.content))
            assert len(gzip.compress(answer.content)) <= MAX_COMPRESSED, path
        with counting(app) as seen:
            assert (await browser.get(f"/console/{noun}/{ids[noun]}")).status_code == 200
        assert len(seen) + 1 <= MAX_STATEMENTS, (noun, seen)
        with counting(app) as seen:
            panel = await browser.get(f"/console/{noun}?open={ids[noun]}", headers={"Console-Part": "panel"})
        assert panel.status_code == 200
        assert len(seen) + 1 <= MAX_STATEMENTS, (noun, seen)


def test_style_and_modules_keep_their_budget():
    sizes = {name: len(asset.compressed) for name, asset in assets().by_name.items()}
    assert sizes["console.css"] <= 10_000
    assert sizes["console.js"] <= 25_000  # with all modules in it
