"""`scrapersky erase`: erase all data about a person."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json, printable

if TYPE_CHECKING:
    from scrapersky.actions.erase_person import Erasure
    from scrapersky.store.privacy.identify import PersonQuery


def erase(
    email: Annotated[str | None, typer.Option(help="The email address of the person.")] = None,
    phone: Annotated[str | None, typer.Option(help="The phone number of the person, as +358401234567.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the person; requires --domain.")] = None,
    domain: Annotated[str | None, typer.Option(help="The web site that has the name.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Erase; otherwise only show what would be erased.")] = False,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Erase a person permanently: contacts, deliveries and mentions; only hashes are kept.

    Example: scrapersky erase --email anna@molar.fi

    Example: scrapersky erase --name "Anna Molar" --domain molar.fi --yes

    Exit codes: 0 erased or shown, 2 no person is identified, or database error.
    """
    from scrapersky.store.privacy.identify import PersonQuery

    person = PersonQuery(email, phone, name, domain)
    person.points()  # raises if nobody is identified, before the database is opened
    erasure = run_async(_erase(person, yes, tenant))
    if as_json:
        print_json({"preview": not yes, **asdict(erasure)})
    else:
        _print(erasure, yes)


async def _erase(person: "PersonQuery", confirmed: bool, tenant: str) -> "Erasure":
    from scrapersky.actions import erase_person

    async with tenant_session(tenant) as (_, session, actor):
        return await (erase_person.erase if confirmed else erase_person.preview)(session, actor, person)


def _print(erasure: "Erasure", is_done: bool) -> None:
    typer.echo(
        f"{erasure.contacts:,} contacts and {erasure.deliveries:,} deliveries {'were' if is_done else 'would be'} "
        f"deleted, the name {'was' if is_done else 'would be'} removed from {erasure.stripped:,} shared contacts."
    )
    for table, rows in sorted(erasure.mentions.items()):
        typer.echo(f"{rows:,} rows of {table} {'lost' if is_done else 'would lose'} a mention.")
    for receiver in erasure.receivers:
        known_as = f" as {printable(receiver.external_id)}" if receiver.external_id else ""
        typer.echo(
            f"{printable(receiver.destination)} ({receiver.kind}) has the person{known_as}: request deletion there."
        )
    if not is_done:
        typer.echo("Nothing was changed. Add --yes to erase; it cannot be undone.")
