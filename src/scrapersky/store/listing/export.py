"""Exports: every row of a noun that passes the filters, streamed by a server-side cursor."""

import json
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Contact, Domain, LocalBusiness
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.paginate import Filters, matching_standing
from scrapersky.store.listing.resources import (
    BUSINESSES,
    CONTACTS,
    DOMAINS,
    PAGES,
    PLACES,
    SITEMAPS,
    SUPPRESSIONS,
    Resource,
)

EXPORTED: Mapping[str, Resource] = {
    noun.name: noun for noun in (PLACES, BUSINESSES, DOMAINS, SITEMAPS, PAGES, CONTACTS, SUPPRESSIONS)
}  # in the order of the line
INNER = ("tenant_id", "name_key", "email_host")  # columns of the house
INNER_ENDINGS = ("_order", "_allowance", "_revert_to")
ROWS_AT_ONCE = 500
# What an id stands for, by the name that people and imports know it by.
NAMED: Mapping[str, Mapping[str, tuple[Any, str]]] = {
    "sitemaps": {"domain": (Domain, "domain_id")},
    "pages": {"domain": (Domain, "domain_id")},
    "contacts": {"domain": (Domain, "domain_id"), "business": (LocalBusiness, "business_id")},
}
WAYS = ("email", "emails", "phone", "phones", "telephone", "fax")


def columns_of(noun: Resource) -> list[str]:
    """The columns of an export, in the order of the table; then the names behind its ids."""
    return [*_own_columns(noun), *NAMED.get(noun.name, ())]


def _own_columns(noun: Resource) -> list[str]:
    names = [column.key for column in noun.model.__table__.columns]
    return [name for name in names if name not in INNER and not name.endswith(INNER_ENDINGS)]


def _selected(noun: Resource) -> Select[Any]:
    named = NAMED.get(noun.name, {})
    owners = [owner.name.label(name) for name, (owner, _) in named.items()]
    chosen = select(*(getattr(noun.model, name) for name in _own_columns(noun)), *owners)
    for owner, column in named.values():
        chosen = chosen.outerjoin(owner, owner.id == getattr(noun.model, column))
    return chosen


async def note(session: AsyncSession, actor: Actor, subject: str, filters: Filters, form: str) -> None:
    """Write down that rows go out, before they do: in a transaction of its own, whoever hangs up in the middle."""
    await audit.record(session, actor, "export", subject, None, {"filter": dict(filters), "form": form})


async def rows(
    session: AsyncSession, noun: Resource, tenant_id: UUID, filters: Filters, *, flat: bool = True
) -> AsyncGenerator[dict[str, Any]]:
    """The rows in the order of their ids: the oldest first. Flat ones have lists and objects as text."""
    columns = columns_of(noun)
    wanted = matching_standing(_selected(noun), noun, tenant_id, filters)
    if noun is CONTACTS:
        wanted = wanted.where(Contact.suppressed_at.is_(None))  # lists show them, marked; no file holds them
    found = await session.stream(wanted.order_by(noun.model.id).execution_options(yield_per=ROWS_AT_ONCE))
    async for row in found:
        named = dict(zip(columns, row, strict=True))
        if noun is DOMAINS:
            named["facts"] = _without_ways(named["facts"])
        yield {name: _shown(value, flat) for name, value in named.items()}


def _without_ways(facts: Any) -> Any:
    """What a home page says without addresses and numbers: those are contacts, which may be suppressed."""
    if isinstance(facts, dict):
        return {name: _without_ways(value) for name, value in facts.items() if name not in WAYS}
    return facts


def _shown(value: Any, flat: bool) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if flat and isinstance(value, list):
        return "; ".join(map(str, value))
    if flat and isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return value
