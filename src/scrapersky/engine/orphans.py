"""Rows of workers that are certainly gone: free at once, instead of when their leases end."""

import os

import asyncpg

from scrapersky.engine.pipeline import Pipeline


async def is_alone(connection: asyncpg.Connection) -> bool:
    """Whether nobody but this process works with the database: a worker is connected as long as it lives."""
    mine = f"scrapersky {os.getpid()}"
    return bool(await connection.fetchval(_ALONE, mine, f"{mine} %"))


async def free_rows(connection: asyncpg.Connection, pipeline: Pipeline) -> int:
    """Let go of every row in hand; how many they were. For whoever is alone, before it works.

    Should another worker have been cut off for a moment, its rows are fenced as ever: what it writes late is refused.
    """
    freed = 0
    for workflow in pipeline:
        # The row stays in Processing: the sweep says what became of its worker, and counts the attempt.
        said = await connection.execute(_FREE.format(table=workflow.table, queue=workflow.queue))
        freed += int(said.split()[-1])
    return freed


# Through a network a pooler may hide who else is there: only a server on this machine is believed.
_ALONE = """
SELECT inet_server_addr() IS NULL AND NOT EXISTS (
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'scrapersky %'
        AND application_name <> $1 AND application_name NOT LIKE $2)"""
_FREE = "UPDATE {table} SET {queue}_due_at = now() WHERE {queue}_due_at > now() AND {queue}_status = 'Processing'"
