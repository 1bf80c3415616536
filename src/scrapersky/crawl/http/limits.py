"""The limits of one fetch."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """How many seconds, bytes and redirects one fetch may take. The defaults are those of the settings."""

    deadline_seconds: float = 30.0
    connect_seconds: float = 5.0
    max_redirects: int = 5
    page_bytes: int = 5_000_000
    stream_bytes: int = 52_428_800
    connections: int = 256
    max_retry_after_seconds: float = 3600.0
    header_bytes: int = 16_384
    max_headers: int = 128
