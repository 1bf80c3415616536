"""The one place where tokens are made and believed: signed ones for people, opaque ones for keys and links."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import jwt

from scrapersky.core import clock
from scrapersky.core.errors import NotKnown

ALGORITHM = "HS256"
ISSUER = "scrapersky"
AUDIENCE = "scrapersky-api"
LIFETIME = timedelta(minutes=15)
LEEWAY = timedelta(seconds=30)
LONGEST = 2048  # characters; ours have about 400
NOT_VALID = "The token or key is none of ours, or not valid any more."  # the same for every fault
REQUIRED = ["exp", "iat", "sub", "aud", "iss"]

KEY_MARK = "ssk"
PREFIX_BYTES, SECRET_BYTES = 6, 32
FAMILY_BYTES = 16


@dataclass(frozen=True)
class Claims:
    """What a signed token says: who, and by which login."""

    user_id: UUID
    session_id: UUID


def sign(key: bytes, user_id: UUID, session_id: UUID) -> str:
    """A token for a quarter of an hour; the session behind it is asked for at every use."""
    now = clock.now()
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": str(user_id),
        "sid": str(session_id),
        "iat": now,
        "exp": now + LIFETIME,
    }
    return jwt.encode(claims, key, ALGORITHM)


def verify(key: bytes, token: str) -> Claims:
    """What a token says, or NotKnown; nothing of it is repeated."""
    if len(token) > LONGEST:  # before anything looks into it
        raise NotKnown(NOT_VALID)
    try:
        said = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            issuer=ISSUER,
            leeway=LEEWAY,
            options={"require": REQUIRED, "strict_aud": True},
        )
        return Claims(UUID(said["sub"]), UUID(said["sid"]))
    except (jwt.InvalidTokenError, KeyError, ValueError, TypeError, AttributeError):
        raise NotKnown(NOT_VALID) from None


@dataclass(frozen=True)
class NewKey:
    """A key as it is shown once, and what is kept of it."""

    shown: str
    prefix: str
    secret_hash: str


def new_key() -> NewKey:
    """A key for a program: `ssk_`, a prefix to find it by, and 32 random bytes."""
    prefix, secret = secrets.token_hex(PREFIX_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    return NewKey(f"{KEY_MARK}_{prefix}_{secret}", prefix, hash_of(secret))


def parts_of_key(shown: str) -> tuple[str, str] | None:
    """The prefix and the secret, or None if this is no key."""
    mark, _, rest = shown.partition("_")
    prefix, _, secret = rest.partition("_")
    fits = mark == KEY_MARK and len(prefix) == 2 * PREFIX_BYTES and 0 < len(secret) < LONGEST and shown.isascii()
    return (prefix, secret) if fits else None


def new_refresh_token(family: str | None = None) -> str:
    """The family of a login, which stays, and 32 random bytes, which change at every use."""
    return f"{family or secrets.token_urlsafe(FAMILY_BYTES)}.{secrets.token_urlsafe(SECRET_BYTES)}"


def family_of(refresh_token: str) -> str:
    """What all tokens of one login have in common: whoever shows it has had one of them."""
    return refresh_token.partition(".")[0]


def new_secret() -> str:
    """32 random bytes for a link."""
    return secrets.token_urlsafe(SECRET_BYTES)


def hash_of(secret: str) -> str:
    """What is kept of a secret: it is random and long, so a plain hash will do."""
    return hashlib.sha256(secret.encode()).hexdigest()


def matches(secret: str, kept_hash: str) -> bool:
    """Whether this is the secret, compared in constant time."""
    return hmac.compare_digest(hash_of(secret), kept_hash)
