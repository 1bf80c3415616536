"""Exports: all matching rows of a resource, streamed by a server-side cursor."""

import json
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, literal_column, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.paginate import Filters, matching_unmerged
from scrapersky.store.listing.references import REFERENCES
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
from scrapersky.store.withheld import (
    is_business_withheld,
    is_number_withheld,
    is_person_mentioned,
    is_profile_withheld,
    is_site_withheld,
    is_snippet_withheld,
    is_website_withheld,
    is_withheld,
)

EXPORTED: Mapping[str, Resource] = {
    resource.name: resource for resource in (PLACES, BUSINESSES, DOMAINS, SITEMAPS, PAGES, CONTACTS, SUPPRESSIONS)
}  # in the order of the line
MERGE_FLAGS = ("is_merged_by_rule", "is_separate")
INTERNAL = (
    "tenant_id",
    "name_key",
    "last_name_key",
    "city_key",
    "cell",
    "email_host",
    "evidence_rank",
    "fact_ranks",
    *MERGE_FLAGS,
)
INTERNAL_SUFFIXES = ("_order", "_allowance", "_revert_to")
ROWS_PER_FETCH = 500
CONTACT_POINTS = ("email", "emails", "phone", "phones", "telephone", "fax", "socials", "profiles", "people")
# The business of a place, if it has one.
_OF_PLACE = "(SELECT b.id FROM local_business b WHERE b.place_id = place.id LIMIT 1)"


def _unless_mentioned(column: str, domain_id: str) -> str:
    """Return the column, empty where it names a withheld person of the site."""
    return f"CASE WHEN NOT {is_person_mentioned(f'{column}::text', domain_id)} THEN {column} END"


# Rows that a suppression withholds from files; lists show them.
_WITHHELD = {
    PLACES.name: f"({is_website_withheld('place.website')} OR {is_business_withheld(_OF_PLACE)})",
    BUSINESSES.name: is_business_withheld("local_business.id"),
    DOMAINS.name: is_site_withheld("domain.name"),
    SITEMAPS.name: is_site_withheld("domain.name"),
    PAGES.name: f"({is_site_withheld('domain.name')} OR {is_person_mentioned('page.url', 'page.domain_id')})",
    CONTACTS.name: is_withheld("contact"),
}
# Values of other rows that a suppression withholds.
_VALUES = {
    (PLACES.name, "phone"): f"CASE WHEN NOT {is_number_withheld('place.phone', _OF_PLACE)} THEN place.phone END",
    (BUSINESSES.name, "phone"): (
        f"CASE WHEN NOT {is_number_withheld('local_business.phone', 'local_business.id')} THEN local_business.phone END"
    ),
    (BUSINESSES.name, "profiles"): (
        "(SELECT jsonb_object_agg(key, value) FROM jsonb_each_text(local_business.profiles) "  # noqa: S608 - own names
        f"WHERE NOT {is_profile_withheld('value', 'local_business.id')})"
    ),
    (BUSINESSES.name, "rejected_websites"): (
        "ARRAY(SELECT site FROM unnest(local_business.rejected_websites) site "  # noqa: S608 - own names
        f"WHERE NOT {is_website_withheld('site')})"
    ),
    **{
        (PAGES.name, name): _unless_mentioned(f"page.{name}", "page.domain_id")
        for name in ("title", "kind_reason", "page_processing_error")
    },
    **{(DOMAINS.name, name): _unless_mentioned(f"domain.{name}", "domain.id") for name in ("title", "description")},
    (DOMAINS.name, "facts"): (
        "(SELECT jsonb_object_agg(key, value) FROM jsonb_each(domain.facts) "  # noqa: S608 - own names
        f"WHERE NOT {is_person_mentioned('value::text', 'domain.id')})"
    ),
    (CONTACTS.name, "source_url"): _unless_mentioned("contact.source_url", "contact.domain_id"),
    (CONTACTS.name, "snippet"): f"CASE WHEN NOT {is_snippet_withheld('contact')} THEN contact.snippet END",
    (CONTACTS.name, "sources"): (
        f"CASE WHEN NOT {is_snippet_withheld('contact')} THEN contact.sources "  # noqa: S608 - own names
        "ELSE (SELECT jsonb_object_agg(key, value - 'snippet') FROM jsonb_each(contact.sources) "
        f"WHERE NOT {is_person_mentioned('value::text', 'contact.domain_id')}) END"
    ),
}


def columns_of(resource: Resource) -> list[str]:
    """Return the columns of an export: those of the table, in its order, then the names of referenced rows."""
    return [*_own_columns(resource), *REFERENCES.get(resource.name, ())]


def _own_columns(resource: Resource) -> list[str]:
    names = [column.key for column in resource.model.__table__.columns]
    return [name for name in names if name not in INTERNAL and not name.endswith(INTERNAL_SUFFIXES)]


def _selected(resource: Resource) -> Select[Any]:
    named = REFERENCES.get(resource.name, {})
    owners = [owner.name.label(name) for name, (owner, _) in named.items()]
    chosen = select(*(_column(resource, name) for name in _own_columns(resource)), *owners)
    for owner, column in named.values():
        chosen = chosen.outerjoin(owner, owner.id == getattr(resource.model, column))
    return chosen.where(text(f"NOT {_WITHHELD[resource.name]}")) if resource.name in _WITHHELD else chosen


def _column(resource: Resource, name: str) -> Any:
    own = getattr(resource.model, name)
    withheld = _VALUES.get((resource.name, name))
    return own if withheld is None else literal_column(withheld, own.type).label(name)


async def note(session: AsyncSession, actor: Actor, subject: str, filters: Filters, form: str) -> None:
    """Record the export in the audit, in a transaction before it starts: an interrupted download is recorded, too."""
    await audit.record(session, actor, "export", subject, None, {"filter": dict(filters), "form": form})


async def rows(
    session: AsyncSession, resource: Resource, tenant_id: UUID, filters: Filters, *, flat: bool = True
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the rows, the oldest first; with `flat`, lists and objects are text."""
    columns = columns_of(resource)
    wanted = matching_unmerged(_selected(resource), resource, tenant_id, filters)
    found = await session.stream(wanted.order_by(resource.model.id).execution_options(yield_per=ROWS_PER_FETCH))
    async for row in found:
        named = dict(zip(columns, row, strict=True))
        for column in ("facts", "details"):
            if column in named:
                named[column] = _without_contact_points(named[column])
        yield {name: _shown(value, flat) for name, value in named.items()}


def _without_contact_points(facts: Any) -> Any:
    """Remove addresses, numbers and profiles from what a page or a provider gave: as contacts they may be withheld."""
    if isinstance(facts, dict):
        return {name: _without_contact_points(value) for name, value in facts.items() if name not in CONTACT_POINTS}
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
