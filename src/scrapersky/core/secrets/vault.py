"""The secret key of an installation: signs tokens and encrypts stored credentials."""

import base64
import hmac
import os
import secrets
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

KEY_BYTES = 32
MIN_DISTINCT = 12  # bytes; 32 random bytes have at least 24 distinct values, a typed phrase has fewer
KEY_FILE = "secret-key"
CREATE_KEY = 'python -c "import secrets; print(secrets.token_urlsafe(32))"'


class Vault:
    """Keys derived from the secret, one per purpose."""

    def __init__(self, secret: bytes) -> None:
        self.signing_key = _derive(secret, b"scrapersky tokens")
        self.cursor_key = _derive(secret, b"scrapersky cursors")
        self._sealing_key = _derive(secret, b"scrapersky sealed values")

    @cached_property
    def _seal(self) -> "Fernet":
        # Imported when a credential is stored or read: it costs 15 MB, and most workers have no destination.
        from cryptography.fernet import Fernet

        return Fernet(base64.urlsafe_b64encode(self._sealing_key))

    def seal(self, value: str) -> str:
        """Encrypt a value for storage."""
        return self._seal.encrypt(value.encode()).decode()

    def open(self, sealed: str) -> str:
        """Decrypt a value, or raise BadSetting if the secret has changed."""
        from cryptography.fernet import InvalidToken

        try:
            return self._seal.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise BadSetting(
                "A stored credential cannot be decrypted: SCRAPERSKY_SECRET_KEY has changed since it was stored. "
                "Set the former key again, or enter the destination's credential again."
            ) from None


def open_vault(settings: Settings) -> Vault:
    """Build the vault from the setting or, in development, from a file created at the first start."""
    if settings.secret_key is not None:
        return Vault(_checked(settings.secret_key.get_secret_value()))
    if settings.environment == "production":
        raise BadSetting(f"SCRAPERSKY_SECRET_KEY is not set, and production requires it. Create one: {CREATE_KEY}")
    try:
        return Vault(_stored(settings.data_dir))
    except OSError as error:
        raise BadSetting(
            f"SCRAPERSKY_DATA_DIR={settings.data_dir} cannot store a secret key ({error.strerror}). "
            "Name a writable directory, or set SCRAPERSKY_SECRET_KEY."
        ) from error


def _checked(given: str) -> bytes:
    secret = given.encode()
    if len(secret) < KEY_BYTES or len(set(secret)) < MIN_DISTINCT:
        raise BadSetting(
            f"SCRAPERSKY_SECRET_KEY needs {KEY_BYTES} random bytes or more, not a word or a pattern. "
            f"Create one: {CREATE_KEY}"
        )
    return secret


def _stored(data_dir: Path) -> bytes:
    """Read or create the secret of a development machine: readable by its owner only, shared by all processes."""
    path = data_dir / KEY_FILE
    data_dir.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        descriptor, draft = tempfile.mkstemp(dir=data_dir)  # readable by its owner only
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(KEY_BYTES))
        with suppress(FileExistsError):  # another process created it first
            os.link(draft, path)
        os.unlink(draft)
    return _checked(path.read_text().strip())


def _derive(secret: bytes, purpose: bytes) -> bytes:
    """Derive a key by HKDF-SHA256 without salt (RFC 5869): the key is one block of its output."""
    extracted = hmac.digest(bytes(KEY_BYTES), secret, "sha256")
    return hmac.digest(extracted, purpose + b"\x01", "sha256")
