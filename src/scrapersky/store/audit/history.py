"""The history of one row: the audit entries of it, and those of changes of many rows that name it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

MAX_ENTRIES = 100
MAX_SEARCHED = 500  # changes of many rows, per subject, in which the row is looked for


@dataclass(frozen=True)
class HistoryEntry:
    """One change of a row: who, when, what differs."""

    at: datetime
    actor: str
    action: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    action_id: UUID | None = None  # of a curation that can still be undone


async def of_row(
    session: AsyncSession, tenant_id: UUID, row_id: UUID, subject: str, bulk_subjects: Sequence[str]
) -> list[HistoryEntry]:
    """Return the latest changes of a row, the latest first.

    `subject` is that of the row alone. Changes of more rows than the audit lists by id are found for a day, by the
    action that can be undone.
    """
    found = await session.execute(
        HISTORY,
        {
            "tenant": tenant_id,
            "row": row_id,
            "mention": f"%{row_id}%",
            "subject": subject,
            "bulk": list(bulk_subjects),
            "searched": MAX_SEARCHED,
            "limit": MAX_ENTRIES,
        },
    )
    return [_entry(row, str(row_id)) for row in found]


def _entry(row: Any, row_id: str) -> HistoryEntry:
    """Reduce a change of many rows to this row: the status that it had before."""
    states = [state for state, ids in (row.before or {}).items() if isinstance(ids, list) and row_id in ids]
    if row.is_bulk and states:
        after = {name: row.after[name] for name in ("curation_status", "status") if name in (row.after or {})}
        return HistoryEntry(row.at, row.actor, row.action, dict.fromkeys(after, states[0]), after, row.undoable)
    return HistoryEntry(row.at, row.actor, row.action, row.before, row.after, row.undoable)


HISTORY = text("""
WITH found AS (
    SELECT at, actor, action, before, after, false AS is_bulk, after ->> 'action_id' AS action_id FROM audit
    WHERE tenant_id = :tenant AND subject = :subject
    UNION ALL
    SELECT many.at, many.actor, many.action, many.before, many.after, true, many.after ->> 'action_id'
    FROM unnest(cast(:bulk AS text[])) AS bulk(subject), LATERAL (
        SELECT at, actor, action, before, after FROM audit
        WHERE tenant_id = :tenant AND subject = bulk.subject ORDER BY at DESC, id DESC LIMIT :searched) many
    WHERE many.before::text LIKE :mention
    UNION ALL
    SELECT a.created_at, a.actor, 'curate', jsonb_build_object('curation_status', c.before -> 'curation_status'),
        jsonb_build_object('curation_status', a.curation_status), false, a.id::text
    FROM curation_change c JOIN curation_action a ON a.id = c.action_id
    WHERE c.tenant_id = :tenant AND c.row_id = :row AND a.row_count > 100 AND jsonb_exists(c.before, 'curation_status')
)
SELECT found.*, a.id AS undoable FROM (SELECT * FROM found ORDER BY at DESC LIMIT :limit) found
LEFT JOIN curation_action a ON a.tenant_id = :tenant AND a.id::text = found.action_id AND a.undone_at IS NULL
    AND a.created_at > now() - interval '24 hours'
ORDER BY at DESC""")
