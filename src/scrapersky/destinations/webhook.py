"""Signed webhooks: each contact is one message of Standard Webhooks 1.0.0."""

from datetime import timedelta
from typing import Any

from scrapersky.core import clock
from scrapersky.destinations import webhook_signature
from scrapersky.destinations.errors import DestinationClosed, Receipt, Throttled, TryLater
from scrapersky.destinations.http_sender import HttpResult, as_json
from scrapersky.destinations.kind import DestinationAdapter, DestinationKind, SecretRule
from scrapersky.destinations.payload import Message

MAX_BODY_BYTES = 20_000
DEFAULT_WAIT = timedelta(seconds=60)  # after a 429 without Retry-After
WITH_RETRY_AFTER = (429, 502, 503, 504)


class Webhook(DestinationAdapter):
    """A receiver of signed messages. Only the status of its response is read."""

    async def deliver(self, message: Message) -> Receipt:
        """Send the contact as a `contact.delivered` message."""
        await self._send(message.message_id, message_body("contact.delivered", message.payload.facts))
        return Receipt()

    async def test(self) -> str:
        """Send a `destination.test` message."""
        message_id = f"test_{clock.now():%Y%m%d%H%M%S%f}"
        return succeeded(await self._send(message_id, message_body("destination.test", {})))

    async def notify(self, event: str, message_id: str, facts: dict[str, Any]) -> None:
        """Send the event as a message of its type."""
        await self._send(message_id, message_body(event, facts))

    async def _send(self, message_id: str, body: bytes) -> HttpResult:
        timestamp = int(clock.now().timestamp())
        headers = webhook_signature.headers(message_id, timestamp, body, self._endpoint.secrets)
        response = await self._http.send("POST", self._endpoint.url or "", headers=headers, body=body, read_body=False)
        raise_for_status(response)
        return response


WEBHOOK = DestinationKind(
    name="webhook",
    label="Signed webhook",
    protocol="[Standard Webhooks](https://www.standardwebhooks.com) 1.0.0: one signed message per contact",
    adapter=Webhook,
    takes_alarms=True,
    secret=SecretRule(
        "`whsec_…`; generated and shown once if you give none",
        is_required=False,
        generate=webhook_signature.new_secret,
        check=webhook_signature.key_of,
    ),
)


def message_body(event: str, facts: dict[str, Any]) -> bytes:
    """Encode a message. A body that would be too long loses its longest facts, never id and email address."""
    kept = dict(facts)
    while len(body := as_json({"type": event, "timestamp": clock.now().isoformat(), "data": kept})) >= MAX_BODY_BYTES:
        optional = [name for name in kept if name not in ("contact_id", "email")]
        kept.pop(max(optional, key=lambda name: len(as_json(kept[name]))))
    return body


def succeeded(response: HttpResult) -> str:
    """Describe the response to a test that was accepted."""
    return f"The destination responded with status {response.status}."


def raise_for_status(response: HttpResult) -> None:
    """Raise the error that a status other than success stands for."""
    if response.is_success:
        return
    reason = f"The destination responded with status {response.status}."
    if response.status == 410:
        raise DestinationClosed(f"{reason} It accepts no more deliveries; enable the destination when it does.")
    if response.status == 429:
        raise Throttled(reason, response.retry_after or DEFAULT_WAIT)
    if 300 <= response.status < 400:
        raise TryLater(f"{reason} Redirects are not followed: set the `url` that it redirects to.")
    raise TryLater(reason, response.retry_after if response.status in WITH_RETRY_AFTER else None)
