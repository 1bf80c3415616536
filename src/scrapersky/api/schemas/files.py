"""Schemas of files: the columns of a CSV file, a workbook, or the members of a line of JSON, with an example."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from scrapersky.store.listing.columns import ColumnMeaning

Columns = Mapping[str, ColumnMeaning]
Tables = Mapping[str, Columns]  # by what the columns are of: a resource, or a value of the query

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_LAYOUTS = {
    "csv": "UTF-8 with a header, then one line per row.",
    "tsv": "The same, separated by tabs.",
    "json": "UTF-8, one array with an object per row.",
    "jsonl": "UTF-8, one JSON object per line.",
    "parquet": "A Parquet file, with numbers as numbers.",
    "xlsx": "A workbook with one sheet: a header, then one row per row.",
}


def file_responses(tables: Tables, *endings: str) -> dict[int | str, dict[str, Any]]:
    """Describe the response of a route that returns a file with these columns in one of these formats."""
    content = {_media_type(ending): {"schema": file_schema(ending, tables)} for ending in endings}
    return {200: {"description": "The file; its name and date are in Content-Disposition.", "content": content}}


def file_schema(ending: str, tables: Tables) -> dict[str, Any]:
    """Return the schema of a file: text, or bytes for a workbook; `x-columns` lists its columns for programs."""
    listed = "\n\n".join(_listed(case, columns) for case, columns in tables.items())
    schema = {
        "type": "string",
        "description": f"{_LAYOUTS[ending]}\n\n{listed}",
        "x-columns": {case: list(columns) for case, columns in tables.items()},
    }
    if ending == "json":
        row = _example_row(tables)
        return {**schema, "type": "array", "items": {"type": "object", "examples": [row]}, "examples": [[row]]}
    if ending in ("xlsx", "parquet"):
        return {**schema, "format": "binary"}
    return {**schema, "contentMediaType": _media_type(ending), "examples": [_example(ending, tables)]}


def _listed(case: str, columns: Columns) -> str:
    return f"Columns of {case}:\n\n" + "\n".join(f"- `{name}`: {column.text}" for name, column in columns.items())


def _media_type(ending: str) -> str:
    return MEDIA_TYPES[ending].partition(";")[0]


def _example(ending: str, tables: Tables) -> str:
    """Return a file of the first table with one row."""
    row = _example_row(tables)
    if ending == "jsonl":
        return json.dumps(row, ensure_ascii=False) + "\n"
    written = io.StringIO()
    csv.writer(written, delimiter="\t" if ending == "tsv" else ",").writerows(
        [row, [_cell(value) for value in row.values()]]
    )
    return written.getvalue()


def _example_row(tables: Tables) -> dict[str, Any]:
    columns = next(iter(tables.values()))
    return {name: column.example for name, column in columns.items() if column.example is not None}


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
