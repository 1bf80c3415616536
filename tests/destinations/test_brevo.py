"""Brevo: contacts are created or updated with the attributes that exist, and each error has its consequence."""

from datetime import timedelta

import pytest

from scrapersky.destinations.brevo import Brevo
from scrapersky.destinations.errors import ContactRefused, DestinationClosed, Receipt, Throttled, TryLater
from tests.destinations.conftest import endpoint, message


@pytest.fixture
def account(sandbox, http) -> Brevo:
    return Brevo(http, endpoint("brevo", sandbox.brevo_url, sandbox.brevo.key, list_ids=[1]))


async def test_a_contact_is_created_then_updated(sandbox, account):
    sent = message("Anna@Molar.fi", name="Anna Molar", business="Molar Oy", phone="+35891234567")
    assert await account.deliver(sent) == Receipt("1")
    assert await account.deliver(sent) == Receipt(None)  # 204: the response to an update has no id
    assert sandbox.brevo.contacts["anna@molar.fi"]["lists"] == {1}
    assert len(sandbox.brevo.contacts) == 1


async def test_only_attributes_that_exist_and_known_values_are_sent(sandbox, account):
    await account.deliver(message(first_name="Anna", last_name="Molar", business="Molar Oy", phone="+35891234567"))
    await account.deliver(message("info@molar.fi"))
    named, nameless = sandbox.brevo.told
    assert named["attributes"] == {"FIRSTNAME": "Anna", "LASTNAME": "Molar"}  # no COMPANY there, and no SMS by default
    assert nameless == {"email": "info@molar.fi", "attributes": {}, "updateEnabled": True, "listIds": [1]}


async def test_two_contacts_can_have_the_same_number(sandbox, account):
    for email in ("anna@molar.fi", "info@molar.fi"):
        await account.deliver(message(email, phone="+35891234567"))
    assert len(sandbox.brevo.contacts) == 2


@pytest.mark.parametrize(
    ("kind", "error", "after", "words"),
    [
        ("rate_limit", Throttled, timedelta(seconds=7), "rate of requests"),
        ("too_early", TryLater, timedelta(seconds=10), "425"),
        ("in_process", TryLater, timedelta(seconds=10), "not ready"),
        ("internal", TryLater, None, "500"),
        ("odd_code", ContactRefused, None, "no known reason"),
    ],
)
async def test_each_error_response_has_its_consequence(sandbox, account, kind, error, after, words):
    sandbox.brevo.fail(kind)
    with pytest.raises(error, match=words) as caught:
        await account.deliver(message())
    assert type(caught.value) is error
    assert getattr(caught.value, "after", None) == after
    assert await account.deliver(message()) == Receipt("1")


async def test_a_wrong_email_address_is_refused_alone(account):
    with pytest.raises(ContactRefused, match="invalid_parameter"):
        await account.deliver(message("bad@nowhere"))


async def test_a_list_that_does_not_exist_closes_the_destination(sandbox, http):
    odd = Brevo(http, endpoint("brevo", sandbox.brevo_url, sandbox.brevo.key, list_ids=[99]))
    with pytest.raises(DestinationClosed, match="list_ids"):
        await odd.deliver(message())


async def test_a_wrong_key_closes_the_destination_and_is_not_shown(sandbox, http):
    wrong = Brevo(http, endpoint("brevo", sandbox.brevo_url, "xkeysib-wrong"))
    with pytest.raises(DestinationClosed, match="Set an API key") as caught:
        await wrong.deliver(message())
    assert "xkeysib-wrong" not in str(caught.value)


async def test_the_test_names_the_missing_attributes(account):
    assert (await account.test()).startswith("Brevo accepts the API key. It has no attributes CITY, COMPANY")
