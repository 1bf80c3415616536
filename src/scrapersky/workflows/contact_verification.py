"""WF8: an email address gets its verdict: would mail arrive?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.crawl.network.mx_lookup import DnsUnavailable, MxLookup
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.emails.deliverability import (
    InspectedAddress,
    MailDomain,
    Verification,
    inspect_address,
    verify_email,
    verify_phone_only,
)
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.models import Contact
from scrapersky.store.contacts import upsert as contacts
from scrapersky.store.deliveries import deliveries

MAX_DNS_TRIES = 3  # after this many silent tries the verdict is given without DNS
OWN_KINDS = ("role", "personal")  # addresses on the domain of the site they were found on


@dataclass(frozen=True)
class ContactToVerify:
    """An email address and a phone number, and the number of this try."""

    email: str | None
    email_kind: str | None
    phone: str | None
    tries: int


class ContactVerification(Workflow[Contact, ContactToVerify, Verification]):
    """An email address gets its verdict: by syntax, by lists of disposable and free hosts, and by its MX records."""

    number = 8
    name = "contact_verification"
    model = Contact
    reads = ("email", "email_kind", "phone")
    tuning = Tuning(interval_minutes=1, batch_size=50, max_batch_size=500, max_instances=1, concurrency=50)

    def __init__(self, mx_lookup: MxLookup) -> None:
        self._mx_lookup = mx_lookup

    def read(self, row: Claimed) -> ContactToVerify:
        """Read the address and the number of this try."""
        return ContactToVerify(row.email, row.email_kind, row.phone, row.attempts - row.allowance)

    async def work(self, contact: ContactToVerify) -> Verification:
        """Check syntax and lists first; only addresses that pass need a DNS lookup."""
        phone_valid = parse_phone(contact.phone, "") is not None if contact.phone else None
        if not contact.email:
            if phone_valid is None:
                raise Skip("no email address and no phone number")
            return verify_phone_only(phone_valid, clock.now())
        address = inspect_address(contact.email, contact.email_kind in OWN_KINDS)
        mail = await self._mail_of(address, contact.tries) if address.wrong is None else None
        return verify_email(address, mail, clock.now(), phone_valid)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Contact, Verification]]) -> Iterable[UUID]:
        """Store each verdict with its reasons; queue deliveries to destinations whose rule selects the contact."""
        for row, verification in found:
            contacts.set_verdict(row, verification)
        await session.flush()  # the rules read the verdicts
        await deliveries.queue_by_rule(session, [row.id for row, _ in found])
        return ()

    async def _mail_of(self, address: InspectedAddress, tries: int) -> MailDomain | None:
        """Look up the mail hosts; return None after MAX_DNS_TRIES without a DNS response."""
        try:
            return await self._mx_lookup.lookup(address.domain)
        except DnsUnavailable:
            if tries < MAX_DNS_TRIES:
                raise
            return None
