"""Keeping the embedded server of a running process alive."""

import asyncio

import structlog

from scrapersky.core.embedded.server import DidNotStart, EmbeddedServer

log = structlog.get_logger(__name__)

CHECK_SECONDS = 1.0
QUIET_FAILURES = 5  # processes of the former server may keep the directory locked for a moment


async def keep_running(server: EmbeddedServer) -> None:
    """Start the server again whenever it has died, until cancelled; log once why it cannot be started."""
    failures = 0
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        try:
            await asyncio.to_thread(server.revive)
            failures = 0
        except DidNotStart as error:
            failures += 1
            if failures == QUIET_FAILURES:
                log.error("embedded_postgres_failed", error=str(error))  # noqa: TRY400 - the sentence says it
