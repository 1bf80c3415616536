"""Places on the map: counted by cells of the mercator, as Python and PostgreSQL number them alike."""

import math
import random

import pytest
from sqlalchemy.dialects import postgresql

from scrapersky.asgi import create_app
from scrapersky.store.listing import place_map
from scrapersky.store.listing.map_cells import LEVELS, MapBox, cover, level_of, parse_box, project, square, unproject
from scrapersky.store.listing.place_map import MAX_CELLS, WORLD, statement
from tests.api.line.test_list_plans import rows_read
from tests.factories.api_application import environment, is_problem
from tests.factories.line_rows import add

CELLS = "/api/v3/places/cells"


@pytest.fixture
def app(database_url):
    return create_app(environment(database_url), run_engine=False)


async def add_place(admin, tenant, latitude, longitude, name="Place", city=None):
    row = await add(
        admin, "place", tenant, provider="fake", provider_id=f"{random.random()}", name=name,
        latitude=latitude, longitude=longitude,
    )  # fmt: skip
    if city:
        await admin.execute(
            "INSERT INTO local_business (tenant_id, place_id, name, city) VALUES ($1, $2::uuid, $3, $4)",
            tenant,
            row,
            name,
            city,
        )
    return row


async def test_postgresql_numbers_cells_as_python_does(admin, tenant):
    draw = random.Random(5)
    spots = [(draw.uniform(-90, 90), draw.uniform(-180, 180)) for _ in range(200)]
    spots += [(0.0, 0.0), (90.0, 180.0), (-90.0, -180.0), (85.06, 179.9999999), (60.17, 24.94)]
    for latitude, longitude in spots:
        cell = await admin.fetchval("SELECT map_cell($1, $2)", latitude, longitude)
        x, y = project(latitude, longitude)
        edge = 2**LEVELS - 1
        column, row = square(cell, LEVELS)
        assert abs(column - min(edge, int(x * 2**LEVELS))) <= 1, (latitude, longitude)
        assert abs(row - min(edge, max(0, int(y * 2**LEVELS)))) <= 1, (latitude, longitude)
        back = unproject(x, y)
        assert math.isclose(back[1], longitude, abs_tol=1e-9)


async def test_places_are_counted_by_cell_with_their_city_and_names(client, admin, tenant, other_tenant):
    for number in range(7):
        await add_place(
            admin, tenant, 60.17 + number / 1000, 24.94, f"Helsinki {number}", "Helsinki" if number else "Espoo"
        )
    await add_place(admin, tenant, 60.45, 22.27, "Turku 1", "Turku")
    await add_place(admin, tenant, 10, 10, "far away")
    await add_place(admin, other_tenant, 60.17, 24.94, "theirs")
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name) VALUES ($1, 'f', 'x', 'nowhere')", tenant
    )
    items = (await client.get(CELLS, params={"box": "20,59,26,61", "zoom": 7})).json()["items"]
    assert [(one["rows"], one["city"]) for one in items] == [(7, "Helsinki"), (1, "Turku")]
    assert len(items[0]["names"]) == 5
    assert all(name.startswith("Helsinki") for name in items[0]["names"])
    assert items[0]["latitude"] == pytest.approx(60.173)
    inside = await client.get("/api/v3/places", params={"box": items[0]["box"]})
    assert inside.json()["total"] == 7  # a cell is a filter of the list
    named = (await client.get(CELLS, params={"text": "turku"})).json()["items"]
    assert [one["rows"] for one in named] == [1]
    assert sum(one["rows"] for one in (await client.get(CELLS)).json()["items"]) == 9
    for bad in ("1,2,3", "0,0,0,95", "0,5,0,1", "x,0,1,1", "nan,0,1,1", "200,0,1,1"):
        is_problem(await client.get(CELLS, params={"box": bad}), 422)


async def test_a_box_may_cross_the_180th_meridian(client, admin, tenant):
    for longitude in (179.5, -179.5, 170, -170, 0):
        await add_place(admin, tenant, -17.5, longitude, f"at {longitude}")
    found = await client.get("/api/v3/places", params={"box": "179,-20,-179,-10"})
    assert {row["name"] for row in found.json()["items"]} == {"at 179.5", "at -179.5"}
    cells = (await client.get(CELLS, params={"box": "165,-20,-165,-10", "zoom": 4})).json()["items"]
    assert sum(one["rows"] for one in cells) == 4


def test_no_box_has_more_cells_than_allowed_and_every_cover_holds_its_box():
    draw = random.Random(3)
    for _ in range(300):
        west, east = draw.uniform(-180, 180), draw.uniform(-180, 180)
        south, north = sorted((draw.uniform(-85, 85), draw.uniform(-85, 85)))
        box = MapBox(west, south, east, north)
        width, height = box.sides
        level = level_of(box, 20, MAX_CELLS)
        assert (width * 2**level + 2) * (height * 2**level + 2) <= MAX_CELLS or level == 0
        ranges = cover(box)
        assert len(ranges) <= 24
        part = box.parts[0]
        x, y = project(draw.uniform(part.south, part.north), draw.uniform(part.west, part.east))
        column, row = int(x * 2**LEVELS), int(y * 2**LEVELS)
        cell = sum((column >> bit & 1) << 2 * bit | (row >> bit & 1) << (2 * bit + 1) for bit in range(LEVELS))
        assert any(first <= cell <= last for first, last in ranges)
    assert parse_box(str(WORLD)) == WORLD


async def test_the_extent_of_places_takes_the_short_way_round(database, admin, tenant):
    async def extent(**filters):
        async with database.session(tenant) as session:
            return await place_map.extent(session, tenant, filters)

    assert await extent() is None
    for longitude in (178.0, -179.0):
        await add_place(admin, tenant, -17.0, longitude, "Fiji")
    assert await extent() == MapBox(178.0, -17.0, -179.0, -17.0)
    for longitude in (10.0, 20.0):
        await add_place(admin, tenant, 50.0, longitude, "Europe")
    assert await extent(text="europe") == MapBox(10.0, 50.0, 20.0, 50.0)


async def test_a_small_part_of_many_places_is_read_from_the_index(database, admin, tenant):
    await admin.execute(
        """INSERT INTO place (tenant_id, provider, provider_id, name, latitude, longitude)
        SELECT $1, 'fake', n::text, md5(n::text), 50 + (n % 1000) / 100.0, (n / 1000) / 10.0
        FROM generate_series(1, 100000) n""",
        tenant,
    )
    await admin.execute("VACUUM ANALYZE place")
    box = MapBox(1.0, 52.0, 1.1, 52.1)
    built = statement(tenant, {"box": str(box)}, level_of(box, 14, MAX_CELLS))
    compiled = built.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
    async with database.session(tenant) as session:
        connection = await session.connection()
        lines = (await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, TIMING OFF) {compiled}")).scalars()
        plan = "\n".join(lines)
    assert "place_by_cell" in plan
    assert "Seq Scan on place" not in plan
    assert rows_read(plan) < 2_000, plan
