"""Options and arguments that several commands have."""

from typing import Annotated, Literal

import typer

DEFAULT_TENANT = "default"  # created by the first migration

TenantName = Annotated[str, typer.Option("--tenant", help="The tenant that owns the rows.")]
WorkflowName = Annotated[str, typer.Argument(metavar="NAME", help="The workflow, such as deep_scan.")]
RowIds = Annotated[list[str] | None, typer.Argument(help="The ids of the rows.")]
PhoneFormatName = Annotated[
    Literal["international", "e164"] | None,
    typer.Option(
        "--phone-format",
        help="Phone numbers as +358 9 1234567 or as +35891234567.",
        show_default="international in .csv and .xlsx, e164 in .jsonl and .parquet",
    ),
]
PreferredFunctions = Annotated[
    str | None,
    typer.Option(
        "--prefer",
        metavar="FUNCTIONS",
        help="Functions whose contacts are the best, such as marketing,it; an unknown one lists all.",
        show_default="SCRAPERSKY_PREFERRED_FUNCTIONS, else the most senior",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
