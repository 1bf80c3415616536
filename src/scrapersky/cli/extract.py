"""`scrapersky extract FILE|URL`: whom to write to, as one page says it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from scrapersky.cli.extraction.batch import run_batch
from scrapersky.cli.extraction.source import BadPage, checked_region, fetched, is_url, page_in
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.crawl.errors import FetchError
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.parser_pool.pool import ParserPool
from scrapersky.extract.results import Contacts

# 2 is wrong usage, a wrong setting or an unreadable page, as everywhere.
EXIT_NONE, EXIT_FAILED, EXIT_PARTIAL = 1, 3, 4
PRELOAD = ("scrapersky.extract.contacts",)


def extract(
    target: Annotated[str | None, typer.Argument(help="A page: a file, or an address with http(s)://.")] = None,
    url: Annotated[
        str, typer.Option("--url", help="Where FILE was fetched: says which domain is the site's own.")
    ] = "",
    region: Annotated[str, typer.Option("--region", help="Two letters of the country whose numbers it writes.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with rejected values.")] = False,
    batch: Annotated[Path | None, typer.Option(help="JSON lines {site, page, file, url?, region?} to read.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the JSON lines of --batch are written.")] = None,
) -> None:
    """Print the emails, phones, socials, people and addresses of a page.

    Exit codes: 0 contacts, 1 none, 2 wrong usage or unreadable page, 3 page cannot be had, 4 part of a batch failed.
    """
    settings = load(Environment())
    configure_logs(settings)
    if batch is not None or out is not None:
        if batch is None or out is None or target is not None:
            raise BadPage("Use --batch IN.jsonl together with --out OUT.jsonl and without a page.")
        count, failed = uvloop.run(run_batch(batch, out, checked_region(region)))
        typer.echo(f"{count} pages read, {failed} failed: {out}", err=True)
        raise typer.Exit(EXIT_PARTIAL if failed else 0)
    if target is None:
        raise BadPage("Name a file or an address, or use --batch.")
    try:
        contacts, where = uvloop.run(_contacts(settings, target, url, checked_region(region)))
    except FetchError as error:
        typer.echo(f"{error.title} {error.reason}", err=True)
        raise typer.Exit(EXIT_FAILED) from None
    typer.echo(json.dumps({"url": where, **_plain(contacts)}, ensure_ascii=False) if as_json else _told(contacts))
    raise typer.Exit(0 if contacts else EXIT_NONE)


async def _contacts(settings: Settings, target: str, url: str, region: str | None) -> tuple[Contacts, str]:
    if is_url(target):
        html, where = await fetched(settings, target)
        where = url or where
    else:
        html, where = page_in(Path(target)), url
    async with ParserPool(size=1, preload=PRELOAD) as pool:
        return await pool.run(read_contacts, html, url=where, region=region), where


def _plain(contacts: Contacts) -> dict[str, object]:
    return {**asdict(contacts), "cut": sorted(contacts.cut)}


def _told(contacts: Contacts) -> str:
    """The contacts as lines a person reads."""
    lines = [f"email    {email.address}  ({email.kind}, {email.how})" for email in contacts.emails]
    lines += [f"{phone.kind:<8} {phone.number}  ({phone.region}, {phone.how})" for phone in contacts.phones]
    lines += [f"social   {social.url}" for social in contacts.socials]
    for person in contacts.people:
        more = ", ".join(part for part in (person.title, person.email, person.phone) if part)
        lines.append(f"person   {person.name}" + (f"  ({more})" if more else ""))
    lines += [f"address  {address.text}" for address in contacts.addresses]
    lines += [f"not      {one.value}  ({one.reason})" for one in contacts.rejected]
    if contacts.cut:
        lines.append(f"cut      the page has more {', '.join(sorted(contacts.cut))} than are read")
    return "\n".join(lines) if contacts else "\n".join(["No contact found.", *lines])
