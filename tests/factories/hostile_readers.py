"""Readers that misbehave like a parser on a hostile page. Standard library only, so that children start fast."""

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


def mark_and_stall(mark: Path, html: object) -> None:
    mark.touch()
    stall()


def stall(html: bytes = b"") -> None:
    time.sleep(600)


def hog(html: bytes = b"") -> None:
    kept = []
    while True:
        kept.append(bytes(1 << 20))


def abort(html: object = b"", *_more: object) -> None:
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


def return_too_much(html: bytes = b"") -> bytes:
    return bytes(2 << 20)


def return_code() -> Callable[[str], int]:
    return os.system


class HugeObject:
    def __reduce__(self) -> tuple[type[bytearray], tuple[int]]:
        return bytearray, (1 << 40,)


def return_huge_object() -> HugeObject:
    return HugeObject()


class ShellCommand:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("exit 1",)


def return_command() -> ShellCommand:
    return ShellCommand()


def send_garbage() -> None:
    """Write bytes to the connection that are no response."""
    os.write(0, b"+\x00\x00\x00\x04junk")


def send_empty_response() -> None:
    """Write a response without a body."""
    os.write(0, b"+\x00\x00\x00\x00")


def report_and_stall(address: str) -> None:
    """Report the start of the page, then stall. The connection ends with the child."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(address)
        wire.sendall(b"reading")
        time.sleep(600)


def environment() -> dict[str, str]:
    return dict(os.environ)


def open_files() -> list[str]:
    """List the open file descriptors of the child."""
    return sorted(f"{name}:{os.readlink(f'/proc/self/fd/{name}').split(':')[0]}" for name in ("0", "1")) + [
        name for name in os.listdir("/proc/self/fd") if int(name) > 2 and Path(f"/proc/self/fd/{name}").exists()
    ]


def ignored_signals() -> list[bool]:
    return [signal.getsignal(number) is signal.SIG_IGN for number in (signal.SIGINT, signal.SIGTERM)]
