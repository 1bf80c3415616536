"""Primary keys: UUID version 7, so that rows created together are adjacent in the index."""

import os
import time
from uuid import UUID


def new_id() -> UUID:
    """Return 48 bits of milliseconds followed by random bits (RFC 9562, section 5.7)."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & (2**48 - 1)) << 80 | random
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)
