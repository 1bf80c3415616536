"""Who is meant by an address, a number or a name: the contacts of that person, and every way to reach them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.contact_fields import PHONE_FIELDS
from scrapersky.core.errors import BadRequest
from scrapersky.extract.emails.classify import ROLE_LOCALS
from scrapersky.models import Contact, Domain, LocalBusiness, Place
from scrapersky.store.operations.queue_rows import among
from scrapersky.store.privacy.patterns import pattern_of, sieve_of
from scrapersky.store.privacy.suppression_values import Way, person, read


class NobodyMeant(BadRequest):
    """Nobody is meant by this."""

    status_code = 422


@dataclass(frozen=True)
class Named:
    """Whom somebody asks about: by an address, a number, or a name at a web site."""

    email: str | None = None
    phone: str | None = None
    name: str | None = None
    domain: str | None = None

    def ways(self) -> set[Way]:
        """What was given, as it is compared; NobodyMeant if that is nothing."""
        try:
            found = set(read(self.email, kind="email")) if self.email else set[Way]()
            found |= set(read(self.phone, kind="phone")) if self.phone else set()
            if self.name and self.domain:
                found |= {way for domain in read(self.domain, kind="domain") for way in person(self.name, domain.value)}
        except ValueError as error:
            raise NobodyMeant(f"{str(error).capitalize()}.") from None
        if not found or bool(self.name) != bool(self.domain):
            raise NobodyMeant("Give an email address, a phone number with its country, or a name with its domain.")
        return found


@dataclass
class Subject:
    """A person as we know them."""

    given: set[Way]
    ways: set[Way] = field(default_factory=set)
    own: dict[UUID, Contact] = field(default_factory=dict)  # contacts that are this person's
    shared: dict[UUID, Contact] = field(default_factory=dict)  # contacts of an office that name this person

    domain_ids: set[UUID] = field(default_factory=set)  # the web sites where the name is theirs

    @property
    def pattern(self) -> str:
        """What is taken out of a text that speaks of them."""
        return pattern_of(self.ways)

    @property
    def sieve(self) -> str:
        """How rows that may mention an address or a number of theirs are found; empty if there is none."""
        return sieve_of(way for way in self.ways if way.kind != "person")

    @property
    def name_sieve(self) -> str:
        """The same for the name; others may have it elsewhere."""
        return sieve_of(way for way in self.ways if way.kind == "person")


async def find(session: AsyncSession, tenant_id: UUID, named: Named) -> Subject:
    """The contacts that have one of the ways, those they were merged with, and the same name at the same web sites."""
    subject = Subject(named.ways())
    subject.ways = set(subject.given)
    first = await _having(session, tenant_id, or_(*(_has(way) for way in subject.ways)))
    ids = [contact.id for contact, _ in first]
    merged = or_(
        among(Contact.merged_into_id, ids),
        among(Contact.id, [contact.merged_into_id for contact, _ in first if contact.merged_into_id]),
    )
    for contact, domain in [*first, *await _having(session, tenant_id, merged)]:
        subject.ways |= await _own_ways(session, tenant_id, contact, domain)
    wanted = {way.value.rpartition(" @ ")[2] for way in subject.ways if way.kind == "person"}
    sites = select(Domain.id).where(Domain.tenant_id == tenant_id, Domain.name.in_(sorted(wanted)))
    subject.domain_ids = set(await session.scalars(sites))
    for contact, _ in await _having(session, tenant_id, or_(*(_has(way) for way in subject.ways))):
        is_shared = _is_office(contact) and Way("email", contact.email or "") not in subject.given
        (subject.shared if is_shared else subject.own)[contact.id] = contact
    return subject


async def _having(
    session: AsyncSession, tenant_id: UUID, condition: ColumnElement[bool]
) -> Sequence[tuple[Contact, str]]:
    """The contacts for which it holds, each with the name of its domain."""
    rows = await session.execute(
        select(Contact, func.coalesce(Domain.name, ""))
        .outerjoin(Domain, Domain.id == Contact.domain_id)
        .where(Contact.tenant_id == tenant_id, condition)
        .order_by(Contact.id)
    )
    return [(row[0], row[1]) for row in rows]


def _has(way: Way) -> ColumnElement[bool]:
    if way.kind == "email":
        return or_(Contact.email == way.value, Contact.identity == f"email:{way.value}")
    if way.kind == "phone":
        same = [f"{name}:{way.value}" for name in PHONE_FIELDS]
        return or_(*(getattr(Contact, name) == way.value for name in PHONE_FIELDS), Contact.identity.in_(same))
    name, _, domain = way.value.rpartition(" @ ")
    return and_(Domain.name == domain, func.lower(Contact.name) == func.lower(name))


async def _own_ways(session: AsyncSession, tenant_id: UUID, contact: Contact, domain: str) -> set[Way]:
    """The other ways of the person behind a contact: the address and the name, a number that nobody else has."""
    if _is_office(contact) and not contact.name:
        return set()
    ways = set(person(contact.name, domain)) if contact.name and domain else set()
    if contact.email and not _is_office(contact):
        ways.add(Way("email", contact.email.lower()))
    for number in (getattr(contact, name) for name in PHONE_FIELDS):
        if number and contact.name and not await _is_shared(session, tenant_id, number, contact.name):
            ways.add(Way("phone", number))
    return ways


async def _is_shared(session: AsyncSession, tenant_id: UUID, number: str, name: str) -> bool:
    """Whether the number is also that of a business, or of a contact of another name."""
    others = or_(Contact.name.is_(None), func.lower(Contact.name) != func.lower(name))
    uses = (
        select(Contact.id).where(Contact.tenant_id == tenant_id, Contact.phone == number, others),
        select(LocalBusiness.id).where(LocalBusiness.tenant_id == tenant_id, LocalBusiness.phone == number),
        select(Place.id).where(Place.tenant_id == tenant_id, Place.phone == number),
    )
    return bool(await session.scalar(select(or_(*(use.exists() for use in uses)))))


def _is_office(contact: Contact) -> bool:
    """Whether the address is that of an office rather than of a person."""
    local = (contact.email or "").partition("@")[0]
    return bool(local) and (contact.email_kind == "role" or local in ROLE_LOCALS)
