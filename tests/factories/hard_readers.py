"""Readers that misbehave: what a hostile page could make a parser do. Standard library only, so children start fast."""

import ctypes
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path


def count(html: bytes) -> int:
    return len(html)


def own_pid() -> int:
    return os.getpid()


def spin(html: bytes = b"") -> None:
    while True:
        pass


def spin_unless_lxml(html: bytes, parser: str = "turbohtml") -> str:
    if parser != "lxml":
        spin()
    return parser


def spin_then_crash(html: bytes, parser: str = "turbohtml") -> None:
    if parser == "lxml":
        os.abort()
    spin()


def stall(html: bytes = b"") -> None:
    time.sleep(600)


def hog(html: bytes = b"") -> None:
    kept = []
    while True:
        kept.append(bytes(1 << 20))


def abort(html: bytes = b"") -> None:
    os.abort()


def segfault(html: bytes = b"") -> None:
    ctypes.string_at(0)


def leave(html: bytes = b"") -> None:
    os._exit(3)


def hang_up(html: bytes = b"") -> None:
    os.close(0)
    time.sleep(600)


def fail(html: bytes = b"") -> None:
    raise ValueError("no such thing")


def recurse(html: bytes = b"") -> None:
    recurse(html)


def fail_unless_lxml(html: bytes, parser: str = "turbohtml") -> str:
    if parser != "lxml":
        raise ValueError("only lxml")
    return parser


def answer_hugely(html: bytes = b"") -> bytes:
    return bytes(2 << 20)


def answer_with_code() -> Callable[[str], int]:
    return os.system


class Balloon:
    def __reduce__(self) -> tuple[type[bytearray], tuple[int]]:
        return bytearray, (1 << 40,)


def answer_with_balloon() -> Balloon:
    return Balloon()


class Bomb:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("exit 1",)


def answer_with_bomb() -> Bomb:
    return Bomb()


def answer_with_garbage() -> None:
    """Write over the wire what no child should."""
    os.write(0, b"+\x00\x00\x00\x04junk")


def answer_with_nothing() -> None:
    """An answer without a body."""
    os.write(0, b"+\x00\x00\x00\x00")


def say_and_stall(address: str) -> None:
    """Tell the test that the page is being read, then stall. The end of the connection is the end of the child."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(address)
        wire.sendall(b"reading")
        time.sleep(600)


def environment() -> dict[str, str]:
    return dict(os.environ)


def open_files() -> list[str]:
    """What the open descriptors of the child are."""
    return sorted(f"{name}:{os.readlink(f'/proc/self/fd/{name}').split(':')[0]}" for name in ("0", "1")) + [
        name for name in os.listdir("/proc/self/fd") if int(name) > 2 and Path(f"/proc/self/fd/{name}").exists()
    ]


def ignored_signals() -> list[bool]:
    return [signal.getsignal(told) is signal.SIG_IGN for told in (signal.SIGINT, signal.SIGTERM)]
