"""Overture places from parquet on this machine, in both schemas."""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scrapersky.providers.areas.area import Area, FoundAreas
from scrapersky.providers.areas.geometry import Box
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Meter, PlaceDetails, PlaceQuery, ProviderRefused
from scrapersky.providers.call_budget import InMemoryCallBudget
from scrapersky.providers.overture.dataset import OvertureDataset
from scrapersky.providers.overture.provider import Overture, category_terms

BOX = Box(60.16, 24.93, 60.18, 24.96)
TEXTS = pa.list_(pa.string())
SHARED = [
    ("id", pa.string()),
    ("names", pa.struct([("primary", pa.string())])),
    ("bbox", pa.struct([(edge, pa.float32()) for edge in ("xmin", "xmax", "ymin", "ymax")])),
    ("confidence", pa.float64()),
    ("websites", TEXTS),
    ("socials", TEXTS),
    ("emails", TEXTS),
    ("phones", TEXTS),
    (
        "addresses",
        pa.list_(pa.struct([(part, pa.string()) for part in ("freeform", "locality", "postcode", "country")])),
    ),
    ("operating_status", pa.string()),
]
OLD = pa.schema([*SHARED, ("categories", pa.struct([("primary", pa.string()), ("alternate", TEXTS)]))])
NEW = pa.schema(
    [
        *SHARED,
        ("basic_category", pa.string()),
        ("taxonomy", pa.struct([("primary", pa.string()), ("hierarchy", TEXTS), ("alternates", TEXTS)])),
    ]
)


def row(identity: str, kind: str, **more: Any) -> dict[str, Any]:
    longitude, latitude = more.pop("at", (24.94, 60.17))
    return {
        "id": identity,
        "names": {"primary": more.pop("name", f"Firm {identity}")},
        "bbox": {"xmin": longitude, "xmax": longitude, "ymin": latitude, "ymax": latitude},
        "confidence": more.pop("confidence", 0.9),
        "categories": {"primary": kind, "alternate": ["health"]},
        "basic_category": kind,
        "taxonomy": {"primary": kind, "hierarchy": ["health_care", kind], "alternates": []},
        **more,
    }


ROWS = [
    row(
        "1",
        "dentist",
        name="Hymy",
        websites=["https://hymy.example", "https://two.example"],
        phones=["09 6123456"],
        emails=["a@hymy.example"],
        socials=["https://www.facebook.com/1"],
        addresses=[{"freeform": "Katu 3", "locality": "Helsinki", "postcode": "00100", "country": "FI"}],
        operating_status="temporarily_closed",
    ),
    row("2", "cosmetic_dentist"),
    row("3", "hair_salon"),
    row("4", "dentist", confidence=0.3),
    row("5", "dentist", at=(25.5, 60.17)),
    row("6", "dentist", name=None),
    row("7", "bank", name="Dentist's Bank"),
]


async def helsinki(*_: object) -> FoundAreas:
    return FoundAreas((Area("Helsinki", BOX, "FI"),))


def written(path: Path, schema: pa.Schema) -> str:
    folder = path / "theme=places" / "type=place"
    folder.mkdir(parents=True)
    rows = [{name: one.get(name) for name in schema.names} for one in ROWS]
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / "part-00000.zstd.parquet")
    return str(folder)


async def found(path: str, text: str, limit: int | None = None) -> tuple[list[PlaceDetails], list[str]]:
    meter = Meter(budget_cents=0)
    provider = Overture(OvertureDataset(path), helsinki)
    pages = provider.search(PlaceQuery(text, Where.of("Helsinki"), limit), meter)
    return [place async for page in pages for place in page], meter.notes


@pytest.mark.parametrize("schema", [OLD, NEW], ids=["old", "new"])
async def test_likely_places_of_the_kind_in_the_box(tmp_path: Path, schema: pa.Schema) -> None:
    path = written(tmp_path, schema)
    places, notes = await found(path, "dentists")
    assert [place.provider_id for place in places] == ["1", "2"]
    assert notes == []
    assert [place.provider_id for place in (await found(path, "hammaslääkäri"))[0]] == ["1", "2"]
    assert [place.provider_id for place in (await found(path, "Friseur"))[0]] == ["3"]
    assert [place.provider_id for place in (await found(path, "dentists", 1))[0]] == ["1"]


async def test_a_row_becomes_a_place_with_all_its_facts(tmp_path: Path) -> None:
    (place, *_), _ = await found(written(tmp_path, NEW), "dentists")
    assert (place.name, place.website, place.phone) == ("Hymy", "https://hymy.example", "+35896123456")
    assert (place.street, place.city, place.postcode, place.country) == ("Katu 3", "Helsinki", "00100", "FI")
    assert place.address == "Katu 3, 00100 Helsinki, FI"
    assert place.latitude == pytest.approx(60.17, abs=1e-4)
    assert place.categories == ("dentist", "health_care")
    assert place.business_status == "CLOSED_TEMPORARILY"
    assert place.licence is not None
    assert "CDLA" in place.licence
    assert place.extra["emails"] == ["a@hymy.example"]
    assert place.extra["websites"] == ["https://two.example"]
    assert place.extra["confidence"] == 0.9


async def test_an_unknown_word_is_searched_in_names_too(tmp_path: Path) -> None:
    places, notes = await found(written(tmp_path, NEW), "hymy")
    assert [place.name for place in places] == ["Hymy"]
    assert "not a known kind of business" in notes[0]


async def test_details_from_files_on_this_machine(tmp_path: Path) -> None:
    provider = Overture(OvertureDataset(written(tmp_path, NEW)), helsinki)
    assert (await provider.details("3", InMemoryCallBudget())).name == "Firm 3"
    with pytest.raises(ProviderRefused, match="no place '99'"):
        await provider.details("99", InMemoryCallBudget())
    with pytest.raises(ProviderRefused, match="search for it again"):
        await Overture(OvertureDataset("s3://bucket/places"), helsinki).details("3", InMemoryCallBudget())


async def test_a_missing_path_or_invalid_parquet_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ProviderRefused, match="PROVIDER_OVERTURE_PATH"):
        await found(str(tmp_path / "nowhere"), "dentists")
    (tmp_path / "x.parquet").write_text("no parquet at all")
    with pytest.raises(ProviderRefused, match="PROVIDER_OVERTURE_PATH"):
        await found(str(tmp_path / "x.parquet"), "dentists")


async def test_without_pyarrow_the_error_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, NEW)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ProviderRefused, match=r"scrapersky\[overture\]"):
        await found(path, "dentists")


async def test_a_search_without_an_area_is_refused_with_an_example() -> None:
    provider = Overture(OvertureDataset("nowhere"), helsinki)
    with pytest.raises(ProviderRefused, match="dentists in Helsinki"):
        await anext(provider.search(PlaceQuery("dentists"), Meter()))
    assert (await provider.estimate(PlaceQuery("dentists"))).cents == 0


def test_category_terms_are_the_words_overture_may_use() -> None:
    assert {"dentist", "dentists"} <= category_terms("dentists")
    assert {"hair_salon", "barber"} <= category_terms("kampaamo")
    assert "plumbing" in category_terms("plumbers")
