"""The rows of a file of businesses: CSV, JSON or JSONL, whatever its encoding and delimiter, each with its line."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapersky.crawl.charset import decode
from scrapersky.extract.text import fold
from scrapersky.providers.place import ProviderRefused

LARGEST_BYTES = 100_000_000
LONGEST_LINE = 1_000_000
DELIMITERS = ",;\t|"
CELL_LIMIT = 131_072  # what the csv module takes

# What people call the columns.
COLUMNS = {
    "name": "name, business, business name, company, company name, firma, nimi, nom, nombre, nome, title",
    "website": "website, web, url, site, homepage, web site, domain, www, sitio web, sito, webseite, kotisivu",
    "phone": "phone, telephone, tel, phone number, mobile, telefon, puhelin, téléphone, teléfono, telefono, telefone",
    "email": "email, e-mail, mail, email address, sähköposti, correo",
    "address": "address, full address, formatted address, adresse, osoite, dirección, indirizzo, endereço",
    "street": "street, street address, address 1, address line 1, strasse, straße, katu, rue, calle, via, rua",
    "city": "city, town, locality, ort, stadt, kaupunki, ville, ciudad, città, cidade",
    "region": "region, state, province, county, bundesland, région, provincia, estado",
    "postcode": "postcode, postal code, zip, zip code, zipcode, plz, postinumero, code postal, código postal, cap, cep",
    "country": "country, country code, land, maa, pays, país, paese",
    "latitude": "latitude, lat, y",
    "longitude": "longitude, lon, lng, long, x",
    "category": "category, categories, type, types, branche, toimiala, catégorie, categoría, categoria",
    "rating": "rating, stars, score",
    "rating_count": "rating count, reviews, review count, number of reviews",
    "status": "status, business status",
}


def _key(name: str) -> str:
    return " ".join(fold(name).replace("_", " ").replace("-", " ").split())


_NAMES = {_key(written): column for column, names in COLUMNS.items() for written in names.split(",")}


@dataclass(frozen=True, slots=True)
class Row:
    """One row by our names for its columns; `trouble` says why it cannot be used."""

    line: int
    values: Mapping[str, str]
    trouble: str = ""


def read_rows(path: Path) -> Iterator[Row]:
    """Every row of the file; ProviderRefused when the file itself cannot be read."""
    text = _text(path)
    ending = path.suffix.lower()
    if ending in (".jsonl", ".ndjson"):
        yield from _jsonl(text)
    elif ending == ".json" or text.lstrip()[:1] in ("[", "{"):
        yield from _json(path, text)
    else:
        yield from _csv(path, text)


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            raise ProviderRefused(f"{path} is larger than {LARGEST_BYTES // 1_000_000} MB; split it.")
        return decode(path.read_bytes(), "").text.removeprefix("\ufeff").replace("\x00", "")
    except OSError as error:
        raise ProviderRefused(f"{path} cannot be read: {error.strerror}. Check PROVIDER_FILE_PATH.") from None


def _csv(path: Path, text: str) -> Iterator[Row]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=first[:10_000].count)
    reader = csv.reader(_short_lines(text), delimiter=delimiter)
    names: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield Row(line, {}, f"cannot be read: {error}")
            continue
        if cells is None:
            break
        if not any(cell.strip() for cell in cells):
            continue
        if not names:
            names = [_NAMES.get(_key(cell), "") for cell in cells]
            if "name" not in names:
                known = ", ".join(COLUMNS)
                raise ProviderRefused(f"{path} has no column for the name in its first line. Columns are {known}.")
            continue
        values = {name: cell for name, cell in zip(names, cells, strict=False) if name and cell.strip()}
        too_many = any(cell.strip() for cell in cells[len(names) :])
        yield Row(line, values, f"has {len(cells)} cells for {len(names)} columns" if too_many else "")


def _short_lines(text: str) -> Iterator[str]:
    """The lines, those too long replaced by one that cannot be read: a broken quote shall not eat the file."""
    for line in io.StringIO(text, newline=""):
        yield line if len(line) <= LONGEST_LINE else "x" * (CELL_LIMIT + 1) + "\n"


def _jsonl(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        if len(line) > LONGEST_LINE:
            yield Row(number, {}, f"is longer than {LONGEST_LINE} characters")
            continue
        try:
            yield _object(number, json.loads(line))
        except (ValueError, RecursionError):
            yield Row(number, {}, "is no JSON")


def _json(path: Path, text: str) -> Iterator[Row]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProviderRefused(f"{path} is no JSON: {str(error)[:100]}.") from None
    rows = (
        next((value for value in found.values() if isinstance(value, list)), []) if isinstance(found, dict) else found
    )
    if not isinstance(rows, list):
        raise ProviderRefused(f"{path} holds no list of businesses.")
    for number, row in enumerate(rows, 1):
        yield _object(number, row)


def _object(number: int, row: Any) -> Row:
    if not isinstance(row, dict):
        return Row(number, {}, "is no object")
    values = {}
    for name, value in row.items():
        column = _NAMES.get(_key(str(name)))
        if column and value not in (None, "", []):
            values[column] = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
    return Row(number, values)
