"""Orphaned rows, whose worker is certainly gone: released at once instead of at the end of their lease."""

import os

import asyncpg

from scrapersky.engine.pipeline import Pipeline


async def is_only_process(connection: asyncpg.Connection) -> bool:
    """Check that no other process works on the database: a worker keeps a connection as long as it runs."""
    mine = f"scrapersky {os.getpid()}"
    return bool(await connection.fetchval(_ALONE, mine, f"{mine} %"))


async def release_orphans(connection: asyncpg.Connection, pipeline: Pipeline) -> int:
    """End the lease of every row in Processing and return how many there were. Only for the only process, at start.

    If another worker was only disconnected, the fence still refuses its late writes.
    """
    freed = 0
    for workflow in pipeline:
        # The row stays in Processing: the sweep records the lost worker and counts the attempt.
        status = await connection.execute(_FREE.format(table=workflow.table, queue=workflow.queue))
        freed += int(status.split()[-1])
    return freed


# Over a network a pooler may hide other processes: only a local server's answer is reliable.
_ALONE = """
SELECT inet_server_addr() IS NULL AND NOT EXISTS (
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'scrapersky %'
        AND application_name <> $1 AND application_name NOT LIKE $2)"""
_FREE = "UPDATE {table} SET {queue}_due_at = now() WHERE {queue}_due_at > now() AND {queue}_status = 'Processing'"
