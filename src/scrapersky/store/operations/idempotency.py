"""Named queries about remembered answers: a request that comes twice with one key is done once."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import ScraperSkyError
from scrapersky.models import IdempotencyKey

KEPT = text("interval '24 hours'")


class KeyUsedOtherwise(ScraperSkyError):
    """This Idempotency-Key was used for another request."""

    status_code = 422
    fields = ("header.idempotency-key",)


@dataclass(frozen=True)
class Answered:
    """What the request was answered the first time."""

    status_code: int
    answer: dict[str, Any]


async def recall(session: AsyncSession, tenant_id: UUID, key: str, request_hash: str) -> Answered | None:
    """The answer given under this key, or nothing: then the key is taken, and `remember` fills it."""
    too_old = IdempotencyKey.created_at < func.now() - KEPT
    await session.execute(delete(IdempotencyKey).where(IdempotencyKey.tenant_id == tenant_id, too_old))
    taken = await session.execute(
        insert(IdempotencyKey)
        .values(tenant_id=tenant_id, key=key, request_hash=request_hash, status_code=0, response={})
        .on_conflict_do_nothing()  # waits for whoever holds the key in a transaction of its own
    )
    if taken.rowcount:  # type: ignore[attr-defined]
        return None
    found = (
        await session.scalars(
            select(IdempotencyKey).where(IdempotencyKey.tenant_id == tenant_id, IdempotencyKey.key == key)
        )
    ).one()
    if found.request_hash != request_hash:
        raise KeyUsedOtherwise("Use a new key for a new request; a key is remembered for 24 hours.")
    return Answered(found.status_code, found.response)


async def remember(session: AsyncSession, tenant_id: UUID, key: str, answered: Answered) -> None:
    """Keep the answer, in the transaction of the change itself."""
    await session.execute(
        update(IdempotencyKey)
        .where(IdempotencyKey.tenant_id == tenant_id, IdempotencyKey.key == key)
        .values(status_code=answered.status_code, response=answered.answer)
    )
