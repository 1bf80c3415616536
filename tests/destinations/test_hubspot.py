"""HubSpot: one request for many contacts, each with its own result and only known values."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from scrapersky.destinations.errors import ContactRefused, DestinationClosed, Receipt, Throttled, TryLater
from scrapersky.destinations.hubspot import HubSpot
from tests.destinations.conftest import endpoint, message


@pytest.fixture
def portal(sandbox, http) -> HubSpot:
    return HubSpot(http, endpoint("hubspot", sandbox.hubspot_url, sandbox.hubspot.token))


async def test_a_contact_is_written_with_known_values_only(sandbox, portal):
    name = {"name": "Anna Maria Molar", "first_name": "Anna Maria", "last_name": "Molar", "honorific": "Ms"}
    facts: Any = {**name, "title": "Dentist", "business": "Molar Oy", "phone": "+35891234567"}
    receipt = await portal.deliver(message("Anna@Molar.fi", **facts))
    await portal.deliver(message("info@molar.fi"))
    assert receipt == Receipt("101")
    assert sandbox.hubspot.contacts["anna@molar.fi"]["properties"] == {
        "email": "anna@molar.fi",
        "firstname": "Anna Maria",
        "lastname": "Molar",
        "salutation": "Ms",
        "jobtitle": "Dentist",
        "company": "Molar Oy",
        "phone": "+35891234567",
    }
    assert sandbox.hubspot.contacts["info@molar.fi"]["properties"] == {"email": "info@molar.fi"}


@pytest.mark.parametrize(
    ("name", "country", "first", "last"),
    [
        ("Li Wei", "CN", None, "Li Wei"),
        ("Dr. Eva Virtanen", "FI", "Eva", "Virtanen"),
        ("Kovács Eszter", "HU", "Eszter", "Kovács"),
    ],
)
async def test_a_name_without_parts_is_split_by_the_country_or_is_the_last_name(
    sandbox, portal, name, country, first, last
):
    await portal.deliver(message("anna@molar.fi", name=name, country=country))
    properties = sandbox.hubspot.contacts["anna@molar.fi"]["properties"]
    assert (properties.get("firstname"), properties["lastname"]) == (first, last)


async def test_sending_the_same_message_again_changes_nothing(sandbox, portal):
    sent = message(name="Anna")
    receipts = [await portal.deliver(sent) for _ in range(3)]
    assert receipts == [Receipt("101")] * 3
    assert len(sandbox.hubspot.contacts) == 1


async def test_deliveries_at_the_same_time_share_requests_of_a_hundred(sandbox, portal):
    receipts = await asyncio.gather(*(portal.deliver(message(f"a{n}@molar.fi")) for n in range(250)))
    assert sum(sandbox.hubspot.batches) == 250
    assert max(sandbox.hubspot.batches) == 100
    assert len(sandbox.hubspot.batches) <= 4
    by_address = {f"a{n}@molar.fi": receipt.external_id for n, receipt in enumerate(receipts)}
    assert by_address == {mail: known["id"] for mail, known in sandbox.hubspot.contacts.items()}


async def test_one_email_address_is_never_twice_in_a_request(sandbox, portal):
    receipts = await asyncio.gather(
        *(portal.deliver(message(mail)) for mail in ("a@b.fi", "A@B.fi", "c@d.fi", "a@b.fi"))
    )
    assert [receipt.external_id for receipt in receipts] == ["101", "101", "102", "101"]
    assert sorted(sandbox.hubspot.batches) == [1, 1, 2]


@pytest.mark.parametrize("strict", [False, True])
async def test_a_bad_contact_fails_alone(sandbox, portal, strict):
    sandbox.hubspot.strict = strict  # 207 with the errors among the results, or 400 for the whole batch
    wanted = [message("good@molar.fi"), message("bad@nowhere"), message("fine@molar.fi")]
    results = await asyncio.gather(*map(portal.deliver, wanted), return_exceptions=True)
    assert [type(result) for result in results] == [Receipt, ContactRefused, Receipt]
    assert "INVALID_EMAIL" in str(results[1])
    assert "bad@nowhere" not in str(results[1])
    assert set(sandbox.hubspot.contacts) == {"good@molar.fi", "fine@molar.fi"}


@pytest.mark.parametrize(
    ("kind", "error", "after", "words"),
    [
        ("ten_secondly", Throttled, timedelta(seconds=10), "rate of requests"),
        ("daily", Throttled, timedelta(hours=1), "in a day"),
        ("missing_scopes", DestinationClosed, None, "crm.objects.contacts.write"),
        ("conflict", TryLater, None, "409"),
        ("internal", TryLater, None, "500"),
        ("bad_gateway", TryLater, None, "502"),
    ],
)
async def test_each_error_response_has_its_consequence(sandbox, portal, kind, error, after, words):
    sandbox.hubspot.fail(kind)
    with pytest.raises(error, match=words) as caught:
        await portal.deliver(message())
    assert type(caught.value) is error
    assert getattr(caught.value, "after", None) == after
    assert await portal.deliver(message()) == Receipt("101")


async def test_a_wrong_token_closes_the_destination_and_is_not_shown(sandbox, http):
    wrong = HubSpot(http, endpoint("hubspot", sandbox.hubspot_url, "pat-wrong"))
    with pytest.raises(DestinationClosed, match="Set the access token") as caught:
        await wrong.deliver(message())
    assert "pat-wrong" not in str(caught.value)
    with pytest.raises(DestinationClosed):
        await wrong.test()


async def test_properties_can_be_mapped_and_a_missing_one_closes_the_destination(sandbox, http):
    fields = {"first_name": None, "last_name": None, "source_url": "lead_source"}
    own = HubSpot(http, endpoint("hubspot", sandbox.hubspot_url, sandbox.hubspot.token, fields=fields))
    await own.deliver(message(name="Anna Molar", source_url="https://molar.fi/contact"))
    assert sandbox.hubspot.contacts["anna@molar.fi"]["properties"] == {
        "email": "anna@molar.fi",
        "lead_source": "https://molar.fi/contact",
    }
    odd = HubSpot(http, endpoint("hubspot", sandbox.hubspot_url, sandbox.hubspot.token, fields={"name": "no_such"}))
    with pytest.raises(DestinationClosed, match="PROPERTY_DOESNT_EXIST"):
        await odd.deliver(message(name="Anna"))


async def test_the_test_writes_nothing(sandbox, portal):
    assert await portal.test() == "HubSpot accepts the access token."
    assert sandbox.hubspot.contacts == {}
