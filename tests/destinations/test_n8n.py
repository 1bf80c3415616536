"""n8n: the header of its node, and its own way of saying that nobody listens."""

import pytest

from scrapersky.destinations.errors import DestinationClosed, TryLater
from scrapersky.destinations.n8n import N8n
from tests.destinations.conftest import address, parcel


async def test_a_contact_starts_the_workflow(sandbox, post):
    receiver = sandbox.hooks.add("/webhook/leads", header=("X-Key", "hemlig"))
    sent = parcel(name="Anna Molar")
    node = N8n(post, address("n8n", f"{sandbox.hooks_url}/webhook/leads", "hemlig", header="X-Key"))
    await node.deliver(sent)
    await node.deliver(sent)
    assert receiver.seen == [sent.message_id] * 2
    assert len(receiver.effects) == 1
    assert receiver.effects[sent.message_id]["data"]["name"] == "Anna Molar"
    assert await node.test() == "It answered 200."


async def test_the_header_is_authorization_unless_told_otherwise(sandbox, post):
    sandbox.hooks.add("/webhook/leads", header=("Authorization", "Basic YTpi"))
    await N8n(post, address("n8n", f"{sandbox.hooks_url}/webhook/leads", "Basic YTpi")).deliver(parcel())


async def test_a_web_hook_that_is_not_registered_is_explained_and_tried_again(sandbox, post):
    with pytest.raises(TryLater, match=r"Activate the workflow, and use its production address"):
        await N8n(post, address("n8n", f"{sandbox.hooks_url}/webhook-test/leads")).deliver(parcel())


async def test_a_wrong_header_closes_the_destination_with_the_cure(sandbox, post):
    sandbox.hooks.add("/webhook/leads", header=("Authorization", "right"))
    with pytest.raises(DestinationClosed, match=r"403.*Enter its value anew"):
        await N8n(post, address("n8n", f"{sandbox.hooks_url}/webhook/leads", "wrong")).deliver(parcel())
