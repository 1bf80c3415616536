"""A signed web hook: each contact is one message in the manner of Standard Webhooks 1.0.0."""

from datetime import timedelta
from typing import Any

from scrapersky.core import clock
from scrapersky.destinations import webhook_signature
from scrapersky.destinations.endpoint import Endpoint
from scrapersky.destinations.errors import DestinationClosed, Receipt, Throttled, TryLater
from scrapersky.destinations.http_sender import HttpResult, HttpSender, as_json
from scrapersky.destinations.payload import Message

MAX_BYTES = 20_000  # of a body
MANY = timedelta(seconds=60)  # the wait after a 429 that does not say how long
THROTTLED = (429, 502, 503, 504)


class Webhook:
    """Somebody's own receiver. Its answer is a status and no more: the body is not even read."""

    def __init__(self, post: HttpSender, address: Endpoint) -> None:
        self._post = post
        self._address = address

    async def deliver(self, parcel: Message) -> Receipt:
        """Send the contact as a `contact.delivered` message."""
        answer = await self._send(parcel.message_id, message("contact.delivered", parcel.card.facts))
        refuse(answer)
        return Receipt()

    async def test(self) -> str:
        """Send a `destination.test` message; what came back in our words."""
        answer = await self._send(f"test_{clock.now():%Y%m%d%H%M%S%f}", message("destination.test", {}))
        refuse(answer)
        return f"It answered {answer.status}."

    async def _send(self, message_id: str, body: bytes) -> HttpResult:
        moment = int(clock.now().timestamp())
        signed = webhook_signature.headers(message_id, moment, body, self._address.secrets)
        headers = {"Content-Type": "application/json", **signed}
        url = self._address.url or ""
        return await self._post.send("POST", url, headers=headers, body=body, read_answer=False)


def message(kind: str, facts: dict[str, Any]) -> bytes:
    """The body of a message. One that would be too long loses its longest facts, never its address."""
    kept = dict(facts)
    while len(body := as_json({"type": kind, "timestamp": clock.now().isoformat(), "data": kept})) >= MAX_BYTES:
        spare = [name for name in kept if name not in ("contact_id", "email")]
        kept.pop(max(spare, key=lambda name: len(as_json(kept[name]))))
    return body


def refuse(answer: HttpResult) -> None:
    """Raise what a status other than success means."""
    if answer.is_success:
        return
    told = f"The destination answers {answer.status}."
    if answer.status == 410:
        raise DestinationClosed(f"{told} It wants no more deliveries; enable it again when it does.")
    if answer.status == 429:
        raise Throttled(told, answer.retry_after or MANY)
    if 300 <= answer.status < 400:
        raise TryLater(f"{told} A redirect is not followed: enter the address it leads to.")
    raise TryLater(told, answer.retry_after if answer.status in THROTTLED else None)
