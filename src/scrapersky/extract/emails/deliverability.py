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
from scrapersky.extract.text import clean_text

UNREAD_LOCALS = word_lists.words("emails", "verdict", "unread_locals")
LONGEST = 320  # characters: 64 before the sign, 255 behind it
UNREADABLE = "\ufffd"


class MailAcceptance(StrEnum):
    """What the name servers say about a domain's mail."""

    MX_HOSTS = "mail hosts"
    ADDRESS_ONLY = "an address only"  # mail would go to the web server (RFC 5321, 5.1)
    PRIVATE_ADDRESS = "an address that is not public"  # nobody outside can bring it
    NULL_MX = "refuses mail"  # a null MX (RFC 7505)
    SPF_DENIES_ALL = "no mail at all"  # no mail host, and an SPF that lets nobody send
    NO_HOST = "no mail host"
    NO_DOMAIN = "no such domain"


@dataclass(frozen=True, slots=True)
class MailDomain:
    """Who takes mail for a domain: the hosts in the order in which they are tried."""

    acceptance: MailAcceptance
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InspectedAddress:
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
ANSWERS: dict[MailAcceptance, tuple[Verdict, str]] = {
    MailAcceptance.MX_HOSTS: (Verdict.DELIVERABLE, "its domain takes mail"),
    MailAcceptance.ADDRESS_ONLY: (Verdict.RISKY, "its domain names no mail host, only a web address"),
    **{
        acceptance: (Verdict.UNDELIVERABLE, reason)
        for acceptance, reason in {
            MailAcceptance.PRIVATE_ADDRESS: "its domain names no mail host, and its address is not a public one",
            MailAcceptance.NULL_MX: "its domain refuses mail (null MX)",
            MailAcceptance.SPF_DENIES_ALL: "its domain names no mail host, and its SPF lets nobody send",
            MailAcceptance.NO_HOST: "its domain has no mail host and no address",
            MailAcceptance.NO_DOMAIN: "there is no such domain",
        }.items()
    },
}


def inspect_address(written: str, is_own_domain: bool = False) -> InspectedAddress:
    """What can be told without asking anybody. On the business's own domain nothing is a slip of the finger."""
    address = clean_text(written, LONGEST).strip().lower()
    if UNREADABLE in address:
        return InspectedAddress(address, wrong="not an address: some of its letters cannot be read")
    try:
        read = validate_email(address, strict=True, check_deliverability=False)
    except EmailNotValidError as error:
        return InspectedAddress(address, wrong=f"not an address: {clean_text(str(error), 200)}")
    except UnicodeError:  # of the encodings below it, for letters that no domain can have
        return InspectedAddress(address, wrong="not an address: its letters cannot be written in a domain name")
    local, domain = read.local_part.lower(), read.ascii_domain.lower()
    known = None if is_own_domain else domain_lists.meant(domain)
    seen = InspectedAddress(
        read.normalized,
        domain,
        role=local in ROLE_LOCALS or local in UNREAD_LOCALS,
        free_mail=domain_lists.is_free(domain),
        disposable=domain_lists.is_disposable(domain),
        did_you_mean=f"{local}@{known}" if known else None,
    )
    return replace(seen, doubts=tuple(_doubts(seen, local)))


def verify_email(
    address: InspectedAddress, mail: MailDomain | None, checked_at: datetime, phone_valid: bool | None = None
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


def verify_phone_only(is_valid: bool, checked_at: datetime) -> Verification:
    """What can be told of a contact that has a number and no address: letters are what verdicts are about."""
    told = "no email address; the number can exist" if is_valid else "no email address; there is no such number"
    return Verification(None, (told,), None, checked_at, phone_valid=is_valid)


def _weigh(address: InspectedAddress, mail: MailDomain | None) -> tuple[Verdict, tuple[str, ...]]:
    if address.wrong is not None:
        return Verdict.UNDELIVERABLE, (address.wrong,)
    if mail is None:
        return Verdict.UNKNOWN, ("the name servers of its domain give no answer", *address.doubts)
    verdict, told = ANSWERS[mail.acceptance]
    if address.doubts and verdict is Verdict.DELIVERABLE:
        verdict = Verdict.RISKY
    return verdict, (told, *address.doubts)


def _doubts(address: InspectedAddress, local: str) -> list[str]:
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
