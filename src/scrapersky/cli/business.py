"""`scrapersky business`: the records of a business at its providers."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

BusinessId = Annotated[str, typer.Argument(metavar="ID", help="The id of the business, or of one of its records.")]


@group.callback()
def business() -> None:
    """Show the records of a business at its providers, join two businesses, or split a record off.

    Example: scrapersky business show 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa

    Example: scrapersky business split 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa

    Exit codes: 0 success, 2 wrong usage, unknown id, nothing to join or to split, or database error.
    """


@group.command()
def show(business_id: BusinessId, tenant: TenantName = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """Show the records of a business, each with the reason why it is the same business."""
    _print(run_async(_change("show", [business_id], tenant)), as_json)


@group.command()
def join(
    business_id: BusinessId,
    other_id: Annotated[str, typer.Argument(metavar="OTHER", help="The id of the other business.")],
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Make two businesses one, with all their records."""
    _print(run_async(_change("join", [business_id, other_id], tenant)), as_json)


@group.command()
def split(business_id: BusinessId, tenant: TenantName = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """Make a record a business of its own; no later search joins it with the others again."""
    _print(run_async(_change("split", [business_id], tenant)), as_json)


async def _change(action: str, ids: list[str], tenant: str) -> "list[dict[str, Any]]":
    from scrapersky.actions.businesses import join as groups
    from scrapersky.store.line.business_sources import sources

    actions: dict[str, Any] = {
        "show": groups.records_of,
        "join": groups.join,
        "split": groups.split,
    }
    chosen: Sequence[UUID] = parse_ids(ids)
    async with tenant_session(tenant) as opened:
        records = await actions[action](opened.session, opened.actor, *chosen)
        found = await sources(opened.session, [one.id for one in records])
        return [dict(row) for row in found]


def _print(found: "list[dict[str, Any]]", as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    cells = [
        (
            row["id"],
            row["name"],
            f"{row['provider']}:{row['provider_id']}" if row["provider"] else "",
            "shown" if row["is_shown"] else f"{row['same_reason']} ({row['same_confidence']:.2f})",
        )
        for row in found
    ]
    print_table(["id", "name", "source", "why it is the same"], cells)
