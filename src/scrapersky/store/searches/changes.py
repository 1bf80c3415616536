"""What differs between two runs of a search: businesses and contacts that are new, gone or changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import SearchRun
from scrapersky.store.steps import contacts_of_search, not_rejected
from scrapersky.store.withheld import is_withheld

SHOWN = 20  # names of each kind


@dataclass(frozen=True)
class Changes:
    """The rows of one kind that are new, gone or changed, and which fields changed how often."""

    new: int
    gone: int | None  # None: not known, because the later run did not find all
    changed: int
    fields: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)  # names by kind: new, gone, changed


@dataclass(frozen=True)
class RunChanges:
    """The difference between two runs."""

    former: int
    latter: int
    businesses: Changes
    contacts: Changes

    @property
    def counts(self) -> dict[str, Any]:
        """The numbers, without names."""
        return {
            noun: {name: value for name, value in vars(changes).items() if name != "examples"}
            for noun, changes in (("businesses", self.businesses), ("contacts", self.contacts))
        }


async def between(
    session: AsyncSession, search_id: UUID, former: SearchRun, latter: SearchRun, runs: Sequence[SearchRun]
) -> RunChanges:
    """Compare two runs of a search. What was gone in between and is there again counts as neither."""
    since = min(run.began_at for run in runs if run.number > former.number)
    until = min((run.began_at for run in runs if run.number > latter.number), default=None)
    values = {
        "search": search_id,
        "since": since,
        "until": until,
        "former": former.began_at,
        "latter": latter.began_at,
        "shown": SHOWN,
    }
    businesses = await _read(session, _BUSINESSES, values, has_gone=latter.is_whole)
    contacts = await _read(session, _CONTACTS, values, has_gone=True)
    return RunChanges(former.number, latter.number, businesses, contacts)


async def _read(session: AsyncSession, statement: Any, values: Mapping[str, Any], *, has_gone: bool) -> Changes:
    rows = {row.kind: row for row in await session.execute(statement, dict(values))}
    counts = {kind: rows[kind].rows if kind in rows else 0 for kind in ("new", "gone", "changed")}
    shown = {kind: list(rows[kind].names) for kind in counts if kind in rows and (kind != "gone" or has_gone)}
    fields = dict(rows["changed"].fields or {}) if "changed" in rows else {}
    return Changes(counts["new"], counts["gone"] if has_gone else None, counts["changed"], fields, shown)


# `r` has for each row its kind, its name, and the fields that changed in the time between.
_SUMMARY = """
SELECT kind, count(*)::integer AS rows, (array_agg(name ORDER BY name))[1 : :shown] AS names,
    (SELECT jsonb_object_agg(f.field, f.rows) FROM (
        SELECT field, count(*) AS rows FROM r c, unnest(c.fields) field WHERE c.kind = r.kind GROUP BY 1) f) AS fields
FROM r WHERE kind IS NOT NULL GROUP BY kind"""
_FIELDS = """ARRAY(SELECT e.key FROM jsonb_each_text({row}.field_changes) e
        WHERE e.value::timestamptz >= :since
            AND (cast(:until AS timestamptz) IS NULL OR e.value::timestamptz < :until))"""
_IS_NEW = "{found} >= :since"
_BEFORE_END = "(cast(:until AS timestamptz) IS NULL OR coalesce({found}, '-infinity') < :until)"

_BUSINESSES = text(f"""
WITH r AS (
    SELECT b.name, b.fields, CASE WHEN {_IS_NEW.format(found="b.found_at")} THEN 'new'
        WHEN b.seen_at >= :former AND b.seen_at < :latter THEN 'gone'
        WHEN cardinality(b.fields) > 0 THEN 'changed' END AS kind
    FROM (SELECT coalesce(b.name, '') AS name, f.found_at, coalesce(f.seen_at, f.found_at, '-infinity') AS seen_at,
            {_FIELDS.format(row="b")} AS fields
        FROM search_business f JOIN local_business b ON b.id = f.business_id
        WHERE f.search_id = :search AND {not_rejected("b")} AND {_BEFORE_END.format(found="f.found_at")}) b
){_SUMMARY}""")  # noqa: S608 - our own names

# A contact is gone if its page was read again without it.
_CONTACTS = text(f"""
WITH r AS (
    SELECT c.label AS name, c.fields, CASE WHEN {_IS_NEW.format(found="c.created_at")} THEN 'new'
        WHEN c.seen_at < :latter AND p.fetched_at >= :latter THEN 'gone'
        WHEN cardinality(c.fields) > 0 THEN 'changed' END AS kind
    FROM (SELECT coalesce(c.email, c.name, c.phone) AS label, c.created_at, c.seen_at, c.page_id,
            {_FIELDS.format(row="c")} AS fields
        FROM ({contacts_of_search("c.*")} OFFSET 0) c
        WHERE {not_rejected("c")} AND NOT {is_withheld("c")} AND c.merged_into_id IS NULL
            AND coalesce(c.email, c.phone, c.name) IS NOT NULL AND {_BEFORE_END.format(found="c.created_at")}) c
    LEFT JOIN page p ON p.id = c.page_id
){_SUMMARY}""")  # noqa: S608 - our own names


def in_words(noun: str, changes: Changes) -> str:
    """Describe the changes of one kind of rows in a sentence."""
    gone = f"{changes.gone:,} gone" if changes.gone is not None else "gone: not known, the run did not find all"
    fields = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in sorted(changes.fields.items()))
    changed = f"{changes.changed:,} changed" + (f" ({fields})" if fields else "")
    return f"{noun}: {changes.new:,} new, {gone}, {changed}."
