"""Options and arguments that several commands have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

DEFAULT_PROVIDER = "openstreetmap"  # that of providers.registry, which is imported when the command runs
DEFAULT_TENANT = "default"  # created by the first migration
SEARCH_PANEL = "The search"
SITES_PANEL = "Web sites that hide, and those the provider does not know"
FILE_PANEL = "The file"

TenantName = Annotated[str, typer.Option("--tenant", metavar="NAME", help="The tenant that owns the rows.")]
WorkflowName = Annotated[str, typer.Argument(metavar="NAME", help="The workflow, such as deep_scan.")]
RowIds = Annotated[list[str] | None, typer.Argument(help="The ids of the rows.")]
PhoneFormatName = Annotated[
    Literal["international", "e164"] | None,
    typer.Option(
        "--phone-format",
        help="international writes +358 9 1234567, e164 +35891234567.",
        show_default="international in .csv and .xlsx, e164 in .jsonl and .parquet",
        rich_help_panel=FILE_PANEL,
    ),
]
PreferredFunctions = Annotated[
    str | None,
    typer.Option(
        "--prefer",
        metavar="FUNCTIONS",
        help="Functions whose contacts are the best, such as marketing,it; an unknown one lists all.",
        show_default="SCRAPERSKY_PREFERRED_FUNCTIONS, else the most senior",
        rich_help_panel=FILE_PANEL,
    ),
]
QueryFile = Annotated[
    Path | None,
    typer.Option(
        "--queries",
        help="Many searches as one campaign: one a line, or a table: what, where, country, provider, limit.",
        rich_help_panel=SEARCH_PANEL,
    ),
]
SiteFile = Annotated[
    Path | None,
    typer.Option(
        "--domains",
        help="Start with the web sites in this file: one per line, or a table.",
        rich_help_panel=SEARCH_PANEL,
    ),
]
ProviderName = Annotated[
    str | None,
    typer.Option(
        "--provider",
        metavar="NAME",
        help="The provider; an unknown name lists those configured.",
        show_default=DEFAULT_PROVIDER,
        rich_help_panel=SEARCH_PANEL,
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--budget",
        min=0,
        help="Maximum cost, in the provider's currency.",
        show_default="twice the estimate",
        rich_help_panel=SEARCH_PANEL,
    ),
]
SearchName = Annotated[
    str | None, typer.Option("--name", help="A name for the search or campaign.", rich_help_panel=SEARCH_PANEL)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
