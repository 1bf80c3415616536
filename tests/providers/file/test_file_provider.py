"""A file of businesses: any encoding, delimiter and form; a bad row fails alone and by its line."""

import json
from pathlib import Path
from typing import Any

import pytest

from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Meter, PlaceDetails, PlaceQuery, ProviderRefused
from scrapersky.providers.call_budget import InMemoryCallBudget
from scrapersky.providers.file.provider import BusinessFile

CSV = """Company,Web Site,Phone number,ZIP,City,Country,Lat,Lng,Category
Hymy Oy,hymy.example,09 612 3456,00100,Helsinki,fi,60.17,24.94,dentist
Zahn & Co,https://zahn.example,+49 30 901820,10115,Berlin,DE,,,dentist; clinic
"Pan, Brot",,,10117,Berlin,DE,"52,5",13.4,bakery
"""


async def read(
    path: Path, text: str = "*", area: str | None = None, limit: int | None = None
) -> tuple[list[PlaceDetails], list[str]]:
    meter = Meter(budget_cents=0)
    provider = BusinessFile(path)
    pages = provider.search(PlaceQuery(text, Where.of(area), limit), meter)
    return [place async for page in pages for place in page], meter.notes


def write(tmp_path: Path, content: str | bytes, name: str = "firms.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


async def test_columns_are_recognised_by_their_headers(tmp_path: Path) -> None:
    (first, second, third), notes = await read(write(tmp_path, CSV))
    assert notes == []
    assert (first.name, first.website, first.phone) == ("Hymy Oy", "hymy.example", "+35896123456")
    assert (first.postcode, first.city, first.country) == ("00100", "Helsinki", "FI")
    assert (first.latitude, first.longitude) == (60.17, 24.94)
    assert first.address == "00100 Helsinki, fi"
    assert second.categories == ("dentist", "clinic")
    assert (third.name, third.latitude, third.website) == ("Pan, Brot", 52.5, None)
    assert first.fetched_at is not None
    assert first.expires_at is None


@pytest.mark.parametrize(
    "content",
    [
        CSV.encode("utf-8-sig"),
        CSV.encode("utf-16"),
        CSV.replace("; clinic", "").replace(",", ";").replace('"Pan; Brot"', "Pan").replace('"52;5"', "52.5").encode(),
        CSV.replace('"Pan, Brot"', "Pan").replace('"52,5"', "52.5").replace(",", "\t").encode(),
        CSV.replace("\n", "\r\n").encode(),
        ("\n\n" + CSV).encode(),
    ],
)
async def test_encodings_and_delimiters_are_detected(tmp_path: Path, content: bytes) -> None:
    places, notes = await read(write(tmp_path, content))
    assert [place.name[:3] for place in places] == ["Hym", "Zah", "Pan"]
    assert notes == []


async def test_old_encodings_are_read(tmp_path: Path) -> None:
    text = "Firma;Ort\nMüller Bäckerei Größe;Köln\nJäger Söhne Straße;Düsseldorf\n"
    places, _ = await read(write(tmp_path, text.encode("windows-1252")))
    assert [(place.name, place.city) for place in places] == [
        ("Müller Bäckerei Größe", "Köln"),
        ("Jäger Söhne Straße", "Düsseldorf"),
    ]


@pytest.mark.parametrize(("text", "area", "names"), [
    ("*", None, ["Hymy Oy", "Zahn & Co", "Pan, Brot"]),
    ("dentists", None, ["Hymy Oy", "Zahn & Co"]),
    ("dentists in Berlin", None, ["Zahn & Co"]),
    ("bakery", "Berlin, DE", ["Pan, Brot"]),
    ("all", "Helsinki", ["Hymy Oy"]),
    ("hymy", None, ["Hymy Oy"]),
    ("florist", None, []),
])  # fmt: skip
async def test_a_search_returns_the_matching_rows(
    tmp_path: Path, text: str, area: str | None, names: list[str]
) -> None:
    places, _ = await read(write(tmp_path, CSV), text, area)
    assert [place.name for place in places] == names


async def test_the_limit_is_kept(tmp_path: Path) -> None:
    assert len((await read(write(tmp_path, CSV), limit=2))[0]) == 2


async def test_a_bad_row_is_reported_with_its_line_and_affects_no_other(tmp_path: Path) -> None:
    content = (
        "name,lat,lon,rating\n"
        "Good,1,2,4.5\n"
        ",1,2,\n"
        "Far,95,2,\n"
        "Odd,x,2,\n"
        "Many,1,2,3,4,5\n"
        f"Huge {'x' * 200_000},1,2,\n"
        f"{'y' * 2_000_000}\n"
        "Not a number,nan,2,\n"
        "Last,1,2,\n"
    )
    places, notes = await read(write(tmp_path, content))
    assert [place.name for place in places] == ["Good", "Last"]
    assert [note.split(":")[0] for note in notes] == [
        "Line 3",
        "Line 4",
        "Line 5",
        "Line 6 has 6 cells for 4 columns.",
        "Line 7 has a field of more than 100,000 characters.",
        "Line 8 is longer than 1,000,000 bytes.",
        "Line 9",
    ]
    assert notes[0] == "Line 3: it has no name."
    assert notes[1] == "Line 4: 95 is not a latitude."


async def test_a_quote_that_is_never_closed_costs_its_own_row_only(tmp_path: Path) -> None:
    rows = "".join(f"Firm {number},Town\n" for number in range(20_000))
    places, notes = await read(write(tmp_path, f'name,city\n"Broken,Town\n{rows}'))
    assert len(notes) == 1
    assert notes[0].startswith("Line 2 opens a quote that is not closed")
    assert len(places) == 20_000, "it costs its own row and no other"


async def test_many_bad_rows_are_counted(tmp_path: Path) -> None:
    _, notes = await read(write(tmp_path, "name,city\n" + ",x\n" * 50))
    assert len(notes) == 21
    assert notes[-1] == "30 more rows cannot be used."


@pytest.mark.parametrize(
    ("name", "wrap"),
    [
        ("a.json", lambda rows: json.dumps(rows)),
        ("b.json", lambda rows: json.dumps({"count": 3, "businesses": rows})),
        ("c.jsonl", lambda rows: "\n".join(map(json.dumps, rows))),
        ("d.txt", lambda rows: json.dumps(rows)),
    ],
)
async def test_json_in_its_forms(tmp_path: Path, name: str, wrap: Any) -> None:
    rows = [
        {"name": "A", "lat": 1.5, "lng": 2, "categories": ["x", "y"], "email": "a@a.example"},
        {"Name": "B", "website": None},
        "C",
    ]
    places, notes = await read(write(tmp_path, wrap(rows), name))
    assert [place.name for place in places] == ["A", "B"]
    assert (places[0].latitude, places[0].categories) == (1.5, ("x", "y"))
    assert places[0].extra == {"emails": ["a@a.example"]}
    assert notes == ["Line 3 is not an object."]


async def test_a_broken_line_of_jsonl_fails_alone(tmp_path: Path) -> None:
    lines = ['{"name": "A"}', "{", f'{{"name": "{"x" * 1_100_000}"}}', "", '{"name": "B"}', "[" * 100_000]
    places, notes = await read(write(tmp_path, "\n".join(lines), "x.jsonl"))
    assert [place.name for place in places] == ["A", "B"]
    assert [note[:18] for note in notes] == ["Line 2 is not JSON", "Line 3 is longer t", "Line 6 is not JSON"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.csv", "city,zip\nA,1\n", "no column for the name"),
        ("x.json", "{", "is not JSON"),
        ("x.json", '"text"', "no list of businesses"),
        ("x.csv", "", "It is empty"),
        ("x.csv", b"PK\x03\x04 a workbook", "Save the table as CSV"),
    ],
)
async def test_an_unusable_file_is_refused_with_the_reason(
    tmp_path: Path, name: str, content: str | bytes, told: str
) -> None:
    with pytest.raises(ProviderRefused, match=told):
        await read(write(tmp_path, content, name))


