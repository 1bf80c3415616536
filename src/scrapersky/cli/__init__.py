"""The command line: one file per word."""

import typer

from scrapersky.cli.fetch import fetch
from scrapersky.cli.sitemap import sitemap
from scrapersky.core.errors import ScraperSkyError

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Turn a search into people you can write to.")
app.command()(fetch)
app.command()(sitemap)


@app.callback()
def scrapersky() -> None:
    """Turn a search into people you can write to."""


def main() -> None:
    """The `scrapersky` command: a known error is a sentence and exit code 2, never a traceback."""
    try:
        app()
    except ScraperSkyError as error:
        typer.secho(f"{error.title} {error}", err=True, fg="red")
        raise SystemExit(2) from None
