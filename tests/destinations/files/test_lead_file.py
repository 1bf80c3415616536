"""Files of leads: four formats, formula-safe, whole or not at all."""

import csv
import gc
import io
import json
import os
import stat
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import phonenumbers
import pyarrow.csv
import pyarrow.parquet
import pytest
from openpyxl import load_workbook

from scrapersky.destinations.files import workbook
from scrapersky.destinations.files.cells import CHECKED, may_have_formula, safe_cell
from scrapersky.destinations.files.lead_file import WRITERS, LeadFile, UnwritableFile
from scrapersky.destinations.files.workbook import link_of
from scrapersky.extract.phones.spelling import spell_phones
from scrapersky.extract.tabular.rows import read_table
from scrapersky.store.leads.columns import BUSINESS_COLUMNS, CONTACT_COLUMNS
from tests import ROOT

COLUMNS = ["business", "email", "phone", "rating"]
ROWS: list[dict[str, Any]] = [
    {"business": "=cmd|'/c calc'!A1", "email": "info@one.fi", "phone": "+358912345678", "rating": 4.5},
    {"business": "Müller & Söhne, GmbH", "email": None, "phone": None, "rating": None},
]


def sheet_of(path: Path) -> Any:
    return load_workbook(path).active


async def rows(fail: bool = False):
    for row in ROWS:
        yield row
    if fail:
        raise RuntimeError("the database went away")


async def written(path: Path) -> Path:
    with LeadFile(path, COLUMNS) as file:
        assert await file.write(rows()) == 2
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    return path


async def test_csv_is_read_by_spreadsheets_and_runs_nothing(tmp_path):
    path = await written(tmp_path / "leads.csv")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        first, second = csv.DictReader(file)
    assert first["business"].startswith("'=cmd")
    assert first["phone"] == "+358 9 12345678"
    assert second["business"] == "Müller & Söhne, GmbH"


@pytest.mark.parametrize("sign", list("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"))
def test_no_sign_begins_a_formula_and_each_is_read_back(sign):
    cell = safe_cell(f"{sign}1+1")
    assert cell == f"'{sign}1+1"
    table = io.StringIO(newline="")
    csv.writer(table).writerows([["name"], [cell]])
    (row,) = read_table(io.BytesIO(table.getvalue().encode()), "csv")
    assert row.values["name"] == f"{sign}1+1"


async def test_jsonl_keeps_values_as_they_are(tmp_path):
    path = await written(tmp_path / "leads.jsonl")
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert first["business"] == ROWS[0]["business"]
    assert first["phone"] == "+358912345678"
    assert second["email"] is None


async def test_the_name_of_an_own_column_runs_as_no_formula(tmp_path):
    names = ["=cmd|'/C calc'!A0", "-1+1", "bell\x07", "id"]
    for path in (tmp_path / "leads.csv", tmp_path / "leads.xlsx"):
        with LeadFile(path, names) as file:
            await file.write(_some([dict.fromkeys(names, "1")]))
    with (tmp_path / "leads.csv").open(encoding="utf-8-sig", newline="") as text:
        assert next(csv.reader(text)) == ["'=cmd|'/C calc'!A0", "'-1+1", "bell\x07", "id"]
    header = next(sheet_of(tmp_path / "leads.xlsx").iter_rows())
    assert [(cell.value, cell.data_type) for cell in header] == [
        ("=cmd|'/C calc'!A0", "s"),
        ("-1+1", "s"),
        ("bell", "s"),
        ("id", "s"),
    ]


async def test_xlsx_holds_text_not_formulas(tmp_path):
    path = await written(tmp_path / "leads.xlsx")
    sheet = sheet_of(path)
    cells = list(sheet.iter_rows(min_row=2))
    assert cells[0][0].data_type == "s"
    assert cells[0][0].value.startswith("=cmd")
    assert cells[0][3].value == 4.5


async def test_parquet_has_columns_with_types(tmp_path):
    path = await written(tmp_path / "leads.parquet")
    table = pyarrow.parquet.read_table(path)
    assert table.column_names == COLUMNS
    assert table.column("rating").to_pylist() == [4.5, None]


async def test_a_file_that_could_not_be_finished_does_not_appear(tmp_path):
    path = tmp_path / "leads.csv"
    path.write_text("older and whole")
    with pytest.raises(RuntimeError), LeadFile(path, COLUMNS) as file:
        await file.write(rows(fail=True))
    assert path.read_text() == "older and whole"
    assert [entry.name for entry in tmp_path.iterdir()] == ["leads.csv"]


@pytest.mark.parametrize("name", ["leads.doc", "leads", "missing/leads.csv"])
def test_a_file_that_cannot_be_is_refused_before_the_work(tmp_path, name):
    with pytest.raises(UnwritableFile):
        LeadFile(tmp_path / name, COLUMNS)


def test_a_directory_is_no_file(tmp_path):
    (tmp_path / "leads.csv").mkdir()
    with pytest.raises(UnwritableFile, match="is a directory"):
        LeadFile(tmp_path / "leads.csv", COLUMNS)


