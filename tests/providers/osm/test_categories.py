"""What people type, as OpenStreetMap has it."""

import re
from math import isclose

import pytest

from scrapersky.providers.areas.area import Area
from scrapersky.providers.areas.geometry import Box
from scrapersky.providers.areas.where import UnclearSearch, Where
from scrapersky.providers.base import PlaceQuery
from scrapersky.providers.osm.categories import business_kind, tags_by_phrase
from scrapersky.providers.osm.overpass import query_by_id, query_by_name, query_by_tags
from scrapersky.providers.registry import read_search
from scrapersky.providers.split_query import what_and_where

HELSINKI = Area("Helsinki", Box(59.92, 24.78, 60.30, 25.25), "FI", 34914)


@pytest.mark.parametrize(
    ("typed", "what", "where"),
    [
        ("dentists in Helsinki", "dentists", "Helsinki"),
        ("walk in clinics in Boston", "walk in clinics", "Boston"),
        ("Zahnärzte in Frankfurt am Main", "Zahnärzte", "Frankfurt am Main"),
        ("coiffeur à Lyon", "coiffeur", "Lyon"),
        ("restaurantes en San Juan", "restaurantes", "San Juan"),
        ("frisör i Malmö", "frisör", "Malmö"),
        ("hotels near Lake Como", "hotels", "Lake Como"),
        ("  bakers   in   Ghent ", "bakers", "Ghent"),
        ("plumber", "plumber", None),
    ],
)
def test_the_area_is_split_from_the_text(typed: str, what: str, where: str | None) -> None:
    read = what_and_where(PlaceQuery(typed))
    assert (read.text, read.where.names) == (what, (where,) if where else ())


def test_a_given_area_is_not_split_from_the_text() -> None:
    assert read_search("bed in a box shops", "Leeds", "file") == ("bed in a box shops", Where.of("Leeds"))
    assert read_search("dentists in Oulu", "Oulu", "file") == ("dentists", Where.of("Oulu"))


@pytest.mark.parametrize(
    ("text", "area"),
    [
        ("dentists in Helsinki", None),
        ("dentists", "Helsinki"),
        (" dentists  in Helsinki ", "Helsinki "),
        ("dentists, Helsinki", None),
        ("dentists Helsinki", None),
    ],
)
def test_equal_searches_are_equal_in_any_spelling(text, area):
    assert read_search(text, area, "openstreetmap") == ("dentists", Where.of("Helsinki"))


@pytest.mark.parametrize("text", ["", "  ", "dentists", " in Helsinki", "drive in cinemas", "walk in clinics"])
def test_a_search_without_what_or_where_is_refused(text):
    with pytest.raises(UnclearSearch, match="Helsinki"):
        read_search(text, None, "openstreetmap")
    with pytest.raises(UnclearSearch, match="what to look for"):
        read_search(" ", "Helsinki", "file")


def test_a_search_in_a_file_needs_no_area():
    assert read_search("dentists", None, "file") == ("dentists", Where())
    assert read_search("drive in cinemas in Turku", None, "file") == ("drive in cinemas", Where.of("Turku"))


@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("dentists", "amenity=dentist"),
        ("Zahnarzt", "healthcare=dentist"),
        ("hammaslääkäri", "amenity=dentist"),
        ("hammaslaakari", "amenity=dentist"),
        ("dentiste", "amenity=dentist"),
        ("стоматология", "amenity=dentist"),
        ("plombiers", "craft=plumber"),
        ("Rechtsanwälte", "office=lawyer"),
        ("bakeries", "shop=bakery"),
        ("pharmacies", "amenity=pharmacy"),
        ("Möbelhaus", "shop=furniture"),
        ("pet store", "shop=pet"),
        ("auto-école", "amenity=driving_school"),
        ("bed and breakfast", "tourism=guest_house"),
        ("kahvilat", "amenity=cafe"),
    ],
)
def test_a_kind_of_business_in_any_language(word: str, tag: str) -> None:
    kind = business_kind(word)
    assert kind is not None
    assert tag in kind.tags
    assert kind.unknown == ()


