"""Brevo: created or updated, with the attributes that exist, and each refusal with its consequence."""

from datetime import timedelta

import pytest

from scrapersky.destinations.brevo import Brevo
from scrapersky.destinations.errors import ContactRefused, DestinationClosed, Receipt, Throttled, TryLater
from tests.destinations.conftest import address, parcel


@pytest.fixture
def account(sandbox, post) -> Brevo:
    return Brevo(post, address("brevo", sandbox.brevo_url, sandbox.brevo.key, list_ids=[1]))


async def test_a_contact_is_created_then_updated(sandbox, account):
    sent = parcel("Anna@Molar.fi", name="Anna Molar", business="Molar Oy", phone="+35891234567")
    assert await account.deliver(sent) == Receipt("1")
    assert await account.deliver(sent) == Receipt(None)  # 204: an update does not say its number
    assert sandbox.brevo.contacts["anna@molar.fi"]["lists"] == {1}
    assert len(sandbox.brevo.contacts) == 1


async def test_only_attributes_that_exist_are_sent_and_nothing_is_invented(sandbox, account):
    await account.deliver(parcel(name="Anna Molar", business="Molar Oy", phone="+35891234567"))
    await account.deliver(parcel("info@molar.fi"))
    named, nameless = sandbox.brevo.told
    assert named["attributes"] == {"FIRSTNAME": "Anna", "LASTNAME": "Molar"}  # no COMPANY there, and no SMS by default
    assert nameless == {"email": "info@molar.fi", "attributes": {}, "updateEnabled": True, "listIds": [1]}


async def test_two_contacts_with_one_number_do_not_hinder_each_other(sandbox, account):
    for email in ("anna@molar.fi", "info@molar.fi"):
        await account.deliver(parcel(email, phone="+35891234567"))
    assert len(sandbox.brevo.contacts) == 2


@pytest.mark.parametrize(
    ("kind", "error", "after", "words"),
    [
        ("rate_limit", Throttled, timedelta(seconds=7), "patience"),
        ("too_early", TryLater, timedelta(seconds=10), "425"),
        ("in_process", TryLater, timedelta(seconds=10), "not ready"),
        ("internal", TryLater, None, "500"),
        ("odd_code", ContactRefused, None, "it does not say why"),
    ],
)
async def test_each_way_of_saying_no_has_its_consequence(sandbox, account, kind, error, after, words):
    sandbox.brevo.fail(kind)
    with pytest.raises(error, match=words) as caught:
        await account.deliver(parcel())
    assert type(caught.value) is error
    assert getattr(caught.value, "after", None) == after
    assert await account.deliver(parcel()) == Receipt("1")


async def test_a_bad_address_is_refused_for_itself(account):
    with pytest.raises(ContactRefused, match="invalid_parameter"):
        await account.deliver(parcel("bad@nowhere"))


async def test_a_list_that_does_not_exist_closes_the_destination(sandbox, post):
    odd = Brevo(post, address("brevo", sandbox.brevo_url, sandbox.brevo.key, list_ids=[99]))
    with pytest.raises(DestinationClosed, match="list_ids"):
        await odd.deliver(parcel())


async def test_a_wrong_key_closes_the_destination_and_is_not_shown(sandbox, post):
    wrong = Brevo(post, address("brevo", sandbox.brevo_url, "xkeysib-wrong"))
    with pytest.raises(DestinationClosed, match="Enter an API key") as caught:
        await wrong.deliver(parcel())
    assert "xkeysib-wrong" not in str(caught.value)


async def test_the_test_says_which_attributes_are_missing(account):
    said = await account.test()
    assert said.startswith("Brevo knows the key. It lacks the attributes CITY, COMPANY")