@pytest.mark.parametrize("value", ["=1+1", "+1+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_what_would_run_is_quoted(value):
    assert safe_cell(value) == f"'{value}"


@pytest.mark.parametrize("value", ["+358 40 1234567", "+358 9 1; +1 650 253 0000", "plain", 4, None])
def test_what_is_harmless_stays(value):
    assert safe_cell(value) == value


NUMBERS = [
    "+420601123456",
    "+37631234",
    "+376312345",
    "+999123456",
    "012345",
    "+358912345678",
    "+16502530000",
    "+33123456789",
    "+5491123456789",
    "+99912345",
    "0401234567",
]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("column", ["phone", "fax", "other_phones"])
async def test_a_phone_number_is_text_for_whoever_guesses_types(tmp_path, number, column):
    """pandas, spreadsheets and Arrow guess the type of a column; each cell alone must not look like a number."""
    with LeadFile(tmp_path / "leads.csv", ["business", column]) as file:
        await file.write(_some([{"business": "Molar", column: number}]))
    table = pyarrow.csv.read_csv(tmp_path / "leads.csv")
    assert table.column(column).type == pyarrow.string()
    [told] = table.column(column).to_pylist()
    assert told.replace(" ", "") == number
    with pytest.raises(ValueError, match="could not convert"):
        float(told)


@pytest.mark.parametrize("region", sorted(phonenumbers.SUPPORTED_REGIONS))
def test_the_numbers_of_every_country_are_groups_of_digits_and_are_read_back(region):
    example = phonenumbers.example_number(region)
    assert example is not None
    number = phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164)
    spelled = spell_phones(number, "international")
    assert spelled.startswith(f"+{example.country_code} ")
    assert spelled.replace(" ", "") == number
    assert safe_cell(number) == spelled
    assert phonenumbers.parse(spelled) == phonenumbers.parse(number)


def is_number_with_blanks(text: str) -> bool:
    """Tell whether a spreadsheet in Polish, French, Finnish and so on takes a text for a number: 376 312 345."""
    first, *others = text.removeprefix("+").split(" ")
    return 1 <= len(first) <= 3 and bool(others) and all(len(other) == 3 for other in others)


@pytest.mark.parametrize("region", sorted(phonenumbers.SUPPORTED_REGIONS))
def test_no_number_of_any_country_has_groups_like_thousands(region):
    for kind in phonenumbers.PhoneNumberType.values():
        if (example := phonenumbers.example_number_for_type(region, kind)) is None:
            continue
        number = phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164)
        spelled = spell_phones(number, "international")
        assert not is_number_with_blanks(spelled)
        assert spelled.replace(" ", "") == number


@pytest.mark.parametrize(
    ("number", "spelled"),
    [
        ("+376312345", "+376 312345"),
        ("+420601123456", "+420 601 123456"),
        ("+999123", "+999 12 3"),
        ("012345", "012 34 5"),
        ("+48123456789", "+48 12 345 67 89"),
    ],
)
def test_groups_like_thousands_are_joined_or_divided(number, spelled):
    assert spell_phones(number, "international", "phone") == spelled


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("wanted", ["international", "e164"])
async def test_the_format_of_numbers_can_be_chosen(tmp_path, ending, wanted):
    path = tmp_path / f"leads{ending}"
    with LeadFile(path, COLUMNS, wanted) as file:
        await file.write(rows())
    read = {
        ".csv": lambda: next(csv.DictReader(path.open(encoding="utf-8-sig")))["phone"],
        ".tsv": lambda: next(csv.DictReader(path.open(encoding="utf-8-sig"), delimiter="\t"))["phone"],
        ".json": lambda: json.loads(path.read_text())[0]["phone"],
        ".jsonl": lambda: json.loads(path.read_text().splitlines()[0])["phone"],
        ".xlsx": lambda: sheet_of(path)["C2"].value,
        ".parquet": lambda: pyarrow.parquet.read_table(path).to_pylist()[0]["phone"],
    }
    assert read[ending]() == {"international": "+358 9 12345678", "e164": "+358912345678"}[wanted]


async def test_several_numbers_are_spelled_and_a_formula_beside_a_number_is_quoted():
    assert safe_cell("+35891234567; +16502530000") == "+358 9 1234567; +1 650 253 0000"
    for formula in ("+1+1", "+1;=cmd", "+358 9-1", "+1 (650)", "+1; +A1"):
        assert safe_cell(formula) == f"'{formula}"


