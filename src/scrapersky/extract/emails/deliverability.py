"""Can one write to this address: what its letters and the lists tell, and what its domain says about mail."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from email_validator import EmailNotValidError, validate_email

from scrapersky.core.vocabularies import Verdict
from scrapersky.extract import word_lists
from scrapersky.extract.emails import domain_lists
from scrapersky.extract.emails.classify import ROLE_LOCALS
from scrapersky.extract.text import clean

UNREAD_LOCALS = word_lists.words("emails", "verdict", "unread_locals")
LONGEST = 320  # characters: 64 before the sign, 255 behind it
UNREADABLE = "\ufffd"


class Takes(StrEnum):
    """What the name servers say about a domain's mail."""

    HOSTS = "mail hosts"
    ADDRESS = "an address only"  # mail would go to the web server (RFC 5321, 5.1)
    INSIDE = "an address that is not public"  # nobody outside can bring it
    REFUSES = "refuses mail"  # a null MX (RFC 7505)
    SENDS_NONE = "no mail at all"  # no mail host, and an SPF that lets nobody send
    NOWHERE = "no mail host"
    ABSENT = "no such domain"


@dataclass(frozen=True, slots=True)
class MailDomain:
    """Who takes mail for a domain: the hosts in the order in which they are tried."""

    takes: Takes
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmailAddress:
    """An address as its letters and the lists tell. `role` and `free_mail` are labels and no faults."""

    email: str
    domain: str = ""  # in the letters of DNS
    role: bool = False
    free_mail: bool = False
    disposable: bool = False
    did_you_mean: str | None = None
    wrong: str | None = None  # why it is none
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on an address with its reasons, as it is kept with the contact; of a number alone there is none."""

    verdict: Verdict | None
    reasons: tuple[str, ...]
    email: str | None
    checked_at: datetime
    mx: tuple[str, ...] = ()
    role: bool = False
    free_mail: bool = False
    disposable: bool = False
    did_you_mean: str | None = None
    phone_valid: bool | None = None  # None where there is no number

    def as_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        fields = asdict(self)
        return {**fields, "verdict": self.verdict and self.verdict.value, "checked_at": self.checked_at.isoformat()}


# What each answer means for an address that is otherwise fine, and the reason that is told.
ANSWERS: dict[Takes, tuple[Verdict, str]] = {
    Takes.HOSTS: (Verdict.DELIVERABLE, "its domain takes mail"),
    Takes.ADDRESS: (Verdict.RISKY, "its domain names no mail host, only a web address"),
    Takes.INSIDE: (Verdict.UNDELIVERABLE, "its domain names no mail host, and its address is not a public one"),
    Takes.REFUSES: (Verdict.UNDELIVERABLE, "its domain refuses mail (null MX)"),
    Takes.SENDS_NONE: (Verdict.UNDELIVERABLE, "its domain names no mail host, and its SPF lets nobody send"),
    Takes.NOWHERE: (Verdict.UNDELIVERABLE, "its domain has no mail host and no address"),
    Takes.ABSENT: (Verdict.UNDELIVERABLE, "there is no such domain"),
}


def look_at(written: str, is_own_domain: bool = False) -> EmailAddress:
    """What can be told without asking anybody. On the business's own domain nothing is a slip of the finger."""
    address = clean(written, LONGEST).strip().lower()
    if UNREADABLE in address:
        return EmailAddress(address, wrong="not an address: some of its letters cannot be read")
    try:
        read = validate_email(address, strict=True, check_deliverability=False)
    except EmailNotValidError as error:
        return EmailAddress(address, wrong=f"not an address: {clean(str(error), 200)}")
    except UnicodeError:  # of the encodings below it, for letters that no domain can have
        return EmailAddress(address, wrong="not an address: its letters cannot be written in a domain name")
    local, domain = read.local_part.lower(), read.ascii_domain.lower()
    known = None if is_own_domain else domain_lists.meant(domain)
    seen = EmailAddress(
        read.normalized,
        domain,
        role=local in ROLE_LOCALS or local in UNREAD_LOCALS,
        free_mail=domain_lists.is_free(domain),
        disposable=domain_lists.is_disposable(domain),
        did_you_mean=f"{local}@{known}" if known else None,
    )
    return replace(seen, doubts=tuple(_doubts(seen, local)))


def conclude(
    address: EmailAddress, mail: MailDomain | None, checked_at: datetime, phone_valid: bool | None = None
) -> Verification:
    """The verdict. `mail` is None where the name servers gave no answer, or did not have to be asked."""
    verdict, reasons = _weigh(address, mail)
    return Verification(
        verdict,
        reasons,
        address.email,
        checked_at,
        mail.hosts if mail else (),
        address.role,
        address.free_mail,
        address.disposable,
        address.did_you_mean,
        phone_valid,
    )


def of_number(is_valid: bool, checked_at: datetime) -> Verification:
    """What can be told of a contact that has a number and no address: letters are what verdicts are about."""
    told = "no email address; the number can exist" if is_valid else "no email address; there is no such number"
    return Verification(None, (told,), None, checked_at, phone_valid=is_valid)


def _weigh(address: EmailAddress, mail: MailDomain | None) -> tuple[Verdict, tuple[str, ...]]:
    if address.wrong is not None:
        return Verdict.UNDELIVERABLE, (address.wrong,)
    if mail is None:
        return Verdict.UNKNOWN, ("the name servers of its domain give no answer", *address.doubts)
    verdict, told = ANSWERS[mail.takes]
    if address.doubts and verdict is Verdict.DELIVERABLE:
        verdict = Verdict.RISKY
    return verdict, (told, *address.doubts)


def _doubts(address: EmailAddress, local: str) -> list[str]:
    """Why a letter that arrives may be read by nobody."""
    doubts = []
    if address.disposable:
        doubts.append("a throw-away mailbox")
    if local in UNREAD_LOCALS:
        doubts.append("nobody reads mail to it")
    if address.did_you_mean:
        doubts.append(f"perhaps {address.did_you_mean} is meant")
    if not local.isascii():
        doubts.append("few mail hosts take letters outside ASCII before the @")
    return doubts
