"""Reads the rows of a CSV, JSON or JSONL file of businesses, with their lines and our column names."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from scrapersky.core import strict_json
from scrapersky.core.contact_fields import ImportColumn
from scrapersky.extract.tabular.headers import Headers
from scrapersky.extract.tabular.lines import UnusableTable
from scrapersky.extract.tabular.rows import TableRow, read_objects, read_table
from scrapersky.providers.base import ProviderRefused

MAX_JSON_BYTES = 100_000_000  # it is read as a whole

PROFILES = {"linkedin": "LinkedIn", "facebook": "Facebook", "twitter": "X", "instagram": "Instagram"}
# Our columns, and the headers that mean them.
COLUMNS = {
    "id": ImportColumn("its id in the file", "", "business id, place id, google id, cid, record id, account id"),
    "name": ImportColumn(
        "name of the business; needed",
        "business, business name, company, company name, firma, nimi, nom, nombre, nome",
        "account name, organization, organization name, organization - name, organization 1 - name, title",
    ),
    "website": ImportColumn(
        "URL of its web site",
        "web, site, homepage, web site, www, sitio web, sito, webseite, kotisivu",
        "website url, company website, organization - website, website 1 - value, url, domain, company domain name, "
        "company domain, domain name",
    ),
    "phone": ImportColumn(
        "telephone number; with the country, national ones are understood",
        "telephone, tel, phone number, telefon, puhelin, téléphone, teléfono, telefono, telefone",
        "company phone, corporate phone, work phone, organization - phone, phone 1, phone 1 - value, mobile, "
        "mobile phone, phone 2",
    ),
    "email": ImportColumn(
        "email addresses, separated by semicolons",
        "e-mail, mail, email address, sähköposti, correo",
        "email 1, e-mail 1 - value, email 2, e-mail 2 - value, email 3, company email",
        is_joined=True,
    ),
    "address": ImportColumn(
        "postal address on one line",
        "full address, formatted address, adresse, osoite, dirección, indirizzo, endereço",
        "company address, organization - address, address 1 - formatted",
    ),
    "street": ImportColumn(
        "street and number",
        "street address, address 1, address line 1, strasse, straße, katu, rue, calle, via, rua",
        "billing street, company street, mailing street, address 1 - street",
    ),
    "city": ImportColumn(
        "city",
        "town, locality, ort, stadt, kaupunki, ville, ciudad, città, cidade",
        "billing city, company city, mailing city, address 1 - city",
    ),
    "region": ImportColumn(
        "state, county or province",
        "bundesland, région, provincia, estado",
        "state, state/region, state/province, us state, billing state/province, billing state, company state, "
        "mailing state/province, mailing state, address 1 - region, province, county",
    ),
    "postcode": ImportColumn(
        "postal code",
        "postal code, zip, zip code, zipcode, plz, postinumero, code postal, código postal, cap, cep",
        "zip/postal code, billing zip/postal code, billing postal code, company postal code, "
        "mailing zip/postal code, mailing postal code, address 1 - postal code",
    ),
    "country": ImportColumn(
        "country: its code of two or three letters, or its name in English or its own language",
        "land, maa, pays, país, paese",
        "country code, country/region, billing country, company country, mailing country, address 1 - country",
    ),
    "latitude": ImportColumn("degrees north", "lat, y"),
    "longitude": ImportColumn("degrees east", "lon, lng, long, x"),
    "category": ImportColumn(
        "what kind of business it is, separated by semicolons",
        "categories, branche, toimiala, catégorie, categoría, categoria",
        "type, types, subtypes, industry",
    ),
    "rating": ImportColumn("rating, 0 to 10", "stars, score"),
    "rating_count": ImportColumn(
        "number of ratings", "rating count, review count, number of reviews", "reviews, reviews count"
    ),
    "person": ImportColumn(
        "name of a person there; the first email address is theirs", "contact name, contact person", "email 1 full name"
    ),
    "person_title": ImportColumn("job title of that person", "contact title", "email 1 title"),
    **{
        name: ImportColumn(
            f"profile at {label}", "", f"company {name} url, company {name}, {name} url, {name} company page"
        )
        for name, label in PROFILES.items()
    },
    "status": ImportColumn("whether it is open for business", "", "business status"),
}
HEADERS = Headers(COLUMNS)


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
        values = {field: cell.text for field, cell in HEADERS.cells(row.values).items()}
        if row.values and not is_checked:
            if not any(HEADERS.field_of(column) == "name" for column in row.values):
                known = ", ".join(COLUMNS)
                raise ProviderRefused(f"{path} has no column for the name in its first row. Columns are {known}.")
            is_checked = True
        yield TableRow(row.line, values, row.error)
