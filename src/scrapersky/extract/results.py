"""The values that extraction returns, each with its snippet, the way it was found and a confidence."""

from dataclasses import dataclass, field
from typing import Literal

from scrapersky.core.vocabularies import HiddenReason

EmailKind = Literal["role", "personal", "free-mail", "other-domain"]
PhoneKind = Literal["phone", "fax", "whatsapp"]
Field = Literal["email", "phone", "social", "person", "address"]


@dataclass(frozen=True, slots=True)
class Email:
    """An email address of the business, lower case."""

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
    region: str  # the country of the number


@dataclass(frozen=True, slots=True)
class Social:
    """A profile on a platform; each account has one address."""

    platform: str
    url: str
    how: str
    snippet: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Person:
    """A person of the business, with the address and the number associated with the person."""

    name: str
    title: str
    how: str
    snippet: str
    confidence: float
    email: str = ""
    phone: str = ""
    first_name: str = ""  # empty where the order of the name is not known
    last_name: str = ""
    honorific: str = ""  # form of address: Herr, Ms
    degree: str = ""  # Dr. med., MBA
    name_latin: str = ""  # the name in Latin letters, where the page gives it beside another script


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
    """A value that looks like a contact of the business but is none, with the reason."""

    field: Field
    value: str
    reason: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Contacts:
    """All contacts of a page, in the order of the page."""

    emails: tuple[Email, ...] = ()
    phones: tuple[Phone, ...] = ()
    socials: tuple[Social, ...] = ()
    people: tuple[Person, ...] = ()
    addresses: tuple[PostalAddress, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    region: str = ""  # the region used to read numbers; empty when none was given or inferred
    cut: frozenset[str] = field(default_factory=frozenset)  # the limits that were reached
    hidden: HiddenReason | None = None  # why a page without contacts shows nothing to a plain reader
    has_contact_form: bool = False

    def __bool__(self) -> bool:
        return bool(self.emails or self.phones or self.socials or self.people or self.addresses)
