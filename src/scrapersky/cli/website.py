"""`scrapersky website`: set or reject the web site of a business."""

from typing import TYPE_CHECKING, Annotated

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.arguments import parse_ids
from scrapersky.cli.shared.options import DEFAULT_TENANT, TenantName

if TYPE_CHECKING:
    from uuid import UUID


def website(
    business: Annotated[str, typer.Argument(help="The id of the business.")],
    url: Annotated[str | None, typer.Argument(help="Its web site; without it, --reject is needed.")] = None,
    reject: Annotated[bool, typer.Option("--reject", help="The web site that it has is not its own.")] = False,
    tenant: TenantName = DEFAULT_TENANT,
) -> None:
    """Set the web site of a business by hand, or reject the one it has; both decisions last.

    Example: scrapersky website 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa https://www.kallio-dental.fi/

    Example: scrapersky website 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --reject

    Exit codes: 0 success, 2 wrong usage, unknown id, or database error.
    """
    if (url is None) != reject:
        raise typer.BadParameter("Give either a web site or --reject.")
    typer.echo(run_async(_set(parse_ids([business])[0], url, tenant)))


async def _set(business_id: "UUID", url: str | None, tenant: str) -> str:
    from scrapersky.actions.businesses.set_website import set_website

    async with tenant_session(tenant) as opened:
        business = await set_website(opened.session, opened.actor, business_id, url)
        return f"{business.name}: {business.website or 'no web site'}"
