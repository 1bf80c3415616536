"""`scrapersky demo`: the whole pipeline in a sandbox, compared with the truth."""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer


def demo(
    search: Annotated[str, typer.Argument(help="The search in the sandbox.")] = "dentists in Helsinki",
    seed: Annotated[int, typer.Option(help="The seed that the sandbox is generated from.")] = 2026,
    businesses: Annotated[int, typer.Option(min=20, max=50_000, help="Number of businesses in the sandbox.")] = 400,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the leads to this file.")] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the console and the API afterwards, until Ctrl-C.")
    ] = False,
    engine: Annotated[bool, typer.Option("--engine", help="Show the engine alone, with example workflows.")] = False,
    rows: Annotated[int, typer.Option(min=1, max=200_000, help="With --engine: number of rows.")] = 3000,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON document.")] = False,
) -> None:
    """Try it out: run a search in a sandbox of invented businesses and compare the result with the truth.

    Starts a PostgreSQL in a temporary directory and a sandbox of invented businesses with their web sites on this
    machine; needs no network, and removes everything afterwards.

    Example: scrapersky demo "restaurants in Turku" --out leads.csv

    Example: scrapersky demo --engine --rows 10000

    Exit codes: 0 success, 1 nothing was found or a row is missing.
    """
    from scrapersky.cli.demonstration.engine import show_engine
    from scrapersky.cli.demonstration.pipeline import show_pipeline

    home = Path(tempfile.mkdtemp(prefix="scrapersky-demo-"))
    home.chmod(0o755)  # the server may run as another user; its own directory in here is private
    # Exit handlers run in reverse order: the directory is removed after the handler of the server, registered later.
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    if engine:
        succeeded = show_engine(home, rows, as_json)
    else:
        succeeded = show_pipeline(home, search, seed, businesses, out, serve, as_json)
    raise typer.Exit(0 if succeeded else 1)
