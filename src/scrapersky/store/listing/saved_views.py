"""SQL about saved views: those of a person, and those that are shared with the tenant."""

from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict, UnknownName
from scrapersky.core.uuid7 import new_id
from scrapersky.models import SavedView
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

MAX_VIEWS = 100  # of one person


class UnknownView(UnknownName):
    """There is no such view."""


class TooManyViews(Conflict):
    """You have the maximum number of views."""


async def seen_by(session: AsyncSession, actor: Actor, user_id: UUID, noun: str | None, limit: int) -> list[SavedView]:
    """Return the views of a person and those that are shared, by noun and name."""
    wanted = select(SavedView).where(
        SavedView.tenant_id == actor.tenant_id, or_(SavedView.user_id == user_id, SavedView.shared)
    )
    if noun is not None:
        wanted = wanted.where(SavedView.noun == noun)
    return list(await session.scalars(wanted.order_by(SavedView.noun, SavedView.name, SavedView.id).limit(limit)))


async def save(
    session: AsyncSession, actor: Actor, user_id: UUID, noun: str, name: str, query: str, shared: bool
) -> SavedView:
    """Store a view; one of the same person with the same name is replaced. Raises TooManyViews."""
    owned = await session.scalar(select(func.count()).where(SavedView.user_id == user_id, SavedView.name != name))
    if (owned or 0) >= MAX_VIEWS:
        raise TooManyViews(f"You have {MAX_VIEWS} views. Delete one first.")
    values = {"query": query, "shared": shared}
    stored = insert(SavedView).values(
        id=new_id(), tenant_id=actor.tenant_id, user_id=user_id, noun=noun, name=name, **values
    )
    changed = stored.on_conflict_do_update(
        index_elements=["user_id", "noun", "name"], set_={**values, "updated_at": func.now()}
    )
    view = (await session.scalars(changed.returning(SavedView), execution_options={"populate_existing": True})).one()
    await audit.record(session, actor, "save", f"view {view.id}", None, {"noun": noun, "name": name, **values})
    return view


async def remove(session: AsyncSession, actor: Actor, user_id: UUID, view_id: UUID, of_others: bool) -> None:
    """Delete a view of the person; with `of_others` also one that somebody else shares. Raises UnknownView."""
    may = SavedView.user_id == user_id
    wanted = select(SavedView).where(SavedView.id == view_id, SavedView.tenant_id == actor.tenant_id)
    view = await session.scalar(wanted.where(or_(may, SavedView.shared) if of_others else may).with_for_update())
    if view is None:
        raise UnknownView(f"You have no view with the id {view_id}.")
    before = {"noun": view.noun, "name": view.name, "query": view.query, "shared": view.shared}
    await session.delete(view)
    await audit.record(session, actor, "delete", f"view {view_id}", before)
