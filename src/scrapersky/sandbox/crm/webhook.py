"""Webhook receivers: they verify signatures as in Standard Webhooks, and can be made to fail."""

import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field
from typing import Any

from scrapersky.core.errors import ScraperSkyError
from scrapersky.sandbox.server.response import Request, Response, json_response

TOLERANCE_SECONDS = 300
BEHAVIOURS: dict[str, Response] = {
    "well": Response(204),
    "hang": Response(200, wait_seconds=3600),
    "endless": Response(200, b"x" * 1_000_000, drip_seconds=3600),
    "gone": Response(410, b"I want no more of this."),
    "broken": Response(500, b"Traceback: secret of the receiver"),
    "busy": Response(429, headers={"Retry-After": "7"}),
    "away": Response(503, headers={"Retry-After": "99999999"}),
    "moved": Response(302, headers={"Location": "http://127.0.0.1:1/admin"}),
    "refusing": Response(400, b"I do not like this body."),
    "hang_up": Response(hang_up=True),
}


class UnknownBehaviour(ScraperSkyError):
    """A receiver cannot behave like this."""


class Forged(ScraperSkyError):
    """The message was not signed with the secret."""


@dataclass
class WebhookReceiver:
    """One address. `effects` holds each message once, by its id: what comes twice changes nothing."""

    secret: str | None = None  # None takes everything
    behaviours: list[str] = field(default_factory=list)  # for the next messages; the last one stays
    header: tuple[str, str] | None = None  # name and value that must come along, as an n8n node asks for
    effects: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)  # ids in the order in which they came, again and again
    forged: int = 0

    def behave(self, *behaviours: str) -> None:
        """Set how the next messages are received; the last behaviour stays."""
        for behaviour in behaviours:
            if behaviour not in BEHAVIOURS:
                raise UnknownBehaviour(f"{behaviour} is none of {', '.join(BEHAVIOURS)}.")
        self.behaviours = list(behaviours)

    def take(self, request: Request) -> Response:
        """Check the message, remember it and respond."""
        behaviour = self._next()
        try:
            message_id = self._checked(request)
        except Forged:
            self.forged += 1
            return Response(401, b"Not signed by you.")
        self.seen.append(message_id)
        if behaviour in ("well", "endless"):
            self.effects.setdefault(message_id, json.loads(request.body))
        return BEHAVIOURS[behaviour]

    def _next(self) -> str:
        if len(self.behaviours) > 1:
            return self.behaviours.pop(0)
        return self.behaviours[0] if self.behaviours else "well"

    def _checked(self, request: Request) -> str:
        if self.secret is None:
            return str(request.headers.get("webhook-id") or json.loads(request.body).get("id"))
        return verified(request, self.secret)


def verified(request: Request, secret: str) -> str:
    """Return the id of a message with a valid, recent signature, or raise Forged."""
    message_id = request.headers.get("webhook-id", "")
    sent_at = request.headers.get("webhook-timestamp", "")
    if not message_id or not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        raise Forged("no id, or a time that is not now")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, b".".join([message_id.encode(), sent_at.encode(), request.body]), hashlib.sha256)
    mine = base64.b64encode(mac.digest()).decode()
    for each in request.headers.get("webhook-signature", "").split(" "):
        version, _, given = each.partition(",")
        if version == "v1" and hmac.compare_digest(given, mine):
            return message_id
    raise Forged("another signature")


class FakeWebhook:
    """A host with one receiver per path; unknown paths are answered as n8n does."""

    def __init__(self) -> None:
        self.receivers: dict[str, WebhookReceiver] = {}

    def add(self, path: str, secret: str | None = None, header: tuple[str, str] | None = None) -> WebhookReceiver:
        """Add a receiver at this path."""
        self.receivers[path] = WebhookReceiver(secret, header=header)
        return self.receivers[path]

    def answer(self, request: Request) -> Response:
        """Respond as the receiver of the path."""
        receiver = self.receivers.get(request.path)
        if receiver is None or request.method != "POST":
            return _not_registered(request)
        if receiver.header and request.headers.get(receiver.header[0].lower()) != receiver.header[1]:
            return Response(403, b"Authorization data is wrong!")
        if receiver.header:
            answer = receiver.take(request)
            return json_response({"message": "Workflow was started"}) if answer.status == 204 else answer
        return receiver.take(request)


def _not_registered(request: Request) -> Response:
    path = request.path.rpartition("/")[2]
    return json_response(
        {
            "code": 404,
            "message": f'The requested webhook "{request.method} {path}" is not registered.',
            "hint": "The workflow must be active for a production URL to run successfully.",
        },
        404,
    )
