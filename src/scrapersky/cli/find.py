"""`scrapersky find`: from a search to a file of contacts, with one command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scrapersky.cli.finding.repeat_options import RepeatPart, with_repeats
from scrapersky.cli.finding.where_options import WherePart, with_where
from scrapersky.cli.shared.application import run_async
from scrapersky.cli.shared.lead_options import (
    FILE_HELP,
    ColumnNames,
    FilterOptions,
    FormatName,
    LeadOptions,
    SortKeys,
    with_lead_filters,
)
from scrapersky.cli.shared.options import (
    DEFAULT_TENANT,
    FILE_PANEL,
    SEARCH_PANEL,
    SITES_PANEL,
    Budget,
    PhoneFormatName,
    PreferredFunctions,
    ProviderName,
    QueryFile,
    SearchName,
    SiteFile,
    TenantName,
)
from scrapersky.core.errors import Unavailable

if TYPE_CHECKING:
    from scrapersky.cli.finding.request import FindRequest

IDLE_TIMEOUT_SECONDS = 45.0
EXIT_DATABASE = 5
BrowserSwitch = Annotated[
    bool,
    typer.Option(help="Let a browser read sites that hide, where CRAWL_BROWSER is set.", rich_help_panel=SITES_PANEL),
]
IdleSeconds = Annotated[
    float, typer.Option(min=0, help="Seconds to wait for postponed rows while nothing else is processed.")
]
SiteSearchSwitch = Annotated[
    bool,
    typer.Option(
        "--site-search/--no-site-search",
        help="Look for web sites that the provider does not know.",
        rich_help_panel=SITES_PANEL,
    ),
]
Notified = Annotated[
    str | None,
    typer.Option(metavar="DESTINATION", help="Name or URL of a webhook or n8n destination that is sent the end of it."),
]
OutFile = Annotated[Path, typer.Option("--out", "-o", help=FILE_HELP, rich_help_panel=FILE_PANEL)]
MaxPlaces = Annotated[int | None, typer.Option(min=1, help="Maximum number of places.", rich_help_panel=SEARCH_PANEL)]
MaxPages = Annotated[
    int, typer.Option(min=1, max=1000, help="Maximum number of pages per site.", rich_help_panel=SEARCH_PANEL)
]
RowKind = Annotated[
    Literal["business", "contact"], typer.Option(help="What one row of the file is.", rich_help_panel=FILE_PANEL)
]
Refresh = Annotated[
    bool,
    typer.Option("--refresh", help="Search again, also if the search was completed.", rich_help_panel=SEARCH_PANEL),
]


@with_lead_filters
@with_where
@with_repeats
def find(
    search: Annotated[list[str] | None, typer.Argument(help="What to find and where: dentists in Helsinki.")] = None,
    domains: SiteFile = None,
    queries: QueryFile = None,
    name: SearchName = None,
    provider: ProviderName = None,
    limit: MaxPlaces = None,
    max_pages_per_site: MaxPages = 5,
    budget: Budget = None,
    refresh: Refresh = False,
    browser: BrowserSwitch = True,
    site_search: SiteSearchSwitch = True,
    out: OutFile = Path("leads.csv"),
    per: RowKind = "business",
    prefer: PreferredFunctions = None,
    columns: ColumnNames = None,
    sort: SortKeys = None,
    form: FormatName = None,
    phone_format: PhoneFormatName = None,
    idle_timeout: IdleSeconds = IDLE_TIMEOUT_SECONDS,
    notify: Notified = None,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON document.")] = False,
    *,
    filters: FilterOptions,
    where: WherePart,
    repeats: RepeatPart,
) -> None:
    """Find contacts: process one search from the provider to the verified addresses, and write the file.

    Ctrl-C stops it at any time: nothing is lost, and the same command continues where it stopped.

    Example: scrapersky find dentists in Helsinki --out leads.csv

    Example: scrapersky find --domains sites.txt --out leads.xlsx

    Example: scrapersky find --queries towns.csv --budget 20 --every 1w --out leads.csv

    Filters of leads choose the rows of the file; the search stays the same. Only --country is both: a search with one
    country finds its town there (--in Springfield --country US). --language is the language of web sites,
    --place-language that of names of places.

    Rows may be postponed: a site limits requests, a quota is reached, the budget is spent. The command prints why, and
    ends after --idle-timeout seconds without progress; the same command continues later.

    Exit codes: 0 contacts were found, 1 none were, 2 wrong usage or setting, 3 none yet, but rows are postponed, 4 the
    provider refused or failed (key, budget, unknown area), 5 no database, 6 the area is ambiguous, 130 Ctrl-C.
    """
    from scrapersky.cli.finding.request import FindRequest, keep_given_files, parse_any

    keep_given_files(out, domains, queries)
    leads = LeadOptions(out, per, prefer, phone_format, filters, columns, sort, form)
    asked = (search, where, domains, provider, limit, max_pages_per_site, budget, browser, site_search)
    request = FindRequest(
        *parse_any(queries, name, *asked), leads, tenant, refresh, idle_timeout, name, repeats, notify
    )
    raise typer.Exit(_run(request, as_json))


def _run(request: "FindRequest", as_json: bool) -> int:
    """Run the search; return the exit code."""
    from scrapersky.cli.finding.run import run_find
    from scrapersky.cli.finding.summary import exit_code

    try:
        return exit_code(run_async(run_find(request, as_json)))
    except Unavailable as error:
        typer.secho(f"{error.title} {error}", err=True, fg="red")
        return EXIT_DATABASE
