"""Identification of a person by an email address, a phone number or a name: the contacts and all contact points."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Uuid, and_, any_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.contact_fields import PHONE_FIELDS
from scrapersky.core.errors import BadRequest
from scrapersky.extract.emails.classify import ROLE_LOCALS
from scrapersky.models import Contact, Domain, LocalBusiness, Place
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.privacy.contact_points import ContactPoint, parse_points, person_points
from scrapersky.store.privacy.patterns import mention_pattern


class UnidentifiedPerson(BadRequest):
    """The request does not identify a person."""

    status_code = 422


@dataclass(frozen=True)
class PersonQuery:
    """A person by email address, by phone number, or by name at a domain."""

    email: str | None = None
    phone: str | None = None
    name: str | None = None
    domain: str | None = None

    def points(self) -> set[ContactPoint]:
        """Return the given contact points; raise UnidentifiedPerson if there are none or one is wrong."""
        try:
            found = set(parse_points(self.email, kind="email")) if self.email else set[ContactPoint]()
            found |= set(parse_points(self.phone, kind="phone")) if self.phone else set()
            if self.name and self.domain:
                for domain in parse_points(self.domain, kind="domain"):
                    found |= set(person_points(self.name, domain.value))
        except ValueError as error:
            raise UnidentifiedPerson(f"{str(error).capitalize()}.") from None
        if not found or bool(self.name) != bool(self.domain):
            raise UnidentifiedPerson("Give an email address, a phone number with country, or a name with its domain.")
        return found


@dataclass
class DataSubject:
    """A person with the contacts and contact points that are stored."""

    given: set[ContactPoint]
    points: set[ContactPoint] = field(default_factory=set)
    own: dict[UUID, Contact] = field(default_factory=dict)  # contacts of this person
    shared: dict[UUID, Contact] = field(default_factory=dict)  # contacts of a role address that name this person
    domain_ids: set[UUID] = field(default_factory=set)  # the sites at which the name is this person's

    @property
    def pattern(self) -> str:
        """The pattern of every mention, for Python."""
        return mention_pattern(self.points)

    @property
    def addresses(self) -> list[ContactPoint]:
        """The addresses and numbers, which are this person's wherever they are."""
        return [point for point in self.points if point.kind != "person"]

    @property
    def names(self) -> list[ContactPoint]:
        """The name, which at other sites can be another person's."""
        return [point for point in self.points if point.kind == "person"]


async def identify(session: AsyncSession, tenant_id: UUID, person: PersonQuery) -> DataSubject:
    """Find the contacts with one of the points, those merged with them, and the same name at the same sites."""
    subject = DataSubject(person.points())
    subject.points = set(subject.given)
    first = await _having(session, tenant_id, or_(*(_has(tenant_id, point) for point in subject.points)))
    # Merged contacts are of one person: those that a found contact is merged into, and all that are merged into these.
    ids = [contact.merged_into_id or contact.id for contact, _ in first]
    merged = or_(one_of(Contact.merged_into_id, ids), one_of(Contact.id, ids))
    for contact, domain in [*first, *await _having(session, tenant_id, merged)]:
        subject.points |= await _own_points(session, tenant_id, contact, domain)
    domains = {point.value.rpartition(" @ ")[2] for point in subject.points if point.kind == "person"}
    sites = select(Domain.id).where(Domain.tenant_id == tenant_id, Domain.name.in_(sorted(domains)))
    subject.domain_ids = set(await session.scalars(sites))
    for contact, _ in await _having(session, tenant_id, or_(*(_has(tenant_id, point) for point in subject.points))):
        is_shared = _is_role_address(contact) and ContactPoint("email", contact.email or "") not in subject.given
        (subject.shared if is_shared else subject.own)[contact.id] = contact
    return subject


async def _having(
    session: AsyncSession, tenant_id: UUID, condition: ColumnElement[bool]
) -> Sequence[tuple[Contact, str]]:
    """Return the contacts that match the condition, each with the name of its domain."""
    rows = await session.execute(
        select(Contact, func.coalesce(Domain.name, ""))
        .outerjoin(Domain, Domain.id == Contact.domain_id)
        .where(Contact.tenant_id == tenant_id, condition)
        .order_by(Contact.id)
    )
    return [(row[0], row[1]) for row in rows]


def _has(tenant_id: UUID, point: ContactPoint) -> ColumnElement[bool]:
    if point.kind == "email":
        return or_(Contact.email == point.value, Contact.identity == f"email:{point.value}")
    if point.kind == "phone":
        same = [f"{name}:{point.value}" for name in PHONE_FIELDS]
        return or_(*(getattr(Contact, name) == point.value for name in PHONE_FIELDS), Contact.identity.in_(same))
    name, _, domain = point.value.rpartition(" @ ")
    sites = select(Domain.id).where(Domain.tenant_id == tenant_id, Domain.name == domain).scalar_subquery()
    # As an array, which an index can look up: a condition on the joined domain would read every contact.
    at_site = Contact.domain_id == any_(func.array(sites, type_=ARRAY(Uuid())))
    return and_(at_site, func.lower(Contact.name) == func.lower(name))


async def _own_points(session: AsyncSession, tenant_id: UUID, contact: Contact, domain: str) -> set[ContactPoint]:
    """Return the person's other contact points of a contact: address and name, and a number no other contact has."""
    if _is_role_address(contact) and not contact.name:
        return set()
    points = set(person_points(contact.name, domain)) if contact.name and domain else set()
    if contact.email and not _is_role_address(contact):
        points.add(ContactPoint("email", contact.email.lower()))
    for number in (getattr(contact, name) for name in PHONE_FIELDS):
        if number and contact.name and not await _is_shared(session, tenant_id, number, contact.name):
            points.add(ContactPoint("phone", number))
    return points


async def _is_shared(session: AsyncSession, tenant_id: UUID, number: str, name: str) -> bool:
    """Return whether the number is also that of a business, or of a contact of another name."""
    others = or_(Contact.name.is_(None), func.lower(Contact.name) != func.lower(name))
    uses = (
        select(Contact.id).where(Contact.tenant_id == tenant_id, Contact.phone == number, others),
        select(LocalBusiness.id).where(LocalBusiness.tenant_id == tenant_id, LocalBusiness.phone == number),
        select(Place.id).where(Place.tenant_id == tenant_id, Place.phone == number),
    )
    return bool(await session.scalar(select(or_(*(use.exists() for use in uses)))))


def _is_role_address(contact: Contact) -> bool:
    """Return whether the email address is that of a role (info@) rather than of a person."""
    local = (contact.email or "").partition("@")[0]
    return bool(local) and (contact.email_kind == "role" or local in ROLE_LOCALS)
