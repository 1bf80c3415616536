"""HEAD: what GET would answer, without its body."""

from starlette.types import Message, Scope, Send


class HeadSent(Exception):
    """The head is out; nobody waits for the rest of a body that would still flow."""


def as_get(scope: Scope) -> Scope:
    """The request as the routes see it; what they note down about it is seen outside, too."""
    scope.setdefault("rates", {})
    return {**scope, "method": "GET"}


def headers_only(send: Send) -> Send:
    """Hands on the head of an answer, and an end in place of its body."""

    async def send_head(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        if message.get("more_body"):
            raise HeadSent

    return send_head
