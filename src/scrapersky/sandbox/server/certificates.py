"""Certificates of the sandbox: a temporary authority, and one certificate for each requested host."""

import ssl
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from scrapersky.core import clock
from scrapersky.sandbox.world.conditions import Condition

HOSTS_KEPT = 20_000
VALID = timedelta(days=7)
ELSEWHERE = "somebody-elses-server.example"
USES = (
    ("digital_signature", "key_cert_sign", "crl_sign"),
    ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only"),
)

# How the site of a host is, or None where it has no https.
ConditionOf = Callable[[str], Condition | None]


class Authority:
    """Signs for every host of a world while its `with` block lasts; `file` is what a client has to trust."""

    def __init__(self, condition_of: ConditionOf) -> None:
        self._condition_of = condition_of
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._host_key = ec.generate_private_key(ec.SECP256R1())
        self._root = self._sign_root()
        self._home = TemporaryDirectory(prefix="scrapersky-sandbox-")
        self.file = Path(self._home.name) / "authority.pem"
        self.file.write_bytes(self._root.public_bytes(serialization.Encoding.PEM))
        self._context = lru_cache(HOSTS_KEPT)(self._made)

    def close(self) -> None:
        """Delete the certificate files."""
        self._home.cleanup()

    def server_context(self) -> ssl.SSLContext:
        """Build the TLS context that serves each host its own certificate, valid or not."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = self._answer
        return context

    def _answer(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        """Take the context of this name; a host without https ends the handshake."""
        host = (name or "").lower()
        condition = self._condition_of(host)
        if condition is None:
            return ssl.AlertDescription.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        connection.context = self._context(host, condition)
        return None

    def _made(self, host: str, condition: Condition) -> ssl.SSLContext:
        now = clock.now()
        until = now - timedelta(days=3) if condition is Condition.EXPIRED else now + VALID
        certificate = self._signed(ELSEWHERE if condition is Condition.MISNAMED else host, until)
        both = Path(self._home.name) / "host.pem"  # the ssl module reads certificates from files only
        both.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + _pem(self._host_key))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(both)
        return context

    def _signed(self, host: str, until: datetime) -> x509.Certificate:
        root_id = self._root.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        return (
            _builder(host, "the sandbox", until - 2 * VALID, until, self._host_key)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(root_id), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _sign_root(self) -> x509.Certificate:
        now = clock.now()
        used = dict.fromkeys(USES[0], True) | dict.fromkeys(USES[1], False)
        return (
            _builder("the sandbox", "the sandbox", now - 5 * VALID, now + 50 * VALID, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(**used), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )


def _builder(
    subject: str, issuer: str, since: datetime, until: datetime, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .not_valid_before(since)
        .not_valid_after(until)
        .serial_number(x509.random_serial_number())
        .public_key(key.public_key())
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
