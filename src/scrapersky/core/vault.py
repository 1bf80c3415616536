"""The secret of a house: what tokens are signed with, and what other people's keys are sealed with in the database."""

import base64
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings

KEY_BYTES = 32
MIN_DISTINCT = 12  # bytes; 32 random ones have 24 different at the very least, a typed phrase repeats itself
KEY_FILE = "secret-key"
MAKE_ONE = 'python -c "import secrets; print(secrets.token_urlsafe(32))"'


class Vault:
    """Keys derived from the one secret, each for its own purpose."""

    def __init__(self, secret: bytes) -> None:
        self.signing_key = _derive(secret, b"scrapersky tokens")
        self._seal = Fernet(base64.urlsafe_b64encode(_derive(secret, b"scrapersky sealed values")))

    def seal(self, value: str) -> str:
        """A value as it may lie in the database."""
        return self._seal.encrypt(value.encode()).decode()

    def open(self, sealed: str) -> str:
        """The value again, or BadSetting if the secret has changed since."""
        try:
            return self._seal.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise BadSetting(
                "A stored key cannot be opened: SCRAPERSKY_SECRET_KEY is not the one it was sealed with. "
                "Set the old one again, or enter the key of the destination anew."
            ) from None


def open_vault(settings: Settings) -> Vault:
    """The vault of this house: from the setting, or, in development, from a file made at the first start."""
    if settings.secret_key is not None:
        return Vault(_checked(settings.secret_key.get_secret_value()))
    if settings.environment == "production":
        raise BadSetting(
            f"SCRAPERSKY_SECRET_KEY is not set, and production does not start without. Make one: {MAKE_ONE}"
        )
    try:
        return Vault(_kept(settings.data_dir))
    except OSError as error:
        raise BadSetting(
            f"SCRAPERSKY_DATA_DIR={settings.data_dir} cannot keep a secret key ({error.strerror}). "
            "Name a directory that can be written to, or set SCRAPERSKY_SECRET_KEY."
        ) from error


def _checked(given: str) -> bytes:
    secret = given.encode()
    if len(secret) < KEY_BYTES or len(set(secret)) < MIN_DISTINCT:
        raise BadSetting(
            f"SCRAPERSKY_SECRET_KEY needs {KEY_BYTES} random bytes or more, not a word or a pattern. "
            f"Make one: {MAKE_ONE}"
        )
    return secret


def _kept(data_dir: Path) -> bytes:
    """The secret of a developer's machine: readable by its owner only, the same for every process."""
    path = data_dir / KEY_FILE
    data_dir.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        descriptor, draft = tempfile.mkstemp(dir=data_dir)  # readable by its owner only
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(KEY_BYTES))
        with suppress(FileExistsError):  # another process was quicker, and its secret is as good
            os.link(draft, path)
        os.unlink(draft)
    return _checked(path.read_text().strip())


def _derive(secret: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=purpose).derive(secret)
