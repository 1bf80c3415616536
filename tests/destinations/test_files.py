"""Files of leads: four formats, formula-safe, whole or not at all."""

import csv
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from openpyxl import load_workbook

from scrapersky.destinations.files import LeadFile, UnwritableFile, safe_cell
from scrapersky.extract.tabular.rows import read_table
from scrapersky.store.leads.columns import BUSINESS_COLUMNS, CONTACT_COLUMNS
from tests import ROOT

COLUMNS = ["business", "email", "phone", "rating"]
ROWS: list[dict[str, Any]] = [
    {"business": "=cmd|'/c calc'!A1", "email": "info@one.fi", "phone": "+358912345678", "rating": 4.5},
    {"business": "Müller & Söhne, GmbH", "email": None, "phone": None, "rating": None},
]


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
    assert first["phone"] == "+358912345678"
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
    assert second["email"] is None


async def test_xlsx_holds_text_not_formulas(tmp_path):
    path = await written(tmp_path / "leads.xlsx")
    sheet = load_workbook(path).active
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


@pytest.mark.parametrize("value", ["+358401234567", "plain", 4, None])
def test_what_is_harmless_stays(value):
    assert safe_cell(value) == value


def test_the_page_about_leads_names_every_column():
    page = (ROOT / "docs" / "leads.md").read_text()
    for columns in (BUSINESS_COLUMNS, CONTACT_COLUMNS):
        for name, meaning in columns.items():
            assert f"| {name} | {meaning} |" in page


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
