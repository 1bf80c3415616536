"""Creation and verification of tokens: signed access tokens, opaque API keys, refresh tokens and link secrets."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from scrapersky.core import clock
from scrapersky.core.errors import NotAuthenticated

ALGORITHM = "HS256"
ISSUER = "scrapersky"
AUDIENCE = "scrapersky-api"
LIFETIME = timedelta(minutes=15)
LEEWAY = timedelta(seconds=30)
MAX_LENGTH = 2048  # characters; ours have about 400
NOT_VALID = "The token or API key is invalid, expired or revoked."  # the same for every cause
REQUIRED = ["exp", "iat", "sub", "aud", "iss"]

KEY_MARK = "ssk"
PREFIX_BYTES, SECRET_BYTES = 6, 32
FAMILY_BYTES = 16


@dataclass(frozen=True)
class Claims:
    """The claims of an access token: the user and the session."""

    user_id: UUID
    session_id: UUID


def sign(key: bytes, user_id: UUID, session_id: UUID) -> str:
    """Create an access token for 15 minutes; each use checks its session."""
    import jwt

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
    """Return the claims of a token, or raise NotAuthenticated without repeating anything of it."""
    if len(token) > MAX_LENGTH:  # before parsing
        raise NotAuthenticated(NOT_VALID)
    import jwt  # with it comes cryptography, which a worker does not need

    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            issuer=ISSUER,
            leeway=LEEWAY,
            options={"require": REQUIRED, "strict_aud": True},
        )
        return Claims(UUID(claims["sub"]), UUID(claims["sid"]))
    except (jwt.InvalidTokenError, KeyError, ValueError, TypeError, AttributeError):
        raise NotAuthenticated(NOT_VALID) from None


@dataclass(frozen=True)
class NewKey:
    """A new API key: the text shown once, and what is stored."""

    shown: str
    prefix: str
    secret_hash: str


def new_key() -> NewKey:
    """Create an API key: `ssk_`, a prefix for lookup, and 32 random bytes."""
    prefix, secret = secrets.token_hex(PREFIX_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    return NewKey(f"{KEY_MARK}_{prefix}_{secret}", prefix, hash_secret(secret))


def split_key(shown: str) -> tuple[str, str] | None:
    """Return the prefix and the secret, or None if this is not an API key."""
    mark, _, remainder = shown.partition("_")
    prefix, _, secret = remainder.partition("_")
    fits = mark == KEY_MARK and len(prefix) == 2 * PREFIX_BYTES and 0 < len(secret) < MAX_LENGTH and shown.isascii()
    return (prefix, secret) if fits else None


def new_refresh_token(family: str | None = None) -> str:
    """Create a refresh token: the family of the session, and 32 random bytes that change at every use."""
    return f"{family or secrets.token_urlsafe(FAMILY_BYTES)}.{secrets.token_urlsafe(SECRET_BYTES)}"


def family_of(refresh_token: str) -> str:
    """Return the part that all refresh tokens of one session share; it detects reuse of an old one."""
    return refresh_token.partition(".")[0]


def new_secret() -> str:
    """Create 32 random bytes for a link."""
    return secrets.token_urlsafe(SECRET_BYTES)


def hash_secret(secret: str) -> str:
    """Hash a secret for storage; a plain hash is enough for a long random value."""
    return hashlib.sha256(secret.encode()).hexdigest()


def matches(secret: str, kept_hash: str) -> bool:
    """Compare a secret with its stored hash in constant time."""
    return hmac.compare_digest(hash_secret(secret), kept_hash)
