"""Rate limits that all processes share: a token bucket per key in one row, filled by the database's clock."""

from dataclasses import dataclass

import asyncpg

# One statement and one round trip. A bucket with too few tokens is not written to, so that a flood makes no dead rows;
# the second half returns the time to wait. A statement does not see its own write, hence NOT EXISTS.
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
class BucketState:
    """The state of a bucket after a request."""

    wait: float  # seconds until there are enough tokens; 0: the tokens were taken
    left: float  # tokens in the bucket


async def take_tokens(
    connection: asyncpg.Connection, key: str, per_minute: float, burst: float, cost: float = 1
) -> BucketState:
    """Take `cost` tokens from the bucket `key` of at most `burst`; return the state of the bucket.

    `connection` comes from `Database.engine_connection()`, outside a longer transaction: a bucket stays locked until
    the commit. A key begins with its subject: `login:ada@example.com`. A personal key can be hashed; it is kept a day.
    """
    per_second = per_minute / 60
    row = await connection.fetchrow(_TAKE, key, per_second, float(burst), float(cost))
    if row is None:  # another process created the bucket at the same time, and emptied it
        return BucketState(wait=cost / per_second, left=0)
    return BucketState(row["wait"], row["tokens"])
