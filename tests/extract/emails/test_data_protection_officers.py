"""Data protection officers: those of another firm are rejected, those of the business are not."""

import pytest

from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.results import Contacts

REASON = "data protection officer of another firm"


def read(html: str) -> Contacts:
    return read_contacts(html, url="https://www.kontor.de/impressum", region="DE")


@pytest.mark.parametrize(
    "html",
    [
        "<p>Datenschutzbeauftragter: Dr. Jens Walter, jens@recht-beratung.de</p>",
        "<p>Datenschutzbeauftragter:<br>Dr. Jens Walter<br>jens@recht-beratung.de</p>",
        "<p>Data Protection Officer: Dr. Jens Walter, jens@recht-beratung.de</p>",
        "<p>Inspektor ochrony danych: Dr. Jens Walter, jens@recht-beratung.de</p>",
        "<p>Délégué à la protection des données : Dr. Jens Walter, jens@recht-beratung.de</p>",
    ],
)
def test_a_data_protection_officer_of_another_firm_is_rejected_with_the_reason(html: str) -> None:
    contacts = read(f"<p>Inhaberin: Maria Brandauer, info@kontor.de</p>{html}")
    assert [email.address for email in contacts.emails] == ["info@kontor.de"]
    assert [person.name for person in contacts.people] == ["Maria Brandauer"]
    assert {(one.value, one.reason) for one in contacts.rejected} >= {
        ("jens@recht-beratung.de", REASON),
        ("Jens Walter", REASON),
    }


@pytest.mark.parametrize(
    "html",
    [
        "<p>Datenschutzbeauftragter: Dr. Jens Walter, jens@kontor.de</p>",
        "<p>Datenschutzbeauftragter: Dr. Jens Walter, jens.walter@web.de</p>",
        "<p>info@kontor-gruppe.de</p><p>Datenschutzbeauftragter: Dr. Jens Walter, jens@kontor-gruppe.de</p>",
        "<p>Datenschutzbeauftragter: Dr. Jens Walter</p><h2>Partner</h2><p>post@recht-beratung.de</p>",
    ],
)
def test_a_data_protection_officer_of_the_business_is_one_of_its_people(html: str) -> None:
    contacts = read(html)
    assert [person.name for person in contacts.people] == ["Jens Walter"]
    assert [one for one in contacts.rejected if one.reason == REASON] == []
