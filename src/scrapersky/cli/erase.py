"""`scrapersky erase`: a person wants to be forgotten."""

from dataclasses import asdict
from typing import Annotated

import typer
import uvloop

from scrapersky.actions import erase_person
from scrapersky.actions.erase_person import Erasure
from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json, printable
from scrapersky.store.accounts import tenants
from scrapersky.store.privacy.identify import PersonQuery


def erase(
    email: Annotated[str | None, typer.Option(help="The person's email address.")] = None,
    phone: Annotated[str | None, typer.Option(help="The person's phone number, as +358401234567.")] = None,
    name: Annotated[str | None, typer.Option(help="The person's name; needs --domain.")] = None,
    domain: Annotated[str | None, typer.Option(help="The web site where the name stands.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this you only see what would go.")] = False,
    tenant: TenantName = tenants.DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Forget a person: contacts, deliveries and every mention, for good; only hashes are left.

    Example: scrapersky erase --email anna@molar.fi

    Example: scrapersky erase --name "Anna Molar" --domain molar.fi --yes

    Exit codes: 0 done or shown, 2 nobody is meant by this, or the database.
    """
    named = PersonQuery(email, phone, name, domain)
    named.points()  # whom nobody can mean is better known before the house is opened
    done = uvloop.run(_erase(named, yes, tenant))
    if as_json:
        print_json({"preview": not yes, **asdict(done)})
    else:
        _say(done, yes)


async def _erase(named: PersonQuery, is_meant: bool, tenant: str) -> Erasure:
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            return await (erase_person.erase if is_meant else erase_person.preview)(session, actor, named)


def _say(done: Erasure, is_done: bool) -> None:
    typer.echo(
        f"{done.contacts:,} contacts and {done.deliveries:,} deliveries {'are' if is_done else 'would be'} deleted, "
        f"{done.stripped:,} contacts of an office lose the name."
    )
    for table, rows in sorted(done.mentions.items()):
        typer.echo(f"{rows:,} rows of {table} {'lost' if is_done else 'would lose'} a mention.")
    for receiver in done.receivers:
        known_as = f" as {printable(receiver.external_id)}" if receiver.external_id else ""
        typer.echo(
            f"{printable(receiver.destination)} ({receiver.kind}) has them{known_as}: ask it to delete them, too."
        )
    if not is_done:
        typer.echo("Nothing was changed. Add --yes to do it; it cannot be undone.")
