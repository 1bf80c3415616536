"""WF8: an address gets its verdict: would a letter arrive?"""

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

PATIENCE = 3  # name servers that are silent so often are silent: that is a verdict, too
OWN_KINDS = ("role", "personal")  # addresses on the domain of the site they were found on


@dataclass(frozen=True)
class ToVerify:
    """An address and a number, and how often this has been tried."""

    email: str | None
    email_kind: str | None
    phone: str | None
    tries: int


class ContactVerification(Workflow[Contact, ToVerify, Verification]):
    """An address gets its verdict: by its letters, the lists of throw-away and free mailboxes, and its mail hosts."""

    number = 8
    name = "contact_verification"
    model = Contact
    reads = ("email", "email_kind", "phone")
    tuning = Tuning(interval_minutes=1, batch_size=50, max_batch_size=500, max_instances=1, concurrency=50)

    def __init__(self, mx_lookup: MxLookup) -> None:
        self._mx_lookup = mx_lookup

    def read(self, row: Claimed) -> ToVerify:
        """The address as it stands, and this attempt's number."""
        return ToVerify(row.email, row.email_kind, row.phone, row.attempts - row.allowance)

    async def work(self, contact: ToVerify) -> Verification:
        """Letters and lists first: only what they let pass is asked of the name servers."""
        phone_valid = parse_phone(contact.phone, "") is not None if contact.phone else None
        if not contact.email:
            if phone_valid is None:
                raise Skip("no email address and no phone number")
            return verify_phone_only(phone_valid, clock.now())
        address = inspect_address(contact.email, contact.email_kind in OWN_KINDS)
        mail = await self._mail_of(address, contact.tries) if address.wrong is None else None
        return verify_email(address, mail, clock.now(), phone_valid)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Contact, Verification]]) -> Iterable[UUID]:
        """Keep each verdict with its reasons; contacts that a destination's rule wants are queued for it."""
        for row, verification in found:
            contacts.set_verdict(row, verification)
        await session.flush()  # the rules look at the verdicts
        await deliveries.queue_by_rule(session, [row.id for row, _ in found])
        return ()

    async def _mail_of(self, address: InspectedAddress, tries: int) -> MailDomain | None:
        """Who takes its mail; None when the name servers were silent once too often."""
        try:
            return await self._mx_lookup.lookup(address.domain)
        except DnsUnavailable:
            if tries < PATIENCE:
                raise
            return None