async def test_a_workbook_has_a_header_in_view_a_filter_widths_links_and_dates(tmp_path):
    columns = ["business", "website", "email", "source", "found_at", "created_at", "rating", "last_seen", "title"]
    row: dict[str, Any] = {
        "business": "Molar Dental Clinic of Helsinki",
        "website": "https://molar.fi/?a=1&b=2",
        "email": "info@molar.fi",
        "source": "https://molar.fi/contact",
        "found_at": "2026-11-16",
        "created_at": "2026-11-16T12:30:00+02:00",
        "rating": 4.5,
        "last_seen": "2026-11-17",
        "title": "2026-11-17",
    }
    with LeadFile(tmp_path / "leads.xlsx", columns) as file:
        await file.write(_some([row, dict.fromkeys(columns)]))
    sheet = sheet_of(tmp_path / "leads.xlsx")
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:I3")
    assert all(cell.font.b and cell.fill.fill_type == "solid" for cell in sheet[1])
    assert sheet.column_dimensions["A"].width > len(row["business"])
    targets = [cell.hyperlink.target if cell.hyperlink else None for cell in sheet[2]]
    assert targets == [None, row["website"], "mailto:info@molar.fi", row["source"], *[None] * 5]
    assert (sheet["H2"].value, sheet["H2"].is_date) == (datetime(2026, 11, 17), True)  # noqa: DTZ001
    assert (sheet["I2"].value, sheet["I2"].is_date) == ("2026-11-17", False)  # no column of days
    assert (sheet["E2"].value, sheet["E2"].is_date) == (datetime(2026, 11, 16), True)  # noqa: DTZ001 - a workbook knows no time zones
    assert sheet["F2"].value == datetime(2026, 11, 16, 10, 30)  # noqa: DTZ001 - 12:30 in Helsinki
    assert sheet["F2"].number_format == "yyyy-mm-dd hh:mm:ss"


@pytest.mark.parametrize(
    "text",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://x.fi/ y",
        'https://x.fi/"',
        "\\\\host\\x",
        "=a@b.fi",
        "a@b.fi?cc=c@d.fi",
    ],
)
def test_what_is_no_plain_address_is_no_link(text):
    assert link_of("website", text) is None
    assert link_of("email", text) is None


async def test_a_workbook_has_no_more_links_than_excel_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "MAX_LINKS", 3)
    monkeypatch.setattr(workbook, "MEASURED_ROWS", 2)
    with LeadFile(tmp_path / "leads.xlsx", ["website"]) as file:
        await file.write(_some([{"website": f"https://site{n}.fi/"} for n in range(5)]))
    sheet = sheet_of(tmp_path / "leads.xlsx")
    assert [bool(cell.hyperlink) for (cell,) in sheet.iter_rows(min_row=2)] == [True, True, True, False, False]


@pytest.mark.parametrize("ending", WRITERS)
async def test_an_empty_file_has_a_header_and_one_that_is_given_up_says_nothing(tmp_path, monkeypatch, ending):
    said: list[Any] = []
    monkeypatch.setattr(workbook, "MEASURED_ROWS", 1)
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    LeadFile(tmp_path / f"given-up{ending}", COLUMNS).discard()
    with pytest.raises(RuntimeError), LeadFile(tmp_path / f"failed{ending}", COLUMNS) as failed:
        await failed.write(rows(fail=True))
    with LeadFile(tmp_path / f"leads{ending}", COLUMNS) as file:
        assert await file.write(_some([])) == 0
    del failed, file
    gc.collect()
    assert said == []
    assert [path.name for path in tmp_path.iterdir()] == [f"leads{ending}"]
    if ending == ".xlsx":
        assert [cell.value for cell in sheet_of(tmp_path / "leads.xlsx")[1]] == COLUMNS


async def _some(found):
    for row in found:
        yield row


def test_the_page_about_leads_names_every_column():
    page = (ROOT / "docs" / "leads.md").read_text()
    for columns in (BUSINESS_COLUMNS, CONTACT_COLUMNS):
        for name, meaning in columns.items():
            assert f"| {name} | {meaning.replace('|', chr(92) + '|')} |" in page


@pytest.mark.parametrize("ending", ["csv", "jsonl", "xlsx", "parquet"])
async def test_a_partial_file_is_private_and_has_a_name_that_nobody_can_guess(tmp_path, ending):
    names = set()
    for _ in range(2):
        with LeadFile(tmp_path / f"leads.{ending}", COLUMNS):
            (partial,) = tmp_path.iterdir()
            assert stat.S_IMODE(partial.stat().st_mode) == 0o600
            names.add(partial.name)
    assert len(names) == 2
    assert all(len(name) > 32 for name in names)


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600)])
async def test_a_whole_file_has_the_mode_of_any_new_file(tmp_path, mask, expected):
    before = os.umask(mask)
    try:
        path = await written(tmp_path / "leads.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == expected


async def test_a_replaced_file_keeps_its_mode(tmp_path):
    (tmp_path / "leads.csv").touch()
    (tmp_path / "leads.csv").chmod(0o640)
    path = await written(tmp_path / "leads.csv")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("sign", sorted(CHECKED))
def test_a_text_that_is_checked_is_found_in_any_cell_of_a_row(sign):
    for position in range(3):
        cells = ["a", 1, None]
        cells.insert(position, f"{sign}1")
        assert may_have_formula(cells)


def test_a_row_without_such_a_text_is_written_as_it_is():
    assert not may_have_formula(["a=1+1", "x@example.com", "", None, -5])
