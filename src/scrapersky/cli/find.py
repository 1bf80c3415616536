"""`scrapersky find`: from a search to a file of people one can write to, by one command."""

from pathlib import Path
from typing import Annotated

import typer

from scrapersky.cli.finding.idle_timeout import DEFAULT_SECONDS
from scrapersky.core.errors import Unavailable
from scrapersky.providers.registry import DECLARED, DEFAULT_PROVIDER


def find(
    search: Annotated[str | None, typer.Argument(help='What to look for and where: "dentists in Helsinki".')] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file: .csv, .xlsx, .jsonl or .parquet.")] = Path(
        "leads.csv"
    ),
    area: Annotated[str | None, typer.Option("--in", help="The place, if the search does not say it.")] = None,
    domains: Annotated[
        Path | None, typer.Option(help="Begin with the web sites in this file: one a line, or a table that names them.")
    ] = None,
    provider: Annotated[
        str | None, typer.Option(help=f"The provider: {', '.join(DECLARED)}.", show_default=DEFAULT_PROVIDER)
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Places at most.")] = None,
    max_pages_per_site: Annotated[int, typer.Option(min=1, max=1000, help="Pages read on each site at most.")] = 5,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="What the provider may cost, in its money.", show_default="twice the estimate"),
    ] = None,
    per: Annotated[str, typer.Option(help="One row per `business` or per `contact`.")] = "business",
    refresh: Annotated[bool, typer.Option("--refresh", help="Search again although it was done before.")] = False,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for rows that pause, when there is nothing else to do.")
    ] = DEFAULT_SECONDS,
    tenant: Annotated[str, typer.Option(help="Whose search it is.")] = "default",
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Find people one can write to: run the whole line for one search and write the file.

    Stop it with Ctrl-C whenever you like: nothing is lost, and the same command goes on where it stopped.

    Example: scrapersky find "dentists in Helsinki" --out leads.csv

    Example: scrapersky find --domains sites.txt --out leads.xlsx

    Rows may pause: a site wants to be left alone, a quota is used up, money is missing. What is waited for is said, and
    until when. --patience is the time that may pass without any row going on; when all that is left waits for longer,
    it ends at once, and the same command goes on later.

    Exit codes: 0 contacts were found, 1 none were, 2 wrong usage or setting, 3 none were yet, but rows are left that
    wait, 4 the provider refused or failed (key, budget, an area it does not know), 5 the database is away, 130 stopped
    by Ctrl-C.
    """
    import uvloop

    from scrapersky.cli.finding.outcome import DATABASE_AWAY, code_of
    from scrapersky.cli.finding.request import FindRequest
    from scrapersky.cli.finding.run import run_find

    if per not in ("business", "contact"):
        raise typer.BadParameter("--per is business or contact.")
    wish = FindRequest.of(search, area, domains, provider, limit, max_pages_per_site, budget)
    try:
        summary = uvloop.run(run_find(wish, out, per, tenant, refresh, json, patience))
    except Unavailable as error:
        typer.secho(f"{error.title} {error}", err=True, fg="red")
        raise typer.Exit(DATABASE_AWAY) from None
    raise typer.Exit(code_of(summary))
