"""Options and arguments that several commands have."""

from typing import Annotated

import typer

DEFAULT_TENANT = "default"  # created by the first migration

TenantName = Annotated[str, typer.Option("--tenant", help="The tenant that owns the rows.")]
WorkflowName = Annotated[str, typer.Argument(metavar="NAME", help="The workflow, such as deep_scan.")]
RowIds = Annotated[list[str] | None, typer.Argument(help="The ids of the rows.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