async def test_a_missing_file_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ProviderRefused, match="PROVIDER_FILE_PATH"):
        await read(tmp_path / "none.csv")
    with pytest.raises(ProviderRefused, match="PROVIDER_FILE_PATH"):
        await read(tmp_path)


async def test_the_id_comes_from_the_content(tmp_path: Path) -> None:
    (first, *_), _ = await read(write(tmp_path, CSV))
    head, one, two, three = CSV.splitlines()
    places, _ = await read(write(tmp_path, "\n".join([head, three, two, one, one]), "other.csv"))
    assert len(places) == 3
    assert places[-1].provider_id == first.provider_id
    provider = BusinessFile(tmp_path / "firms.csv")
    assert (await provider.details(first.provider_id, InMemoryCallBudget())).name == "Hymy Oy"
    with pytest.raises(ProviderRefused, match="any more"):
        await provider.details("gone", InMemoryCallBudget())
    assert (await provider.estimate(PlaceQuery("*"))).cents == 0


async def test_an_id_column_is_the_identity_even_if_other_values_change(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    path.write_text("ID,name,phone\nC-17,Hymy,09 612 3456\n,Suu,\n")
    before, _ = await read(path)
    path.write_text("name,city,Id\nSuu,,\nHymy Oy,Helsinki,C-17\n")
    after, _ = await read(path)
    assert [place.provider_id for place in before] == ["C-17", before[1].provider_id]
    assert [place.provider_id for place in after] == [before[1].provider_id, "C-17"], "a row without an id as ever"
    assert (await BusinessFile(path).details("C-17", InMemoryCallBudget())).name == "Hymy Oy"


async def test_an_id_may_be_a_number(tmp_path: Path) -> None:
    path = tmp_path / "firms.json"
    path.write_text('[{"id": 17, "name": "Hymy"}, {"id": "18", "name": "Suu"}]')
    assert [place.provider_id for place in (await read(path))[0]] == ["17", "18"]


async def test_one_id_for_two_businesses_makes_the_second_unusable(tmp_path: Path) -> None:
    places, notes = await read(write(tmp_path, f"id,name\n7,Hymy\n7,HYMY\n7,Suu\n{'x' * 301},Long\n"))
    assert [place.provider_id for place in places] == ["7"]
    assert notes == [
        "Line 4: its id '7' is that of another business on line 2.",
        "Line 5: its id is longer than 300 characters.",
    ]


async def test_without_ids_a_row_in_capitals_is_the_same_business(tmp_path: Path) -> None:
    places, notes = await read(write(tmp_path, "name,city\nHymy,Helsinki\nHYMY,helsinki\n"))
    assert (len(places), notes) == (1, [])
