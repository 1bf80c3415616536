"""Standard Webhooks 1.0.0: what is signed, with which secrets, and what a secret looks like."""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable

from scrapersky.core.errors import BadRequest

PREFIX = "whsec_"
MIN_BYTES, MAX_BYTES, NEW_BYTES = 24, 64, 32


class BadSigningSecret(BadRequest):
    """This is no secret to sign with."""

    status_code = 422


def new_secret() -> str:
    """A secret that nobody has seen."""
    return PREFIX + base64.b64encode(secrets.token_bytes(NEW_BYTES)).decode()


def key_of(secret: str) -> bytes:
    """The bytes of a secret, or BadSigningSecret: 24 to 64 of them, in base64."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not MIN_BYTES <= len(key) <= MAX_BYTES:
        raise BadSigningSecret(
            f"It must be {PREFIX} and {MIN_BYTES} to {MAX_BYTES} bytes in base64; leave it out to have one made."
        )
    return key


def headers(message_id: str, timestamp: int, body: bytes, signing_secrets: Iterable[str]) -> dict[str, str]:
    """The three headers of a message; one signature for each secret, so that a receiver may change over in peace."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    signatures = (hmac.digest(key_of(secret), signed, hashlib.sha256) for secret in signing_secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{base64.b64encode(each).decode()}" for each in signatures),
    }
