"""A filter for contacts found on a page that leaves out people who were erased."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.extract.results import Contacts, Person
from scrapersky.models import Domain, Page
from scrapersky.store.privacy import suppressions
from scrapersky.store.privacy.contact_points import ContactPoint, other_forms, person_points
from scrapersky.store.privacy.patterns import mention_pattern, mentions

Found = TypeVar("Found", bound=Any)


async def without_erased(session: AsyncSession, page: Page, found: Contacts) -> Contacts:
    """Return the contacts without erased people and without snippets that mention them."""
    domain = await session.scalar(select(Domain.name).where(Domain.id == page.domain_id)) or ""
    erased = set(await suppressions.known(session, page.tenant_id, _points(found, domain), suppressions.ERASURE))
    if not erased:
        return found
    pattern = mention_pattern(erased)
    people = [one for one in found.people if erased.isdisjoint(_points_of_person(one, domain))]
    return replace(
        found,
        emails=_unmentioned((one for one in found.emails if ContactPoint("email", one.address) not in erased), pattern),
        phones=_unmentioned((one for one in found.phones if ContactPoint("phone", one.number) not in erased), pattern),
        people=_unmentioned(
            (replace(one, phone="") if ContactPoint("phone", one.phone) in erased else one for one in people), pattern
        ),
        socials=_unmentioned(found.socials, pattern),
        addresses=_unmentioned(found.addresses, pattern),
    )


def _points(found: Contacts, domain: str) -> Iterator[ContactPoint]:
    yield from (ContactPoint("email", one.address) for one in found.emails)
    yield from (ContactPoint("phone", one.number) for one in found.phones)
    for one in found.people:
        yield from _points_of_person(one, domain)
        if one.phone:
            yield ContactPoint("phone", one.phone)


def _points_of_person(one: Person, domain: str) -> Iterator[ContactPoint]:
    """Yield the name in its forms and the email address; the number may belong to several people."""
    for name in filter(None, (one.name, one.name_latin, f"{one.first_name} {one.last_name}".strip())):
        names = person_points(name, domain)
        yield from (*names, *other_forms(names))
    if one.email:
        yield ContactPoint("email", one.email)


def _unmentioned(found: Iterable[Found], pattern: str) -> tuple[Found, ...]:
    """Return the values with an empty snippet where the snippet matches the pattern."""
    return tuple(replace(one, snippet="") if mentions(pattern, one.snippet) else one for one in found)
