"""An n8n web hook: the contact as plain JSON, with the header that the node asks for."""

from typing import Any

from scrapersky.core import clock
from scrapersky.destinations.endpoint import Endpoint
from scrapersky.destinations.errors import DestinationClosed, Receipt, TryLater
from scrapersky.destinations.http_sender import HttpResult, HttpSender, as_json
from scrapersky.destinations.payload import Message
from scrapersky.destinations.webhook import refuse

NOT_REGISTERED = (
    "n8n knows no such web hook (404). Activate the workflow, and use its production address (/webhook/…): the test "
    "address (/webhook-test/…) answers only while the editor listens."
)
HEADER = "Authorization"  # the header that carries the secret, unless the option `header` names another


class N8n:
    """A Webhook node with header authentication, or with none."""

    def __init__(self, post: HttpSender, address: Endpoint) -> None:
        self._post = post
        self._address = address

    async def deliver(self, parcel: Message) -> Receipt:
        """Start the workflow with the contact; the id is the same for every try."""
        await self._send({"id": parcel.message_id, "type": "contact.delivered", "data": parcel.card.facts})
        return Receipt()

    async def test(self) -> str:
        """Start the workflow with a test event."""
        answer = await self._send({"id": "test", "type": "destination.test", "data": {}})
        return f"It answered {answer.status}."

    async def _send(self, event: dict[str, Any]) -> HttpResult:
        headers = {"Content-Type": "application/json"}
        for secret in self._address.secrets[:1]:
            headers[str(self._address.options.get("header") or HEADER)] = secret
        body = as_json({**event, "timestamp": clock.now().isoformat()})
        # What the workflow answers may be long, and is of no interest to us.
        answer = await self._post.send("POST", self._address.url or "", headers=headers, body=body, read_answer=False)
        if answer.status in (401, 403):
            raise DestinationClosed(
                f"n8n answers {answer.status}: the header that the node asks for is another one. Enter its value anew."
            )
        if answer.status == 404:
            raise TryLater(NOT_REGISTERED)
        refuse(answer)
        return answer
