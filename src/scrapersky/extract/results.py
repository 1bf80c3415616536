"""What a page says: each value with where it stood, how it was found and how sure that is."""

from dataclasses import dataclass, field
from typing import Literal

EmailKind = Literal["role", "personal", "free-mail", "other-domain"]
PhoneKind = Literal["phone", "fax", "whatsapp"]
Field = Literal["email", "phone", "social", "person", "address"]


@dataclass(frozen=True, slots=True)
class Email:
    """An address of the business, lower case."""

    address: str
    kind: EmailKind
    how: str  # text, mailto, cloudflare, written out, attributes, script, structured data …
    snippet: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Phone:
    """A number in E.164."""

    number: str
    kind: PhoneKind
    how: str
    snippet: str
    confidence: float
    region: str  # the country that dials it


@dataclass(frozen=True, slots=True)
class Social:
    """A profile, as one address per platform and account."""

    platform: str
    url: str
    how: str
    snippet: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Person:
    """A person of the business, with what belongs to them."""

    name: str
    title: str
    how: str
    snippet: str
    confidence: float
    email: str = ""
    phone: str = ""


@dataclass(frozen=True, slots=True)
class PostalAddress:
    """A postal address; the parts are empty where the page gives only the whole."""

    text: str
    how: str
    snippet: str
    confidence: float
    street: str = ""
    postal_code: str = ""
    city: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A value that looked like a contact of the business and is none, with the reason."""

    field: Field
    value: str
    reason: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Contacts:
    """Everything a page says about whom to write to, in the order of the page."""

    emails: tuple[Email, ...] = ()
    phones: tuple[Phone, ...] = ()
    socials: tuple[Social, ...] = ()
    people: tuple[Person, ...] = ()
    addresses: tuple[PostalAddress, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    region: str = ""  # the region numbers were read with; empty when none was given or seen
    cut: frozenset[str] = field(default_factory=frozenset)  # the caps that were hit

    def __bool__(self) -> bool:
        return bool(self.emails or self.phones or self.socials or self.people or self.addresses)
