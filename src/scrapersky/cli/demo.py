"""`scrapersky demo`: the whole line on a little internet of its own, and how much of the truth it found."""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer


def demo(
    search: Annotated[str, typer.Argument(help="What to look for in the sandbox.")] = "dentists in Helsinki",
    seed: Annotated[int, typer.Option(help="The number the little internet is made from.")] = 2026,
    businesses: Annotated[int, typer.Option(min=20, max=50_000, help="How many businesses it has.")] = 400,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep the file of leads here.")] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Keep the API up afterwards, until Ctrl-C.")] = False,
    engine: Annotated[bool, typer.Option("--engine", help="Show the engine alone, on parcels.")] = False,
    rows: Annotated[int, typer.Option(min=1, max=200_000, help="With --engine: how many parcels.")] = 3000,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """See it work: a search goes in, a file of people comes out, on a little internet with known truth.

    Starts a PostgreSQL in a temporary directory and a sandbox of invented businesses with their web sites on this
    machine; needs no network, cleans up behind itself.

    Example: scrapersky demo "restaurants in Turku" --out leads.csv

    Example: scrapersky demo --engine --rows 10000

    Exit codes: 0 it went well, 1 nothing was found or a row is not accounted for.
    """
    from scrapersky.cli.demonstration.engine import show_engine
    from scrapersky.cli.demonstration.pipeline import show_line

    home = Path(tempfile.mkdtemp(prefix="scrapersky-demo-"))
    home.chmod(0o755)  # the server may run as a user of its own, and has its own closed directory in here
    # Before the server's own farewell is registered, so after it happens: last come, first gone.
    atexit.register(shutil.rmtree, home)
    if engine:
        went_well = show_engine(home, rows, as_json)
    else:
        went_well = show_line(home, search, seed, businesses, out, serve, as_json)
    raise typer.Exit(0 if went_well else 1)
