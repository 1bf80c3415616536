"""HubSpot: one request for many, each with its own fate, and nothing invented."""

import asyncio
from datetime import timedelta

import pytest

from scrapersky.destinations.errors import ContactRefused, DestinationClosed, Receipt, Throttled, TryLater
from scrapersky.destinations.hubspot.adapter import HubSpot
from tests.destinations.conftest import address, parcel


@pytest.fixture
def portal(sandbox, post) -> HubSpot:
    return HubSpot(post, address("hubspot", sandbox.hubspot_url, sandbox.hubspot.token))


async def test_a_contact_is_written_with_what_is_known_and_no_more(sandbox, portal):
    facts = {"name": "Anna Maria Molar", "title": "Dentist", "business": "Molar Oy", "phone": "+35891234567"}
    receipt = await portal.deliver(parcel("Anna@Molar.fi", **facts))
    await portal.deliver(parcel("info@molar.fi"))
    assert receipt == Receipt("101")
    assert sandbox.hubspot.contacts["anna@molar.fi"]["properties"] == {
        "email": "anna@molar.fi",
        "firstname": "Anna Maria",
        "lastname": "Molar",
        "jobtitle": "Dentist",
        "company": "Molar Oy",
        "phone": "+35891234567",
    }
    # The first implementation sent "Phone not found", "Contact" and "at <host>" here.
    assert sandbox.hubspot.contacts["info@molar.fi"]["properties"] == {"email": "info@molar.fi"}


async def test_the_same_again_changes_nothing(sandbox, portal):
    sent = parcel(name="Anna")
    receipts = [await portal.deliver(sent) for _ in range(3)]
    assert receipts == [Receipt("101")] * 3
    assert len(sandbox.hubspot.contacts) == 1


async def test_deliveries_of_one_moment_share_requests_of_a_hundred(sandbox, portal):
    receipts = await asyncio.gather(*(portal.deliver(parcel(f"a{n}@molar.fi")) for n in range(250)))
    assert sum(sandbox.hubspot.batches) == 250
    assert max(sandbox.hubspot.batches) == 100
    assert len(sandbox.hubspot.batches) <= 4
    by_address = {f"a{n}@molar.fi": receipt.external_id for n, receipt in enumerate(receipts)}
    assert by_address == {mail: known["id"] for mail, known in sandbox.hubspot.contacts.items()}


async def test_one_address_is_never_twice_in_a_request(sandbox, portal):
    receipts = await asyncio.gather(
        *(portal.deliver(parcel(mail)) for mail in ("a@b.fi", "A@B.fi", "c@d.fi", "a@b.fi"))
    )
    assert [receipt.external_id for receipt in receipts] == ["101", "101", "102", "101"]
    assert sorted(sandbox.hubspot.batches) == [1, 1, 2]


@pytest.mark.parametrize("strict", [False, True])
async def test_a_bad_contact_fails_alone(sandbox, portal, strict):
    sandbox.hubspot.strict = strict  # 207 with the errors among the results, or 400 for the whole batch
    wanted = [parcel("good@molar.fi"), parcel("bad@nowhere"), parcel("fine@molar.fi")]
    fates = await asyncio.gather(*map(portal.deliver, wanted), return_exceptions=True)
    assert [type(fate) for fate in fates] == [Receipt, ContactRefused, Receipt]
    assert "INVALID_EMAIL" in str(fates[1])
    assert "bad@nowhere" not in str(fates[1])
    assert set(sandbox.hubspot.contacts) == {"good@molar.fi", "fine@molar.fi"}


@pytest.mark.parametrize(
    ("kind", "error", "after", "words"),
    [
        ("ten_secondly", Throttled, timedelta(seconds=10), "patience"),
        ("daily", Throttled, timedelta(hours=1), "in a day"),
        ("missing_scopes", DestinationClosed, None, "crm.objects.contacts.write"),
        ("conflict", TryLater, None, "409"),
        ("internal", TryLater, None, "500"),
        ("bad_gateway", TryLater, None, "502"),
    ],
)
async def test_each_way_of_saying_no_has_its_consequence(sandbox, portal, kind, error, after, words):
    sandbox.hubspot.fail(kind)
    with pytest.raises(error, match=words) as caught:
        await portal.deliver(parcel())
    assert type(caught.value) is error
    assert getattr(caught.value, "after", None) == after
    assert await portal.deliver(parcel()) == Receipt("101")


async def test_a_wrong_token_closes_the_destination_and_is_not_shown(sandbox, post):
    wrong = HubSpot(post, address("hubspot", sandbox.hubspot_url, "pat-wrong"))
    with pytest.raises(DestinationClosed, match="Enter the access token") as caught:
        await wrong.deliver(parcel())
    assert "pat-wrong" not in str(caught.value)
    with pytest.raises(DestinationClosed):
        await wrong.test()


async def test_properties_may_be_named_anew_and_one_that_is_missing_closes_the_destination(sandbox, post):
    fields = {"first_name": None, "last_name": None, "source_url": "lead_source"}
    own = HubSpot(post, address("hubspot", sandbox.hubspot_url, sandbox.hubspot.token, fields=fields))
    await own.deliver(parcel(name="Anna Molar", source_url="https://molar.fi/contact"))
    assert sandbox.hubspot.contacts["anna@molar.fi"]["properties"] == {
        "email": "anna@molar.fi",
        "lead_source": "https://molar.fi/contact",
    }
    odd = HubSpot(post, address("hubspot", sandbox.hubspot_url, sandbox.hubspot.token, fields={"name": "no_such"}))
    with pytest.raises(DestinationClosed, match="PROPERTY_DOESNT_EXIST"):
        await odd.deliver(parcel(name="Anna"))


async def test_the_test_writes_nothing(sandbox, portal):
    assert await portal.test() == "HubSpot knows the token."
    assert sandbox.hubspot.contacts == {}
