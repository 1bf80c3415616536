"""A word for whoever waits: said only if it takes longer than one likes to wait in silence."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

SILENCE_SECONDS = 2.0


@contextmanager
def said_if_slow(sentence: str, after_seconds: float = SILENCE_SECONDS) -> Iterator[None]:
    """Say the sentence on standard error if what is done inside takes so long; from a thread, for that may block."""
    timer = threading.Timer(after_seconds, typer.echo, (sentence,), {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
