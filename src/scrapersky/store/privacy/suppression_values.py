"""What can be suppressed, in the one spelling that is compared: an email address, a mail domain, a phone number."""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

import idna

from scrapersky.extract.emails.classify import normalise_email
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.text import single_line

Kind = Literal["email", "domain", "phone", "person"]
LONGEST = 320
_DIALLED = re.compile(r"[+(]?[0-9][0-9 ()./+-]{4,40}")
_HOST = re.compile(r"[a-z0-9_.-]{1,253}")
_ADDRESS = re.compile(r"[a-z][a-z+.-]{1,15}://", re.IGNORECASE)


@dataclass(frozen=True)
class Way:
    """One way to reach somebody."""

    kind: Kind
    value: str

    @property
    def digest(self) -> str:
        """What is left of it after an erasure; the database makes the same."""
        return hashlib.sha256(self.value.encode()).hexdigest()


def read(written: str, country: str = "", kind: Kind | None = None) -> tuple[Way, ...]:
    """The ways that a text stands for; ValueError says why there is none.

    A host with foreign letters has two spellings on the web, so it is two ways; the one that was given comes first.
    """
    text = single_line(written, LONGEST + 1)
    if not text:
        raise ValueError("it is empty")
    if len(text) > LONGEST:
        raise ValueError(f"it has more than {LONGEST} characters")
    kind = kind or _kind_of(text)
    if kind == "email":
        return _email(text)
    return _phone(text, country) if kind == "phone" else _domain(text)


def person(name: str, domain: str) -> tuple[Way, ...]:
    """Somebody by name, at one web site; capitals do not matter. The database folds plain letters only."""
    spellings = {_fold(each) for each in (name, name.lower(), name.upper(), name.title())}
    return tuple(Way("person", f"{spelling} @ {domain}") for spelling in sorted(spellings))


def _fold(name: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in single_line(name, LONGEST))


def _kind_of(text: str) -> Kind:
    if "@" in text[1:] and not _ADDRESS.match(text):
        return "email"
    return "phone" if _DIALLED.fullmatch(text) else "domain"


def _email(text: str) -> tuple[Way, ...]:
    address = normalise_email(text.removeprefix("mailto:"))
    local, _, host = address.rpartition("@")
    if not 0 < len(local) <= 64 or " " in address:
        raise ValueError(f"{text[:80]!r} is no email address")
    return tuple(Way("email", f"{local}@{spelling}") for spelling in _hosts(host, text))


def _domain(text: str) -> tuple[Way, ...]:
    host = _ADDRESS.sub("", normalise_email(text)).lstrip("@").partition("/")[0].partition(":")[0]
    return tuple(Way("domain", spelling) for spelling in _hosts(host.removeprefix("www."), text))


def _phone(text: str, country: str) -> tuple[Way, ...]:
    found = parse_phone(text, country.upper())
    if found is None:
        raise ValueError(f"{text[:40]!r} is no phone number; write it as +358 9 1234567, or give the country")
    return (Way("phone", found.number),)


def _hosts(host: str, text: str) -> tuple[str, ...]:
    if not registrable_domain(host) or (host.isascii() and not _HOST.fullmatch(host)):
        raise ValueError(f"{text[:80]!r} has no domain that can be registered")
    try:
        other = (
            idna.decode(host) if "xn--" in host else host if host.isascii() else idna.encode(host, uts46=True).decode()
        )
    except (idna.IDNAError, UnicodeError):
        raise ValueError(f"{host[:80]!r} is not a host name") from None
    return tuple(dict.fromkeys((host, other)))
