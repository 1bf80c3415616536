"""Options that say when a search is made again."""

from typing import Annotated

import typer

PANEL = "Again and again"
Every = Annotated[
    str | None,
    typer.Option(
        "--every", metavar="INTERVAL", help="Make it again every 1d, 12h or 2w; 1h at least.", rich_help_panel=PANEL
    ),
]
Cron = Annotated[
    str | None,
    typer.Option(
        "--cron",
        metavar="EXPRESSION",
        help="Make it again at these times: “0 6 * * 1” is every Monday at 6:00.",
        rich_help_panel=PANEL,
    ),
]
TimeZone = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        metavar="NAME",
        help="The time zone of --cron, such as Europe/Helsinki.",
        show_default="UTC",
        rich_help_panel=PANEL,
    ),
]
