"""What a page says again about somebody who was erased is left out before it is stored."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.extract.results import Contacts, Person
from scrapersky.models import Domain, Page
from scrapersky.store.privacy import suppressions
from scrapersky.store.privacy.patterns import mentions, pattern_of
from scrapersky.store.privacy.suppression_values import Way, person

Found = TypeVar("Found", bound=Any)


async def left_out(session: AsyncSession, page: Page, found: Contacts) -> Contacts:
    """The contacts without those who were erased, and without snippets that mention them."""
    domain = await session.scalar(select(Domain.name).where(Domain.id == page.domain_id)) or ""
    gone = set(await suppressions.known(session, page.tenant_id, _ways(found, domain), suppressions.ERASURE))
    if not gone:
        return found
    pattern = pattern_of(gone)
    people = [_stripped(one, gone) for one in found.people if not gone & set(_ways_of_person(one, domain, own=False))]
    return replace(
        found,
        emails=_quiet((one for one in found.emails if Way("email", one.address) not in gone), pattern),
        phones=_quiet((one for one in found.phones if Way("phone", one.number) not in gone), pattern),
        people=_quiet(iter(people), pattern),
        socials=_quiet(iter(found.socials), pattern),
        addresses=_quiet(iter(found.addresses), pattern),
    )


def _ways(found: Contacts, domain: str) -> Iterator[Way]:
    yield from (Way("email", one.address) for one in found.emails)
    yield from (Way("phone", one.number) for one in found.phones)
    for one in found.people:
        yield from _ways_of_person(one, domain, own=True)


def _ways_of_person(one: Person, domain: str, *, own: bool) -> Iterator[Way]:
    """The name and the address; with its `own` number, which it may share with others."""
    yield from person(one.name, domain)
    if one.email:
        yield Way("email", one.email)
    if own and one.phone:
        yield Way("phone", one.phone)


def _stripped(one: Person, gone: set[Way]) -> Person:
    return replace(one, phone="") if Way("phone", one.phone) in gone else one


def _quiet(found: Iterator[Found], pattern: str) -> tuple[Found, ...]:
    return tuple(replace(one, snippet="") if mentions(pattern, one.snippet) else one for one in found)
