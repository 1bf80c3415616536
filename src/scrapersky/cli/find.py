"""`scrapersky find`: from a search to a file of contacts, with one command."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from scrapersky.cli.shared.application import run_async
from scrapersky.cli.shared.options import DEFAULT_TENANT, PhoneFormatName, PreferredFunctions, TenantName
from scrapersky.core.errors import Unavailable

IDLE_TIMEOUT_SECONDS = 45.0
EXIT_DATABASE = 5
DEFAULT_PROVIDER = "openstreetmap"  # that of providers.registry, which is imported when the command runs


def find(
    search: Annotated[str | None, typer.Argument(help='What to find and where: "dentists in Helsinki".')] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file: .csv, .xlsx, .jsonl or .parquet.")] = Path(
        "leads.csv"
    ),
    area: Annotated[str | None, typer.Option("--in", help="The area, if the search does not contain it.")] = None,
    domains: Annotated[
        Path | None, typer.Option(help="Start with the web sites in this file: one per line, or a table.")
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(help="The provider; an unknown name lists those configured.", show_default=DEFAULT_PROVIDER),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of places.")] = None,
    max_pages_per_site: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of pages per site.")] = 5,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="Maximum cost, in the provider's currency.", show_default="twice the estimate"),
    ] = None,
    per: Annotated[Literal["business", "contact"], typer.Option(help="What one row of the file is.")] = "business",
    prefer: PreferredFunctions = None,
    phone_format: PhoneFormatName = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Search again, also if the search was completed.")] = False,
    idle_timeout: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for postponed rows while nothing else is processed.")
    ] = IDLE_TIMEOUT_SECONDS,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON document.")] = False,
) -> None:
    """Find contacts: process one search from the provider to the verified addresses, and write the file.

    Ctrl-C stops it at any time: nothing is lost, and the same command continues where it stopped.

    Example: scrapersky find "dentists in Helsinki" --out leads.csv

    Example: scrapersky find --domains sites.txt --out leads.xlsx

    Rows may be postponed: a site limits requests, a quota is reached, the budget is spent. The command prints the
    reason and the time. --idle-timeout is the time that may pass without any progress; if all remaining rows are
    postponed for longer, the command ends at once, and the same command continues later.

    Exit codes: 0 contacts were found, 1 none were, 2 wrong usage or setting, 3 none yet, but rows are postponed, 4 the
    provider refused or failed (key, budget, unknown area), 5 the database is unavailable, 130 stopped by Ctrl-C.
    """
    from scrapersky.cli.finding.request import FindRequest, parse_search
    from scrapersky.cli.finding.run import run_find
    from scrapersky.cli.finding.summary import exit_code

    search_request, sites = parse_search(search, area, domains, provider, limit, max_pages_per_site, budget)
    request = FindRequest(search_request, sites, out, per, tenant, refresh, idle_timeout, phone_format, prefer)
    try:
        summary = run_async(run_find(request, as_json))
    except Unavailable as error:
        typer.secho(f"{error.title} {error}", err=True, fg="red")
        raise typer.Exit(EXIT_DATABASE) from None
    raise typer.Exit(exit_code(summary))
