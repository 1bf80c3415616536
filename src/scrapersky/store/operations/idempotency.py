"""SQL about Idempotency-Keys: a request that arrives twice with one key has one effect."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import ScraperSkyError
from scrapersky.models import IdempotencyKey

KEPT = text("interval '24 hours'")


class KeyReused(ScraperSkyError):
    """This Idempotency-Key was used for another request."""

    status_code = 422
    fields = ("header.idempotency-key",)


@dataclass(frozen=True)
class StoredResponse:
    """The response to the first request."""

    status_code: int
    body: dict[str, Any]


async def recall(session: AsyncSession, tenant_id: UUID, key: str, request_hash: str) -> StoredResponse | None:
    """Return the stored response of this key, or None: then the key is reserved, and `remember` stores the response."""
    too_old = IdempotencyKey.created_at < func.now() - KEPT
    await session.execute(delete(IdempotencyKey).where(IdempotencyKey.tenant_id == tenant_id, too_old))
    reserved = await session.execute(
        insert(IdempotencyKey)
        .values(tenant_id=tenant_id, key=key, request_hash=request_hash, status_code=0, response={})
        .on_conflict_do_nothing()  # waits for another transaction with this key
    )
    if reserved.rowcount:  # type: ignore[attr-defined]
        return None
    found = await session.get_one(IdempotencyKey, (tenant_id, key))
    if found.request_hash != request_hash:
        raise KeyReused("Use a new key for a new request; a key is stored for 24 hours.")
    return StoredResponse(found.status_code, found.response)


async def remember(session: AsyncSession, tenant_id: UUID, key: str, response: StoredResponse) -> None:
    """Store the response, in the transaction of the change."""
    await session.execute(
        update(IdempotencyKey)
        .where(IdempotencyKey.tenant_id == tenant_id, IdempotencyKey.key == key)
        .values(status_code=response.status_code, response=response.body)
    )
