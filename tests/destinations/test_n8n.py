"""n8n: the header of its node, and the errors of a node that does not listen."""

import pytest

from scrapersky.destinations.errors import DestinationClosed, TryLater
from scrapersky.destinations.n8n import N8n
from tests.destinations.conftest import endpoint, message


async def test_a_contact_starts_the_workflow(sandbox, http):
    receiver = sandbox.hooks.add("/webhook/leads", header=("X-Key", "hemlig"))
    sent = message(name="Anna Molar")
    node = N8n(http, endpoint("n8n", f"{sandbox.hooks_url}/webhook/leads", "hemlig", header="X-Key"))
    await node.deliver(sent)
    await node.deliver(sent)
    assert receiver.seen == [sent.message_id] * 2
    assert len(receiver.effects) == 1
    assert receiver.effects[sent.message_id]["data"]["name"] == "Anna Molar"
    assert await node.test() == "The destination responded with status 200."


async def test_the_header_is_authorization_by_default(sandbox, http):
    sandbox.hooks.add("/webhook/leads", header=("Authorization", "Basic YTpi"))
    await N8n(http, endpoint("n8n", f"{sandbox.hooks_url}/webhook/leads", "Basic YTpi")).deliver(message())


async def test_a_webhook_that_is_not_registered_is_explained_and_tried_again(sandbox, http):
    with pytest.raises(TryLater, match=r"Activate the workflow, and use its production URL"):
        await N8n(http, endpoint("n8n", f"{sandbox.hooks_url}/webhook-test/leads")).deliver(message())


async def test_a_wrong_header_closes_the_destination_with_the_cure(sandbox, http):
    sandbox.hooks.add("/webhook/leads", header=("Authorization", "right"))
    with pytest.raises(DestinationClosed, match=r"403.*Set the value that the node checks"):
        await N8n(http, endpoint("n8n", f"{sandbox.hooks_url}/webhook/leads", "wrong")).deliver(message())
