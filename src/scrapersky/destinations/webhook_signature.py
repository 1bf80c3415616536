"""The signatures and signing secrets of Standard Webhooks 1.0.0."""

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
    """The signing secret has the wrong form."""

    status_code = 422


def new_secret() -> str:
    """Generate a random signing secret."""
    return PREFIX + base64.b64encode(secrets.token_bytes(NEW_BYTES)).decode()


def key_of(secret: str) -> bytes:
    """Decode the bytes of a secret; raise BadSigningSecret unless it is 24 to 64 bytes in base64."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not MIN_BYTES <= len(key) <= MAX_BYTES:
        raise BadSigningSecret(
            f"It must be {PREFIX} and {MIN_BYTES} to {MAX_BYTES} bytes in base64; leave it out to have one generated."
        )
    return key


def headers(message_id: str, timestamp: int, body: bytes, signing_secrets: Iterable[str]) -> dict[str, str]:
    """Build the three headers of a message, with one signature for each secret in force."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    signatures = (hmac.digest(key_of(secret), signed, hashlib.sha256) for secret in signing_secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{base64.b64encode(each).decode()}" for each in signatures),
    }
