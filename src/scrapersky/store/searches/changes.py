"""What differs between two runs of a search: businesses and contacts that are new, gone or changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import WebsiteHow
from scrapersky.models import SearchRun
from scrapersky.store.steps import contacts_of_search, not_rejected
from scrapersky.store.withheld import is_business_withheld, is_withheld

SHOWN = 20  # names of each kind


@dataclass(frozen=True)
class Changes:
    """The rows of one kind that are new, gone or changed, and which fields changed how often."""

    new: int
    gone: int | None  # None: not known, because the provider did not show all in the later run
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
    is_complete: bool = True  # no work of the later run was left when it ended
    is_open: bool = False  # the later run is under way

    @property
    def why_unknown(self) -> str:
        """Why it is not known what is gone, where it is not."""
        if self.is_complete:
            return "the run did not find all"
        if self.is_open:
            return "the run is not complete yet, and the provider has not shown all"
        return "the next run began before the provider had shown all"

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
    is_open = latter.ended_at is None
    return RunChanges(former.number, latter.number, businesses, contacts, latter.is_complete, is_open)


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
_IS_BETWEEN = """e.value::timestamptz >= :since
            AND (cast(:until AS timestamptz) IS NULL OR e.value::timestamptz < :until)"""
_FIELDS = f"ARRAY(SELECT e.key FROM jsonb_each_text(c.field_changes) e WHERE {_IS_BETWEEN})"  # noqa: S608 - own names
_IS_NEW = "{found} >= :since"
_BEFORE_END = "(cast(:until AS timestamptz) IS NULL OR coalesce({found}, '-infinity') < :until)"

# Records of one business are one row, by the name that a file shows. A web site that was taken from another record of
# the business is no change.
_BUSINESSES = text(f"""
WITH r AS (
    SELECT b.name, b.fields, CASE WHEN {_IS_NEW.format(found="b.found_at")} THEN 'new'
        WHEN b.seen_at >= :former AND b.seen_at < :latter THEN 'gone'
        WHEN cardinality(b.fields) > 0 THEN 'changed' END AS kind
    FROM (SELECT coalesce((array_agg(b.name ORDER BY p.provider, p.provider_id, b.id))[1], '') AS name,
            min(coalesce(f.found_at, '-infinity')) AS found_at,
            max(coalesce(f.seen_at, f.found_at, '-infinity')) AS seen_at,
            coalesce(array_agg(DISTINCT e.key) FILTER (WHERE e.key IS NOT NULL), '{{}}') AS fields
        FROM search_business f JOIN local_business b ON b.id = f.business_id LEFT JOIN place p ON p.id = b.place_id
        LEFT JOIN LATERAL jsonb_each_text(b.field_changes) e ON {_IS_BETWEEN}
            AND (e.key <> 'website' OR b.website_how IS DISTINCT FROM '{WebsiteHow.RECORD.value}')
        WHERE f.search_id = :search AND {not_rejected("b")} AND NOT {is_business_withheld("b.id")}
            AND {_BEFORE_END.format(found="f.found_at")}
        GROUP BY coalesce(b.same_as_id, b.id)) b
){_SUMMARY}""")  # noqa: S608 - our own names

# A contact is gone if its page was read again without it.
_CONTACTS = text(f"""
WITH r AS (
    SELECT c.label AS name, c.fields, CASE WHEN {_IS_NEW.format(found="c.created_at")} THEN 'new'
        WHEN c.seen_at < :latter AND p.fetched_at >= :latter THEN 'gone'
        WHEN cardinality(c.fields) > 0 THEN 'changed' END AS kind
    FROM (SELECT coalesce(c.email, c.name, c.phone) AS label, c.created_at, c.seen_at, c.page_id,
            {_FIELDS} AS fields
        FROM ({contacts_of_search("c.*")} OFFSET 0) c
        WHERE {not_rejected("c")} AND NOT {is_withheld("c")} AND c.merged_into_id IS NULL
            AND coalesce(c.email, c.phone, c.name) IS NOT NULL AND {_BEFORE_END.format(found="c.created_at")}) c
    LEFT JOIN page p ON p.id = c.page_id
){_SUMMARY}""")  # noqa: S608 - our own names


def in_words(noun: str, changes: Changes, why_unknown: str) -> str:
    """Describe the changes of one kind of rows in a sentence; `why_unknown` says why it is not known what is gone."""
    gone = f"{changes.gone:,} gone" if changes.gone is not None else f"gone: not known, {why_unknown}"
    fields = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in sorted(changes.fields.items()))
    changed = f"{changes.changed:,} changed" + (f" ({fields})" if fields else "")
    return f"{noun}: {changes.new:,} new, {gone}, {changed}."
