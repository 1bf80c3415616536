"""The map: cells, the same list beside it, boxes and views in the address, tiles only if they are set."""

from collections.abc import AsyncIterator

import pytest

from scrapersky.console.draw.map import HEIGHT, WIDTH, View, marks, rectangle, scale, tiles, view_of
from scrapersky.pipeline import build_pipeline
from scrapersky.store.listing.map_cells import MapBox
from scrapersky.store.listing.place_map import PlaceCell
from tests.factories.api_application import app_over
from tests.factories.console_browser import Page, browser_of, create_person, log_in
from tests.factories.line_rows import add


async def add_places(admin, tenant):
    for n, (latitude, longitude, city) in enumerate(
        ((60.17, 24.94, "Helsinki"), (60.171, 24.941, "Helsinki"), (60.45, 22.27, "Turku"))
    ):
        row = await add(
            admin, "place", tenant, provider="fake", provider_id=str(n), name=f"{city} {n}",
            latitude=latitude, longitude=longitude,
        )  # fmt: skip
        await admin.execute(
            "INSERT INTO local_business (tenant_id, place_id, name, city) VALUES ($1, $2::uuid, 'x', $3)",
            tenant,
            row,
            city,
        )


async def test_the_map_shows_all_places_and_leads_nearer(login, admin, tenant):
    browser = await login("viewer")
    empty = Page((await browser.get("/console/map")).text)
    assert "There is nothing here yet." in empty.text
    await add_places(admin, tenant)
    page = Page((await browser.get("/console/map")).text)
    cities = {one.text for one in page.all("text", class_="city")}
    assert cities == {"Helsinki", "Turku"}
    assert "3 places in view" in page.text
    assert len([one for one in page.all("a") if one.is_in("ol")]) == 3
    assert sorted(one["aria-label"] for one in page.all("a") if one.is_in("svg")) == [
        "1 place, Turku",
        "2 places, Helsinki",
    ]
    [turku] = [one["href"] for one in page.all("a") if one.get("aria-label") == "1 place, Turku"]
    assert "1–1 of 1" in Page((await browser.get(turku)).text).text  # few: the list of its places
    for name in ("Nearer", "Farther", "North", "South", "West", "East"):
        assert (await browser.get(page.one("a", aria_label=name)["href"])).status_code == 200


async def test_a_box_is_a_filter_by_the_fields_of_the_form(login, admin, tenant):
    await add_places(admin, tenant)
    browser = await login("viewer")
    box = {"west": "24,5", "south": "60", "east": "25.5", "north": "60.3"}
    page = Page((await browser.get("/console/map", params={**box, "text": "hel"})).text)
    assert "2 places in the box" in page.text
    assert page.all("rect", class_="box")
    [link] = [one["href"] for one in page.all("a") if "The list of these places" in one.text]
    assert link == "/console/places?text=hel&box=24.5%2C60%2C25.5%2C60.3"
    assert "1–2 of 2" in Page((await browser.get(link)).text).text
    dropped = Page((await browser.get(page.one("a", aria_label="Drop the box")["href"])).text)
    assert not dropped.all("rect", class_="box")
    for query in ("box=1,2", "west=a&south=0&east=1&north=1", "nothing=1", "curation_status=Perhaps"):
        assert (await browser.get(f"/console/map?{query}")).status_code == 422, query
    assert (await browser.get("/console/map?at=95,0&zoom=99")).status_code == 200  # no sensible view: all places


def test_numbers_of_circles_do_not_cover_each_other():
    view, box = View(60, 24, 6), MapBox(23, 59, 25, 61)
    places = ((60.17, 24.94, 13), (60.18, 25.6, 10), (61.5, 23.76, 12), (60.45, 22.27, 1))
    cells = [PlaceCell(box, rows, latitude, longitude, "Helsinki", ()) for latitude, longitude, rows in places]
    assert [one.is_numbered for one in marks(view, cells)] == [True, True, False, False]


def test_circles_that_would_cover_each_other_are_one_that_leads_nearer():
    places = ((60.17, 24.94, 13), (60.18, 25.05, 10), (61.5, 23.76, 12))
    box = MapBox(23, 59, 25, 61)
    cells = [PlaceCell(box, rows, north, east, "Helsinki", (str(rows),)) for north, east, rows in places]
    helsinki, tampere = marks(View(60, 24, 6), cells)
    assert (helsinki.cell.rows, helsinki.cell.names, helsinki.is_gathered) == (23, ["13", "10"], True)
    assert (tampere.cell, tampere.is_gathered) == (cells[2], False)
    assert [one.cell for one in marks(View(60.17, 24.94, 17), cells)] == [cells[0], cells[2], cells[1]]  # not nearer


def test_views_and_boxes_fit_also_across_the_180th_meridian():
    for box in (MapBox(24, 60, 25, 61), MapBox(178, -20, -178, -15), MapBox(-10, -50, 30, 60)):
        view = view_of(box)
        left, top, width, height = rectangle(view, box)
        assert left >= 0
        assert top >= 0
        assert left + width <= WIDTH
        assert top + height <= HEIGHT
        for x, y in ((0, 0), (WIDTH / 2, HEIGHT / 2), (900, 500)):
            assert view.place(*view.at(x, y)) == pytest.approx((x, y), abs=0.5)
    assert scale(View(0, 0, 10))[1] == "10 km"
    assert scale(View(60, 24, 17))[1] == "50 m"
    assert View(84, 0, 0).moved(0, -0.4).latitude <= 85
    assert {address for address, *_ in tiles(View(0, 179.9, 3), "{z}/{x}/{y}")} >= {"3/7/3", "3/0/3"}


@pytest.fixture
async def tiled(database_url, database) -> AsyncIterator:
    app = app_over(
        database_url,
        pipeline=build_pipeline({}),
        SCRAPERSKY_MAP_TILES="https://tiles.example/{z}/{x}/{y}.png",
        SCRAPERSKY_MAP_TILES_ATTRIBUTION="© people of the example",
    )
    async with app.router.lifespan_context(app), browser_of(app) as browser:
        await create_person(database, "viewer", "default", "v")
        await log_in(browser, "v")
        yield browser


async def test_tiles_are_drawn_and_allowed_only_if_they_are_set(login, tiled, admin, tenant):
    await add_places(admin, tenant)
    answer = await tiled.get("/console/map?at=60,24&zoom=8")
    page = Page(answer.text)
    assert page.all("image", href="https://tiles.example/8/145/74.png")
    assert "© people of the example" in page.text
    assert "img-src 'self' https://tiles.example data:" in answer.headers["content-security-policy"]
    elsewhere = await tiled.get("/console/places")
    assert "tiles.example" not in elsewhere.headers["content-security-policy"]
    plain = await (await login("viewer")).get("/console/map")
    assert not Page(plain.text).all("image")
    assert "img-src 'self' data:" in plain.headers["content-security-policy"]
