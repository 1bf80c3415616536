"""What mailboxes are for."""

import pytest

from scrapersky.extract.emails.mailboxes import MailboxUse, mailbox_use


@pytest.mark.parametrize(
    ("address", "use"),
    [
        ("info@molar.fi", MailboxUse.GENERAL),
        ("kontakt@praxis.de", MailboxUse.GENERAL),
        ("toimisto@molar.fi", MailboxUse.GENERAL),
        ("secretaria@escola.pt", MailboxUse.GENERAL),
        ("acme@acme.com", MailboxUse.GENERAL),
        ("info.helsinki@molar.fi", MailboxUse.GENERAL),
        ("myynti@molar.fi", MailboxUse.CUSTOMERS),
        ("booking@hotel.it", MailboxUse.CUSTOMERS),
        ("eva.molar@acme.fi", MailboxUse.UNKNOWN),
        ("jobs@acme.fi", MailboxUse.UNSUITABLE),
        ("info-jobs@acme.fi", MailboxUse.UNSUITABLE),
        ("datenschutz@praxis.de", MailboxUse.UNSUITABLE),
        ("no-reply@acme.fi", MailboxUse.UNSUITABLE),
        ("", MailboxUse.UNKNOWN),
    ],
)
def test_a_mailbox_has_its_use(address, use):
    assert mailbox_use(address) is use
