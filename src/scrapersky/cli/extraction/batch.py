"""Many pages in one go: JSON lines in, JSON lines out, in the same order; a bad line fails alone."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapersky.cli.extraction.source import BadPage, checked_region, page_in
from scrapersky.core.errors import ScraperSkyError
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.parser_pool.pool import ParserPool
from scrapersky.extract.results import Contacts

PROCESSES = 2
AHEAD = 8  # pages under way at a time


@dataclass(frozen=True)
class Row:
    """One line of the batch."""

    number: int
    site: str
    page: str
    file: str
    url: str
    region: str


async def run_batch(source: Path, target: Path, region: str | None) -> tuple[int, int]:
    """Read every page of the batch; (pages, failures). A failed line carries its reason as `error`."""
    lines = _lines(source)
    count = failed = 0
    try:
        output = target.open("w", encoding="utf-8")
    except OSError as error:
        raise BadPage(f"{target} cannot be written: {error.strerror or error}.") from None
    with output:
        async with ParserPool(size=PROCESSES, preload=("scrapersky.extract.contacts",)) as pool:
            async for answer in _answers(lines, source.parent, region, pool):
                count += 1
                failed += "error" in answer
                output.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return count, failed


def _lines(source: Path) -> list[tuple[int, str]]:
    try:
        text = source.read_text("utf-8")
    except FileNotFoundError:
        raise BadPage(f"{source} is not a file. Check the name.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadPage(f"{source} cannot be read: {error}.") from None
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


async def _answers(
    lines: list[tuple[int, str]], folder: Path, region: str | None, pool: ParserPool
) -> AsyncIterator[dict[str, Any]]:
    """The answers in the order of the lines, a few pages ahead of the one that is written."""
    for start in range(0, len(lines), AHEAD):
        batch = lines[start : start + AHEAD]
        for answer in await asyncio.gather(*(_answer(number, line, folder, region, pool) for number, line in batch)):
            yield answer


async def _answer(number: int, line: str, folder: Path, region: str | None, pool: ParserPool) -> dict[str, Any]:
    row = Row(number, "", "", "", "", "")
    try:
        row = _row(number, line)
        html = page_in(_place(row.file, folder))
        contacts = await pool.run(read_contacts, html, url=row.url, region=checked_region(row.region) or region)
    except ScraperSkyError as error:
        return {**_written(row, Contacts()), "error": f"line {number}: {error}"}
    return _written(row, contacts)


def _row(number: int, line: str) -> Row:
    try:
        given = json.loads(line)
    except ValueError as error:
        raise BadPage(f"This line is not JSON: {error}.") from None
    if not isinstance(given, dict) or not isinstance(given.get("file"), str):
        raise BadPage("A line needs an object with site, page and file.")
    fields = (str(given.get(name) or "") for name in ("site", "page", "file", "url", "region"))
    return Row(number, *fields)


def _place(file: str, folder: Path) -> Path:
    """Beside the batch file, or below where the command runs."""
    beside = folder / file
    return beside if beside.exists() else Path(file)


def _written(row: Row, contacts: Contacts) -> dict[str, Any]:
    socials: dict[str, list[str]] = {}
    for social in contacts.socials:
        socials.setdefault(social.platform, []).append(social.url)
    return {
        "site": row.site,
        "page": row.page,
        "emails": [email.address for email in contacts.emails],
        "phones": [phone.number for phone in contacts.phones if phone.kind != "fax"],
        "socials": socials,
        "people": [{"name": person.name, "title": person.title} for person in contacts.people],
    }
