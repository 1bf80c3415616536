"""Reads the rows of a CSV, JSON or JSONL file of businesses, with their lines and our column names."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from scrapersky.core import strict_json
from scrapersky.extract.tabular.lines import UnusableTable
from scrapersky.extract.tabular.rows import TableRow, read_objects, read_table
from scrapersky.extract.text import fold
from scrapersky.providers.base import ProviderRefused

MAX_JSON_BYTES = 100_000_000  # it is read as a whole

# Our columns, and the headers that mean them.
COLUMNS = {
    "id": "id, business id, place id",
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


def read_rows(path: Path) -> Iterator[TableRow]:
    """Yield every row; raise ProviderRefused if the file cannot be read."""
    try:
        with path.open("rb") as stream:
            yield from _named(path, _rows(path, stream))
    except OSError as error:
        raise ProviderRefused(f"{path} cannot be read: {error.strerror}. Check PROVIDER_FILE_PATH.") from None
    except UnusableTable as error:
        raise ProviderRefused(f"{path} cannot be used. {error}") from None


def _rows(path: Path, stream: BinaryIO) -> Iterator[TableRow]:
    ending = path.suffix.lower()
    if ending in (".jsonl", ".ndjson"):
        return read_table(stream, "jsonl")
    start = stream.read(100)
    stream.seek(0)
    if ending == ".json" or start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        return read_objects(_list(path, stream))
    return read_table(stream, "csv")


def _list(path: Path, stream: BinaryIO) -> list[Any]:
    text = stream.read(MAX_JSON_BYTES + 1)
    if len(text) > MAX_JSON_BYTES:
        raise ProviderRefused(f"{path} is larger than {MAX_JSON_BYTES // 1_000_000} MB; make it JSONL.")
    try:
        found = strict_json.parse(text)
    except (ValueError, RecursionError) as error:
        raise ProviderRefused(f"{path} is not JSON: {str(error)[:100]}.") from None
    rows = (
        next((value for value in found.values() if isinstance(value, list)), []) if isinstance(found, dict) else found
    )
    if not isinstance(rows, list):
        raise ProviderRefused(f"{path} has no list of businesses.")
    return rows


def _named(path: Path, rows: Iterable[TableRow]) -> Iterator[TableRow]:
    """Rename the columns; raise ProviderRefused if there is no column for the name."""
    is_checked = False
    for row in rows:
        values = {name: value for column, value in row.values.items() if (name := _NAMES.get(_key(column)))}
        if row.values and not is_checked:
            if "name" not in values:
                known = ", ".join(COLUMNS)
                raise ProviderRefused(f"{path} has no column for the name in its first row. Columns are {known}.")
            is_checked = True
        yield TableRow(row.line, values, row.error)
