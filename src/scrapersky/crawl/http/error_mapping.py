"""Every way a fetch can fail, turned into what is to be done about it, in words a person understands."""

import os
import socket
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from scrapersky.crawl.errors import BlockedByPolicy, FetchError, GiveUp, Gone, RetryLater
from scrapersky.crawl.http.connector import WireFull
from scrapersky.crawl.http.decompress import BadCompression, CutShort
from scrapersky.crawl.http.retry_after import retry_after
from scrapersky.crawl.network.dns_resolver import LookupTooSlow
from scrapersky.crawl.network.ssrf_guard import AddressRefused

# What the network, the server or the compressed bytes may throw while a fetch goes on. Anything else is our own fault.
TROUBLES = (aiohttp.ClientError, HttpProcessingError, OSError, TimeoutError, BadCompression, CutShort, ValueError)

RETRY_STATUSES = frozenset({408, 425, 429})
GONE_STATUSES = frozenset({404, 410, 451})
NO_SUCH_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


def named(error: BaseException, host: str, seconds: float) -> FetchError:
    """The fetch error this exception means."""
    match error:
        case WireFull():
            return GiveUp(f"{host} sends far more bytes than an answer needs.")
        case aiohttp.ClientConnectorCertificateError():
            return GiveUp(f"The certificate of {host} cannot be trusted: {_of_certificate(error)}.")
        case aiohttp.ClientConnectorSSLError():
            return GiveUp(f"{host} does not complete a TLS handshake: {_short(error.os_error)}.")
        case aiohttp.ClientConnectorError():
            return _not_connected(error, host)
        case aiohttp.ClientHttpProxyError():
            return RetryLater(f"The egress proxy answers {error.status} for {host}.")
        case aiohttp.ServerTimeoutError():
            return RetryLater(f"{host} does not accept a connection in time.")
        case TimeoutError():
            return RetryLater(f"{host} needs longer than {seconds:g} s.")
        case CutShort() | aiohttp.ClientPayloadError():
            return RetryLater(f"{host} broke off in the middle of its answer.")
        case BadCompression():
            return GiveUp(f"The body from {host} cannot be inflated: {error}.")
        case aiohttp.ClientResponseError() | HttpProcessingError():
            return GiveUp(f"{host} does not speak proper HTTP: {_short(error.message)}.")
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientConnectionError() | OSError():
            return RetryLater(f"The connection to {host} was lost: {_short(error)}.")
        case _:
            return GiveUp(f"{host} sends an answer that cannot be read: {_short(error)}.")


def refuse_status(status: int, headers: Mapping[str, str], host: str, max_retry_after_seconds: float) -> FetchError:
    """The error that a status other than success means."""
    told = f"{host} answers {status}{_phrase(status)}."
    if status in GONE_STATUSES:
        return Gone(told, status=status, headers=headers)
    if status in RETRY_STATUSES or 500 <= status < 600:
        after = retry_after(headers.get("Retry-After"), timedelta(seconds=max_retry_after_seconds))
        return RetryLater(told, after=after, status=status, headers=headers)
    return GiveUp(told, status=status, headers=headers)


def _not_connected(error: aiohttp.ClientConnectorError, host: str) -> FetchError:
    cause = error.os_error
    if isinstance(cause, AddressRefused):
        return BlockedByPolicy(f"{cause} is not a public web site.")
    if isinstance(cause, LookupTooSlow):
        return RetryLater(f"The name server gives {cause}.")
    if isinstance(cause, socket.gaierror):
        if cause.errno in NO_SUCH_NAME:
            return Gone(f"There is no host named {host.rstrip('.')}.")
        return RetryLater(f"The name {host} cannot be looked up at the moment: {_short(cause.strerror)}.")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return RetryLater("The egress proxy cannot be reached.")
    return RetryLater(f"{host} cannot be reached: {os.strerror(cause.errno) if cause.errno else _short(cause)}.")


def _of_certificate(error: aiohttp.ClientConnectorCertificateError) -> str:
    """What is wrong with it, without the name of the host again: the same trouble reads the same at every host."""
    said = getattr(error.certificate_error, "verify_message", "") or error.certificate_error
    return _short(said).partition(", certificate is not valid for")[0]


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _short(detail: object) -> str:
    """A library's own words on one short line."""
    line = " ".join(str(detail).split())[:120]
    return "".join(char for char in line if char.isprintable()).rstrip(" .:") or type(detail).__name__
