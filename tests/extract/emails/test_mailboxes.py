"""What mailboxes are for."""

import pytest

from scrapersky.extract.emails.classify import classify_email
from scrapersky.extract.emails.mailboxes import MailboxUse, mailbox_use
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_names, load_table, word_set


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
        ("karyalay@vidyalay.in", MailboxUse.GENERAL),
        ("lienhe@noithat.vn", MailboxUse.GENERAL),
        ("contabilidade@obras.pt", MailboxUse.UNSUITABLE),
        ("etude@notaires.fr", MailboxUse.GENERAL),
        ("ofis@vet.ru", MailboxUse.GENERAL),
        ("misrad@cpa.co.il", MailboxUse.GENERAL),
        ("skrifstofa@skoli.is", MailboxUse.GENERAL),
        ("sekretariaat@school.ee", MailboxUse.GENERAL),
        ("priemnaya@vet.ru", MailboxUse.GENERAL),
        ("takuu@rakennus.fi", MailboxUse.CUSTOMERS),
        ("prezes@trans.pl", MailboxUse.HEAD),
        ("giamdoc@noithat.vn", MailboxUse.HEAD),
        ("ordforande@klubb.se", MailboxUse.HEAD),
        ("glavvrach@vet.ru", MailboxUse.HEAD),
        ("director@school.es", MailboxUse.HEAD),
        ("", MailboxUse.UNKNOWN),
    ],
)
def test_a_mailbox_has_its_use(address, use):
    assert mailbox_use(address) is use


@pytest.mark.parametrize(
    "local", ["direccion", "styrelsen", "karyalay", "lienhe", "contabilidade", "takuu", "front.office", "info-ventas"]
)
def test_the_mailbox_of_a_function_is_no_persons(local: str) -> None:
    assert classify_email(f"{local}@acme.example", "acme.example") == "role"


@pytest.mark.parametrize("local", ["prezes", "vicar", "eva.molar", "anna", "info.eva", "acme"])
def test_the_mailbox_of_a_person_or_of_the_post_that_a_person_has_is_personal(local: str) -> None:
    assert classify_email(f"{local}@acme.example", "acme.example") == "personal"


# Words of function mailboxes that are family names somewhere, too.
ALSO_NAMES = word_set("church company doctor front general poczta post loja podpora sales dev job media press")


def test_no_word_of_a_function_mailbox_is_a_name() -> None:
    """A person's mailbox, anna@ or kool@, never becomes one of a function."""
    table = load_table("functions")["mailboxes"]
    words = {
        fold(word) for use in ("general", "customers", "unsuitable") for word in table[use].replace(",", " ").split()
    }
    assert words & (load_names("given_names") | load_names("surnames")) <= ALSO_NAMES