def test_unknown_words_around_the_kind_are_reported() -> None:
    kind = business_kind("best family dentists")
    assert kind is not None
    assert (kind.known, kind.unknown) == ("dentists", ("best", "family"))


@pytest.mark.parametrize(
    ("text", "known", "unknown", "tags"),
    [
        ("cafes and bakeries", "cafes, bakeries", (), ("amenity=cafe", "shop=bakery")),
        (
            "best dentists, lawyers & notaries",
            "dentists, lawyers, notaries",
            ("best",),
            ("amenity=dentist", "office=notary"),
        ),
        ("Zahnärzte und Anwälte", "zahnarzte, anwalte", (), ("amenity=dentist", "office=lawyer")),
        ("bed and breakfast hotels", "bed and breakfast", ("hotels",), ("tourism=guest_house",)),
        ("kids and family dentists", "dentists", ("kids", "and", "family"), ("amenity=dentist",)),
    ],
)
def test_several_kinds_are_all_searched(text: str, known: str, unknown: tuple[str, ...], tags: tuple[str, ...]) -> None:
    kind = business_kind(text)
    assert kind is not None
    assert (kind.known, kind.unknown) == (known, unknown)
    assert set(tags) <= set(kind.tags)


def test_an_unknown_word_is_not_a_kind() -> None:
    assert business_kind("Xyzzy Frobnicators") is None
    assert business_kind("") is None


def test_the_table_is_large_and_its_tags_are_tags() -> None:
    phrases = tags_by_phrase()
    kinds = set(phrases.values())
    assert len(kinds) >= 60
    assert len(phrases) >= 2000
    assert all(re.fullmatch(r"[a-z_]+(=[a-z_]+)?", tag) for tags in kinds for tag in tags)


def test_a_query_by_kind_has_border_box_centre_and_limit() -> None:
    question = query_by_tags(("amenity=dentist", "craft"), HELSINKI, 50)
    assert question.splitlines() == [
        "[out:json][timeout:60][maxsize:134217728];",
        "area(3600034914)->.a;",
        '( nwr(area.a)["name"]["amenity"="dentist"](59.9200000,24.7800000,60.3000000,25.2500000); '
        'nwr(area.a)["name"]["craft"](59.9200000,24.7800000,60.3000000,25.2500000); );',
        "out center tags qt 50;",
    ]


def test_a_place_without_a_border_is_searched_by_its_box() -> None:
    question = query_by_tags(("shop",), Area("x", Box(1, 2, 3, 4)), 9)
    assert "area" not in question
    assert "(1.0000000,2.0000000,3.0000000,4.0000000)" in question


def test_no_text_can_end_its_string_in_a_query() -> None:
    question = query_by_name('a"];out;\n(node(1);//\\', HELSINKI, 5)
    inside = re.findall(r'"name"~"((?:[^"\\]|\\.)*)",i\]', question)
    assert len(inside) == 1
    assert "\n(node" not in question
    # Undone once for the string and once for the expression, it is what was typed.
    assert re.fullmatch(inside[0].replace('\\"', '"').replace("\\\\", "\\"), 'a"];out; (node(1);//\\')


def test_only_an_element_id_gives_a_query_by_id() -> None:
    assert query_by_id("way/42") == "[out:json][timeout:60][maxsize:134217728];\nway(42);\nout center tags;"
    for wrong in ("42", "way/", "way/-1", "way/1;out", "planet/1", "node/1\n"):
        assert query_by_id(wrong) is None


def test_quarters_cover_a_box_also_over_the_antimeridian() -> None:
    fiji = Box(-19.0, 177.0, -16.0, -178.0)
    quarters = fiji.quarters()
    assert isclose(sum(quarter.width for quarter in quarters), 2 * fiji.width)
    assert quarters[0].east == quarters[1].west == 179.5
    assert all(-180 <= edge <= 180 for quarter in quarters for edge in (quarter.west, quarter.east))
