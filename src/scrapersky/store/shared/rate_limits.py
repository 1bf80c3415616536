"""Rate limits that all processes share: a token bucket per key in one row, filled by the database's clock."""

from dataclasses import dataclass

import asyncpg

# One statement and one round trip. A bucket that has too little is not written to, so that a flood makes no dead rows;
# the second half says how long to wait. Nobody sees their own write there, hence NOT EXISTS.
_TAKE = """
WITH taken AS (
    INSERT INTO rate_limit AS b (key, tokens, refilled_at)
    SELECT $1, $3::float8 - $4::float8, clock_timestamp() WHERE $3::float8 >= $4::float8
    ON CONFLICT (key) DO UPDATE SET
        tokens = least($3, b.tokens + $2 * extract(epoch FROM clock_timestamp() - b.refilled_at)::float8) - $4,
        refilled_at = clock_timestamp()
    WHERE least($3, b.tokens + $2 * extract(epoch FROM clock_timestamp() - b.refilled_at)::float8) >= $4
    RETURNING b.tokens
)
SELECT 0::float8 AS wait, tokens FROM taken
UNION ALL
SELECT greatest(0.001, ($4 - tokens) / $2), tokens FROM (
    SELECT least($3, b.tokens + $2::float8 * extract(epoch FROM clock_timestamp() - b.refilled_at)::float8) AS tokens
    FROM rate_limit b WHERE b.key = $1 AND NOT EXISTS (SELECT FROM taken)) AS found"""


@dataclass(frozen=True)
class Standing:
    """What a bucket answers."""

    wait: float  # seconds until it would have enough; 0 means: taken
    left: float  # tokens that are in it now


async def take(connection: asyncpg.Connection, key: str, per_minute: float, burst: float, cost: float = 1) -> float:
    """Seconds to wait, 0 if allowed: take `cost` tokens from the bucket `key`, which holds at most `burst`.

    `connection` is one of `Database.engine_connection()`, in no longer transaction: a bucket stays locked until its
    commit, and everybody who shares it would wait. Say what the key is about first: `login:ada@example.com`.
    A key may be hashed where it is personal; it is kept for a day.

    Example: `if wait := await rate_limits.take(connection, f"login:{account}", per_minute=5, burst=10): ...`
    """
    return (await spend(connection, key, per_minute, burst, cost)).wait


async def spend(connection: asyncpg.Connection, key: str, per_minute: float, burst: float, cost: float = 1) -> Standing:
    """The same, with what is left."""
    per_second = per_minute / 60
    row = await connection.fetchrow(_TAKE, key, per_second, float(burst), float(cost))
    if row is None:  # another process made the row in this very moment, and emptied it
        return Standing(wait=cost / per_second, left=0)
    return Standing(row["wait"], row["tokens"])
