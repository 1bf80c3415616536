"""`scrapersky extract FILE|URL`: the contacts of one page, or of a batch of pages."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scrapersky.cli.shared.application import run_async

if TYPE_CHECKING:
    from scrapersky.extract.people.explain import ExplainedName
    from scrapersky.extract.results import Contacts

# 2 is wrong usage, a wrong setting or an unreadable page, as in all commands.
EXIT_NONE, EXIT_FAILED, EXIT_PARTIAL = 1, 3, 4


def extract(
    target: Annotated[str | None, typer.Argument(help="A page: a file, or a URL with http(s)://.")] = None,
    url: Annotated[str, typer.Option("--url", help="The URL of FILE: its domain is the site's own domain.")] = "",
    region: Annotated[str, typer.Option("--region", help="Country of phone numbers without prefix: FI, US ...")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with rejected values.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every name of the page with the points for and against it.")
    ] = False,
    batch: Annotated[Path | None, typer.Option(help="Read JSON lines {site, page, file, url?, region?}.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the JSON lines of --batch to this file.")] = None,
) -> None:
    """Print the emails, phones, social profiles, people and addresses of a page.

    Example: scrapersky extract https://example.com/team

    Example: scrapersky extract saved.html --url https://example.com/team --explain

    Exit codes: 0 contacts, 1 none, 2 wrong usage or unreadable page, 3 fetching failed, 4 part of a batch failed.
    """
    from scrapersky.cli.extraction.batch import run_batch
    from scrapersky.cli.extraction.source import BadPage, check_region, extract_page
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.settings import Environment, load
    from scrapersky.crawl.errors import FetchError

    settings = load(Environment())
    configure_logs(settings)
    if batch is not None or out is not None:
        if batch is None or out is None or target is not None:
            raise BadPage("Use --batch IN.jsonl together with --out OUT.jsonl and without a page.")
        count, failed = run_async(run_batch(batch, out, check_region(region)))
        typer.echo(f"{count} pages read, {failed} failed: {out}", err=True)
        raise typer.Exit(EXIT_PARTIAL if failed else 0)
    if target is None:
        raise BadPage("Give a file or a URL, or use --batch.")
    try:
        contacts, page_url, names = run_async(extract_page(settings, target, url, check_region(region), explain))
    except FetchError as error:
        typer.echo(f"{error.title} {error.reason}", err=True)
        raise typer.Exit(EXIT_FAILED) from None
    if as_json:
        document = {"url": page_url, **asdict(contacts), "cut": sorted(contacts.cut)}
        if explain:
            document["names"] = [asdict(one) for one in names]
        typer.echo(json.dumps(document, ensure_ascii=False))
    else:
        typer.echo("\n".join([*_lines(contacts), *_explanations(names)]))
    raise typer.Exit(0 if contacts else EXIT_NONE)


def _explanations(names: "list[ExplainedName]") -> list[str]:
    lines = []
    for one in names:
        title = f", {one.title}" if one.title else ""
        lines.append(f"name     {one.name}{title}: {one.score:.2f}, {one.decision}")
        lines += [f"         {value:+.2f} {label}" for label, value in one.points]
        lines.append(f"         <{one.tag}> {one.snippet}")
    return lines


def _lines(contacts: "Contacts") -> list[str]:
    lines = [] if contacts else ["No contact found."]
    lines += [f"email    {email.address}  ({email.kind}, {email.how})" for email in contacts.emails]
    lines += [f"{phone.kind:<8} {phone.number}  ({phone.region}, {phone.how})" for phone in contacts.phones]
    lines += [f"social   {social.url}" for social in contacts.socials]
    for person in contacts.people:
        details = ", ".join(part for part in (person.title, person.email, person.phone) if part)
        lines.append(f"person   {person.name}" + (f"  ({details})" if details else ""))
    lines += [f"address  {address.text}" for address in contacts.addresses]
    lines += [f"rejected {one.value}  ({one.reason})" for one in contacts.rejected]
    if contacts.cut:
        lines.append(f"cut      the page has more {', '.join(sorted(contacts.cut))} than are read")
    return lines
