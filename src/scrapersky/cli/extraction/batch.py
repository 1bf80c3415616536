"""Contacts of many pages: JSON lines in, JSON lines out, in the same order; a bad line does not affect the others."""

import asyncio
import json
from pathlib import Path
from typing import Any

from scrapersky.cli.extraction.source import PRELOAD, BadPage, check_region, read_page
from scrapersky.core.errors import ScraperSkyError
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.parser_pool.pool import ParserPool
from scrapersky.extract.results import Contacts

PROCESSES = 2
CHUNK = 8  # pages processed at a time
FIELDS = ("site", "page", "file", "url", "region")


async def run_batch(source: Path, target: Path, region: str | None) -> tuple[int, int]:
    """Extract every page; return the numbers of pages and of failures. A failed line has the reason as `error`."""
    lines = _read_lines(source)
    failed = 0
    try:
        output = target.open("w", encoding="utf-8")
    except OSError as error:
        raise BadPage(f"{target} cannot be written: {error.strerror or error}.") from None
    with output:
        async with ParserPool(size=PROCESSES, preload=PRELOAD) as pool:
            for start in range(0, len(lines), CHUNK):
                chunk = lines[start : start + CHUNK]
                results = await asyncio.gather(*(_extract(*line, source.parent, region, pool) for line in chunk))
                for result in results:
                    failed += "error" in result
                    output.write(json.dumps(result, ensure_ascii=False) + "\n")
    return len(lines), failed


def _read_lines(source: Path) -> list[tuple[int, str]]:
    try:
        text = source.read_text("utf-8")
    except FileNotFoundError:
        raise BadPage(f"{source} is not a file. Check the name.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadPage(f"{source} cannot be read: {error}.") from None
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


async def _extract(number: int, line: str, folder: Path, region: str | None, pool: ParserPool) -> dict[str, Any]:
    row = dict.fromkeys(FIELDS, "")
    try:
        row = _parse(line)
        html = read_page(_path(row["file"], folder))
        page_region = check_region(row["region"]) or region
        contacts = await pool.run(read_contacts, html, url=row["url"], region=page_region)
    except ScraperSkyError as error:
        return {**_result(row, Contacts()), "error": f"line {number}: {error}"}
    return _result(row, contacts)


def _parse(line: str) -> dict[str, str]:
    try:
        given = json.loads(line)
    except ValueError as error:
        raise BadPage(f"This line is not JSON: {error}.") from None
    if not isinstance(given, dict) or not isinstance(given.get("file"), str):
        raise BadPage("A line needs an object with site, page and file.")
    return {name: str(given.get(name) or "") for name in FIELDS}


def _path(file: str, folder: Path) -> Path:
    """Return the path relative to the batch file if it exists, else relative to the working directory."""
    beside = folder / file
    return beside if beside.exists() else Path(file)


def _result(row: dict[str, str], contacts: Contacts) -> dict[str, Any]:
    socials: dict[str, list[str]] = {}
    for social in contacts.socials:
        socials.setdefault(social.platform, []).append(social.url)
    return {
        "site": row["site"],
        "page": row["page"],
        "emails": [email.address for email in contacts.emails],
        "phones": [phone.number for phone in contacts.phones if phone.kind != "fax"],
        "socials": socials,
        "people": [
            {"name": one.name, "title": one.title, "email": one.email, "phone": one.phone} for one in contacts.people
        ],
    }
