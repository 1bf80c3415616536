"""Maps the exceptions of the network and the statuses of responses to fetch errors."""

import errno
import os
import socket
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from scrapersky.core.open_files import is_out_of_files
from scrapersky.core.vocabularies import HiddenReason
from scrapersky.crawl.errors import (
    BlockedByPolicy,
    BotCheckRequired,
    FetchError,
    NoNetwork,
    PageNotFound,
    PermanentFetchError,
    RetryLater,
    TooSoon,
    UnreadableResponse,
)
from scrapersky.crawl.http.connector import WireLimitReached
from scrapersky.crawl.http.decompress import BadCompression, TruncatedCompression
from scrapersky.crawl.http.retry_after import retry_after
from scrapersky.crawl.network.dns_resolver import LookupTimedOut
from scrapersky.crawl.network.proxies import ProxyRefused
from scrapersky.crawl.network.ssrf_guard import AddressRefused
from scrapersky.extract.hidden_pages.responses import hidden_by_response

# What a fetch may raise because of the network, the server or compressed bytes. Any other exception is a bug of ours.
NETWORK_ERRORS = (aiohttp.ClientError, HttpProcessingError, OSError, TimeoutError, BadCompression, ValueError)

# No request was sent.
NO_CONNECTION = (aiohttp.ClientConnectorError, ProxyRefused, aiohttp.ConnectionTimeoutError)

OUT_OF_FILES_WAIT = timedelta(seconds=5)
RETRY_STATUSES = frozenset({408, 425, 429})
GONE_STATUSES = frozenset({404, 410, 451})
OUR_NETWORK_FAILED = frozenset({errno.ENETDOWN, errno.ENOBUFS, errno.EADDRNOTAVAIL})
NO_SUCH_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


def fetch_error_of(error: BaseException, host: str, seconds: float) -> FetchError:
    """Return the fetch error for an exception."""
    found = _fetch_error_of(error, host, seconds)
    found.is_sent = not (isinstance(error, NO_CONNECTION) or is_out_of_files(error))
    return found


def _fetch_error_of(error: BaseException, host: str, seconds: float) -> FetchError:
    if is_out_of_files(error):
        return TooSoon(f"This process has too many open files to connect to {host}.", after=OUT_OF_FILES_WAIT)
    match error:
        case WireLimitReached():
            return UnreadableResponse(f"{host} sends far more bytes than a response needs.")
        case aiohttp.ClientConnectorCertificateError():
            return PermanentFetchError(f"The certificate of {host} cannot be trusted: {_certificate_problem(error)}.")
        case aiohttp.ClientConnectorSSLError():
            return PermanentFetchError(f"{host} does not complete a TLS handshake: {_short(error.os_error)}.")
        case aiohttp.ClientConnectorError():
            return _not_connected(error, host)
        case ProxyRefused():
            return RetryLater(f"{host} cannot be reached by the proxy {error}.")
        case aiohttp.ServerTimeoutError():
            return RetryLater(f"{host} does not accept a connection in time.")
        case TimeoutError():
            return RetryLater(f"{host} needs longer than {seconds:g} s.")
        case TruncatedCompression() | aiohttp.ClientPayloadError():
            return RetryLater(f"{host} broke off in the middle of its response.")
        case BadCompression():
            return UnreadableResponse(f"The body from {host} cannot be decompressed: {error}.")
        case aiohttp.ClientResponseError() | HttpProcessingError():
            return PermanentFetchError(f"{host} does not speak proper HTTP: {_short(error.message)}.")
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientConnectionError() | OSError():
            return RetryLater(f"The connection to {host} was lost: {_short(error)}.")
        case _:
            return UnreadableResponse(f"{host} sends a response that cannot be parsed: {_short(error)}.")


def status_error(
    status: int, headers: Mapping[str, str], host: str, max_retry_after_seconds: float, body: bytes = b""
) -> FetchError:
    """Return the fetch error for a status other than success; `body` is the beginning of a refusal."""
    hidden = hidden_by_response(status, headers, body)
    if hidden is HiddenReason.BOT_CHECK:
        return bot_check_error(status, headers, host)
    error = _status_error(status, headers, host, max_retry_after_seconds)
    error.reason_code = hidden
    return error


def bot_check_error(status: int, headers: Mapping[str, str], host: str) -> BotCheckRequired:
    """Return the error for a response that is a bot check."""
    reason = f"{host} asks for a proof that the visitor is human ({status})."
    return BotCheckRequired(reason, status=status, headers=headers)


def _status_error(status: int, headers: Mapping[str, str], host: str, max_retry_after_seconds: float) -> FetchError:
    reason = f"{host} answers {status}{_phrase(status)}."
    if status in GONE_STATUSES:
        return PageNotFound(reason, status=status, headers=headers)
    if status in RETRY_STATUSES or 500 <= status < 600:
        after = retry_after(headers.get("Retry-After"), timedelta(seconds=max_retry_after_seconds))
        return RetryLater(reason, after=after, status=status, headers=headers)
    return PermanentFetchError(reason, status=status, headers=headers)


def _not_connected(error: aiohttp.ClientConnectorError, host: str) -> FetchError:
    cause = error.os_error
    if isinstance(cause, AddressRefused):
        return BlockedByPolicy(f"{cause} is not a public web site.")
    if isinstance(cause, LookupTimedOut):
        return RetryLater(f"The name server gives {cause}.")
    if isinstance(cause, socket.gaierror):
        if cause.errno in NO_SUCH_NAME:
            return PageNotFound(f"There is no host named {host.rstrip('.')}.")
        return RetryLater(f"The name {host} cannot be looked up at the moment: {_short(cause.strerror)}.")
    if cause.errno in OUR_NETWORK_FAILED:
        return NoNetwork(f"This machine opens no connection: {os.strerror(cause.errno)}.")
    return RetryLater(f"{host} cannot be reached: {os.strerror(cause.errno) if cause.errno else _short(cause)}.")


def _certificate_problem(error: aiohttp.ClientConnectorCertificateError) -> str:
    """Return the problem without the host name, so that the same problem has one text for all hosts."""
    message = getattr(error.certificate_error, "verify_message", "") or error.certificate_error
    return _short(message).partition(", certificate is not valid for")[0]


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _short(detail: object) -> str:
    """Return the message of a library as one short line."""
    line = " ".join(str(detail).split())[:120]
    return "".join(char for char in line if char.isprintable()).rstrip(" .:") or type(detail).__name__
