"""SOCKS5 (RFC 1928, RFC 1929): a connection to a numeric address through a proxy."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address

import yarl
from aiohttp.abc import ResolveResult

from scrapersky.crawl.network.proxies import ProxyFailed, ProxyRefused

VERSION, LOGIN_VERSION = 5, 1
NO_LOGIN, WITH_LOGIN = 0, 2
CONNECT = 1
IPV4, NAME, IPV6 = 1, 3, 4
ADDRESS_BYTES = {IPV4: 4, IPV6: 16}
NO_COMMAND = 7
REFUSALS = {
    1: "a failure that it does not explain",
    2: "its rules forbid it",
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "the connection was refused",
    6: "the time to live ended",
    8: "it does not know this type of address",
}


async def connect(
    proxy: yarl.URL, places: Sequence[ResolveResult], address: str, port: int, seconds: float | None
) -> socket.socket:
    """Return a socket that is connected to the address by the proxy, which is at one of these places.

    Raises ProxyFailed if the proxy does not work, ProxyRefused if it does not reach the address.
    """
    try:
        async with asyncio.timeout(seconds):
            opened = await _open(places)
    except TimeoutError:
        raise ProxyFailed("does not accept a connection in time") from None
    try:
        await _log_in(opened, proxy, seconds)
        await _ask(opened, address, port, seconds)
    except BaseException:
        opened.close()
        raise
    return opened


async def _open(places: Sequence[ResolveResult]) -> socket.socket:
    problem = "has no address"
    for place in places:
        opened = socket.socket(place["family"], socket.SOCK_STREAM)
        opened.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(opened, (place["host"], place["port"]))
        except BaseException as error:
            opened.close()
            if not isinstance(error, OSError):
                raise
            problem = f"cannot be reached ({error.strerror or error})"
        else:
            return opened
    raise ProxyFailed(problem)


async def _log_in(opened: socket.socket, proxy: yarl.URL, seconds: float | None) -> None:
    methods = [NO_LOGIN] if proxy.user is None else [NO_LOGIN, WITH_LOGIN]
    try:
        async with asyncio.timeout(seconds):
            version, method = await _exchange(opened, bytes([VERSION, len(methods), *methods]), 2)
            if version != VERSION:
                raise ProxyFailed("does not speak SOCKS5")
            if method not in methods:
                raise ProxyFailed("refuses our ways to log in" if proxy.user else "asks for a user name and password")
            if method == WITH_LOGIN:
                user, password = (proxy.user or "").encode(), (proxy.password or "").encode()
                login = bytes([LOGIN_VERSION, len(user), *user, len(password), *password])
                if (await _exchange(opened, login, 2))[1] != 0:
                    raise ProxyFailed("refuses the user name or password")
    except TimeoutError:
        raise ProxyFailed("does not answer in time") from None
    except OSError as error:
        raise ProxyFailed(f"breaks the connection off ({error.strerror or error})") from None


async def _ask(opened: socket.socket, address: str, port: int, seconds: float | None) -> None:
    """Ask for the connection, and read the whole answer, after which the bytes of the site begin."""
    numeric = ip_address(address)
    kind = IPV6 if numeric.version == 6 else IPV4
    request = bytes([VERSION, CONNECT, 0, kind]) + numeric.packed + port.to_bytes(2)
    try:
        async with asyncio.timeout(seconds):
            version, code, _, bound = await _exchange(opened, request, 4)
            if version != VERSION:
                raise ProxyFailed("does not speak SOCKS5")
            if code == NO_COMMAND:
                raise ProxyFailed("opens no connections (SOCKS5 CONNECT)")
            if code != 0:
                raise ProxyRefused(REFUSALS.get(code, f"refusal {code}"))
            size = (await _read(opened, 1))[0] if bound == NAME else ADDRESS_BYTES.get(bound)
            if size is None:
                raise ProxyFailed("does not speak SOCKS5")
            await _read(opened, size + 2)
    except TimeoutError:
        raise ProxyRefused("no connection in time") from None
    except OSError as error:
        raise ProxyRefused(f"it broke the connection off ({error.strerror or error})") from None


async def _exchange(opened: socket.socket, sent: bytes, size: int) -> bytes:
    await asyncio.get_running_loop().sock_sendall(opened, sent)
    return await _read(opened, size)


async def _read(opened: socket.socket, size: int) -> bytes:
    """Read exactly this many bytes, none of those behind them."""
    found = b""
    while len(found) < size:
        more = await asyncio.get_running_loop().sock_recv(opened, size - len(found))
        if not more:
            raise ConnectionResetError("it ended early")
        found += more
    return found
