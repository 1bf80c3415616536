"""Read a resource: one page of its list, or one row."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.api.dependencies import WebApplication
from scrapersky.api.resources.models import set_filters
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.cursors import BadCursor
from scrapersky.api.schemas.fields import PREFIX
from scrapersky.api.schemas.listing import Listing, ListQuery, QueueState, Related, RelatedRows, RowSummary
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import lineage, paginate
from scrapersky.store.listing.lineage import RelatedResource
from scrapersky.store.listing.paginate import Position, Sort
from scrapersky.store.listing.resources import Resource

SORT_KEYS: dict[str, Any] = {"updated_at": cursors.timestamp, "id": UUID}  # how a cursor is decoded; others are text


# Reads what the rows of a page show besides their columns: fields and values by the id of the row.
Complete = Callable[[AsyncSession, Sequence[Any]], Awaitable[Mapping[UUID, Mapping[str, Any]]]]


async def list_page(
    application: WebApplication,
    actor: Actor,
    resource: Resource,
    summary: type[RowSummary],
    query: ListQuery,
    complete: Complete | None = None,
    *,
    count_each: bool = False,
    unmerged: bool = False,
) -> Listing[RowSummary]:
    """Return one page of the resource's list; `complete` reads the fields that are no columns.

    The rows are counted for the first page, with `count_each` for every page. With `unmerged` the list is without
    rows that were merged into another one.
    """
    unmerged = unmerged or not resource.lists_merged
    columns = columns_of(resource, summary)
    sort = Sort(query.sort.removeprefix("-"), query.sort.startswith("-"))
    filters = set_filters(query, resource)
    name = cursors.list_name(f"{resource.name}/{query.sort}", filters)
    if query.cursor and query.before:
        raise BadCursor("Send `cursor` or `before`, not both.")
    after = _position(application, query.cursor, name, sort) if query.cursor else None
    before = _position(application, query.before, name, sort) if query.before else None
    async with application.database.session(actor.tenant_id) as session:
        found = await paginate.page(
            session,
            resource,
            actor.tenant_id,
            columns,
            filters,
            sort=sort,
            after=after,
            before=before,
            limit=query.limit + 1,
            unmerged=unmerged,
        )
        is_counted = count_each or (query.count and not (after or before))
        count = (
            await paginate.count(session, resource, actor.tenant_id, filters, unmerged=unmerged) if is_counted else None
        )
        has_more = len(found) > query.limit
        shown = found[-query.limit :] if before else found[: query.limit]
        rows = [row for row, _ in shown]
        more = await complete(session, rows) if complete else {}
    positions = [_cursor(application, name, position) for _, position in (shown[0], shown[-1])] if shown else []
    return Listing(
        items=[summary.model_validate({**row._mapping, **more.get(row.id, {})}) for row in rows],
        next_cursor=positions[-1] if positions and (before or has_more) else None,
        previous_cursor=positions[0] if positions and (after or (before and has_more)) else None,
        total=count.total if count else None,
        more=count.more if count else None,
    )


async def rows_with_ids(
    application: WebApplication,
    actor: Actor,
    resource: Resource,
    summary: type[RowSummary],
    ids: Sequence[UUID],
    complete: Complete | None = None,
) -> list[RowSummary]:
    """Return the rows with these ids as a list shows them."""
    columns = columns_of(resource, summary)
    async with application.database.session(actor.tenant_id) as session:
        rows = await paginate.with_ids(session, resource, actor.tenant_id, columns, ids)
        more = await complete(session, rows) if complete else {}
    return [summary.model_validate({**row._mapping, **more.get(row.id, {})}) for row in rows]


def columns_of(resource: Resource, summary: type[Any]) -> list[str]:
    """Return the fields of the summary that are columns of the resource."""
    return [name for name in summary.model_fields if hasattr(resource.model, name)]


async def row_detail(
    application: WebApplication,
    actor: Actor,
    resource: Resource,
    detail: type[RowSummary],
    row_id: UUID,
    complete: Complete | None = None,
) -> RowSummary:
    """Return one row as `detail`: its columns, its queues, and its provenance if the model has that field."""
    related = dict[str, RelatedResource]()
    async with application.database.session(actor.tenant_id) as session:
        row = await paginate.get(session, resource, actor.tenant_id, row_id)
        if "provenance" in detail.model_fields:
            related = await lineage.related_rows(session, resource.name, row_id)
        more = (await complete(session, [row])).get(row_id, {}) if complete else {}
    columns = {name: value for name, value in vars(row).items() if not name.startswith("_")}
    provenance = {name: _related(name, found) for name, found in related.items()}
    return detail.model_validate({**columns, **more, "queues": queue_states(resource, row), "provenance": provenance})


def queue_states(resource: Resource, row: Any) -> dict[str, QueueState]:
    """Return the state of a row in each queue of the resource."""
    return {
        queue: QueueState(**{part: getattr(row, f"{queue}_{part}") for part in QueueState.model_fields})
        for queue in resource.queues
    }


def _related(name: str, found: RelatedResource) -> RelatedRows:
    items = [Related(id=row_id, name=label, link=f"{PREFIX}/{name}/{row_id}") for row_id, label in found.rows]
    return RelatedRows(items=items, more=found.more)


def _cursor(application: WebApplication, name: str, position: Position) -> str:
    key, row_id = position
    plain = key.isoformat() if isinstance(key, datetime) else None if key is None else str(key)
    return application.cursors.encode(name, [plain, str(row_id)])


def _position(application: WebApplication, cursor: str, name: str, sort: Sort) -> Position:
    key, row_id = application.cursors.decode(cursor, name, SORT_KEYS.get(sort.by, _text_or_none), UUID)
    return key, row_id


def _text_or_none(part: Any) -> str | None:
    """Read the key of a row, which may have no value."""
    return None if part is None else cursors.storable_text(part)
