"""n8n: the contact as JSON for a Webhook node, with the header that the node checks."""

from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints

from scrapersky.core import clock
from scrapersky.destinations.errors import DestinationClosed, Receipt, TryLater
from scrapersky.destinations.http_sender import HttpResult, as_json
from scrapersky.destinations.kind import DestinationAdapter, DestinationKind, Options, SecretRule
from scrapersky.destinations.payload import Message
from scrapersky.destinations.webhook import raise_for_status, succeeded

NOT_REGISTERED = (
    "n8n has no such webhook (404). Activate the workflow, and use its production URL (/webhook/…): the test URL "
    "(/webhook-test/…) works only while the editor listens."
)
HEADER = "Authorization"  # carries the secret, unless the option `header` names another one
# Headers of the message itself, which cannot carry a secret.
RESERVED_HEADERS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"}
)


def _not_reserved(name: str) -> str:
    if name.lower() in RESERVED_HEADERS:
        raise ValueError("must not be a header of the message itself, such as Content-Type")
    return name


class N8nOptions(Options):
    """The header that the node checks."""

    header: Annotated[str, StringConstraints(pattern="^[A-Za-z][A-Za-z0-9-]{0,59}$"), AfterValidator(_not_reserved)] = (
        HEADER
    )


class N8n(DestinationAdapter):
    """A Webhook node with header authentication, or with none."""

    async def deliver(self, message: Message) -> Receipt:
        """Start the workflow with the contact; every attempt has the same id."""
        await self._send({"id": message.message_id, "type": "contact.delivered", "data": message.payload.facts})
        return Receipt()

    async def test(self) -> str:
        """Start the workflow with a test event."""
        return succeeded(await self._send({"id": "test", "type": "destination.test", "data": {}}))

    async def notify(self, event: str, message_id: str, facts: dict[str, Any]) -> None:
        """Start the workflow with the event."""
        await self._send({"id": message_id, "type": event, "data": facts})

    async def _send(self, event: dict[str, Any]) -> HttpResult:
        header = str(self._endpoint.options.get("header") or HEADER)
        headers = dict(zip([header], self._endpoint.secrets, strict=False))
        body = as_json({**event, "timestamp": clock.now().isoformat()})
        # The response of the workflow can be long, and is not used.
        response = await self._http.send("POST", self._endpoint.url or "", headers=headers, body=body, read_body=False)
        if response.status in (401, 403):
            raise DestinationClosed(
                f"n8n rejects the header {header} ({response.status}). Set the value that the node checks as `secret`."
            )
        if response.status == 404:
            raise TryLater(NOT_REGISTERED)
        raise_for_status(response)
        return response


N8N = DestinationKind(
    name="n8n",
    label="n8n",
    protocol="one JSON event per contact for a Webhook node",
    adapter=N8n,
    takes_alarms=True,
    secret=SecretRule("value of the header, if the node checks one", is_required=False),
    url="production URL of the node",
    options=N8nOptions,
)
