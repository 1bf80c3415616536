"""Credentials that must open nothing: forged, bent, run out, or built in once upon a time."""

import base64
import json
from datetime import timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from scrapersky.core import clock
from scrapersky.core.secrets import tokens

PAIR = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC = PAIR.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def forgeries(key: bytes, user_id: str, session_id: str) -> dict[str, str]:
    """Tokens for a real login, each wrong in one way."""
    now = clock.now()
    true: dict[str, Any] = {
        "iss": tokens.ISSUER,
        "aud": tokens.AUDIENCE,
        "sub": user_id,
        "sid": session_id,
        "iat": now,
        "exp": now + timedelta(minutes=5),
    }

    def signed(changes: dict[str, Any], algorithm: str = "HS256", by: Any = key, **headers: str) -> str:
        claims = {name: value for name, value in {**true, **changes}.items() if value is not None}
        return jwt.encode(claims, by, algorithm, headers)

    good = signed({})
    head, body, signature = good.split(".")
    return {
        "expired": signed({"exp": now - timedelta(minutes=1)}),
        "not yet": signed({"nbf": now + timedelta(minutes=5)}),
        "from the future": signed({"iat": now + timedelta(minutes=5)}),
        "wrong audience": signed({"aud": "another api"}),
        "audience among others": signed({"aud": [tokens.AUDIENCE, "another api"]}),
        "wrong issuer": signed({"iss": "somebody else"}),
        **{f"no {claim}": signed({claim: None}) for claim in ("exp", "iat", "sub", "aud", "iss", "sid")},
        "sub of another": signed({"sub": "00000000-0000-4000-8000-000000000000"}),
        "sub no id": signed({"sub": "1 OR 1=1"}),
        "sid of another": signed({"sid": "00000000-0000-4000-8000-000000000000"}),
        "alg none": f"{_part({'alg': 'none', 'typ': 'JWT'})}.{body}.",
        "alg None": f"{_part({'alg': 'None', 'typ': 'JWT'})}.{body}.{signature}",
        "HS512": signed({}, "HS512", key * 2),
        "HS384": signed({}, "HS384", key * 2),
        "RS256": signed({}, "RS256", PAIR),
        "public key as secret": _confused(true),
        "another key": signed({}, by=b"x" * 32),
        "empty key": signed({}, by=b"\0" * 32),
        "kid path": signed({}, by=b"\0" * 32, kid="../../dev/null"),
        "kid sql": signed({}, by=b"\0" * 32, kid="' UNION SELECT 'x"),
        "own key": signed({}, by=b"y" * 32, jku="https://evil.example/keys"),
        "crit": signed({}, crit=["exp"]),  # type: ignore[arg-type]
        "empty signature": f"{head}.{body}.",
        "half a signature": f"{head}.{body}.{signature[:20]}",
        "two parts": f"{head}.{body}",
        "body changed": f"{head}.{_part({**json.loads(_bytes(body)), 'sub': session_id})}.{signature}",
        "garbage": "garbage",
        "dots": "...",
        "built in": "scraper_sky_2024",
        "for developers": "dev_token",
        "a key of nobody": f"ssk_{'0' * 12}_{'0' * 43}",
        "half a key": "ssk_000000000000_",
        "long": "x" * 20_000,
    }


def true_token(key: bytes, user_id: str, session_id: str) -> str:
    """The one that is right, to see that the others are refused for their faults."""
    now = clock.now()
    claims = {"iss": tokens.ISSUER, "aud": tokens.AUDIENCE, "sub": user_id, "sid": session_id, "iat": now}
    return jwt.encode({**claims, "exp": now + timedelta(hours=1)}, key, "HS256")


def _confused(claims: dict[str, Any]) -> str:
    """HS256 with an RSA public key as the secret, which the library refuses to make."""
    import hashlib
    import hmac

    whole = {**claims, "iat": int(claims["iat"].timestamp()), "exp": int(claims["exp"].timestamp())}
    signing = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(whole)}"
    return f"{signing}.{_encoded(hmac.new(PUBLIC, signing.encode(), hashlib.sha256).digest())}"


def _part(content: dict[str, Any]) -> str:
    return _encoded(json.dumps(content).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _bytes(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
