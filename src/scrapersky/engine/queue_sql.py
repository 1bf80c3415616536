"""The SQL of a queue. Only names of our own tables and columns are interpolated; values are parameters."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.dialects.postgresql import dialect

from scrapersky.engine.workflow import Workflow

# The database has these two in migrations/sql/queues.sql.
CHANNEL = "scrapersky"  # of NOTIFY
PRIORITY_WORTH = 600_000_000  # microseconds of order per class of priority: after ten minutes old comes before urgent
# The columns of a queue, after its name.
QUEUE_PARTS = ("status", "error", "attempts", "allowance", "due_at", "order", "flow", "waits_for", "revert_to")
COUNT_CAP = 100_000  # counts stop here
PROBED_ROWS = 500  # a probe is chosen among so many rows at the head
STAGGER_SECONDS = 1.2  # slightly longer than the time between two sweeps

_CLAIM = """
UPDATE {table} e SET {q}_status = 'Processing', {q}_attempts = e.{q}_attempts + 1,
    {q}_due_at = now() + {{lease}}::float8 * interval '1 second'
WHERE e.ctid = ANY (ARRAY(
    SELECT c.ctid FROM {table} c WHERE c.{q}_status = 'Queued' AND c.{q}_due_at IS NULL AND {{where}}
    ORDER BY c.{q}_order LIMIT {{n}}::int FOR NO KEY UPDATE SKIP LOCKED))
RETURNING e.id, e.tenant_id, e.{q}_attempts AS attempts, e.{q}_allowance AS allowance,
    e.{q}_order AS order_key{reads}"""

# The rows at the head, those that have not failed yet first.
_CLAIM_PROBE = """
UPDATE {table} e SET {q}_status = 'Processing', {q}_attempts = e.{q}_attempts + 1,
    {q}_due_at = now() + $2::float8 * interval '1 second'
WHERE e.ctid = ANY (ARRAY(
    SELECT c.ctid FROM {table} c WHERE c.{q}_status = 'Queued' AND c.{q}_due_at IS NULL AND c.ctid = ANY (ARRAY(
        SELECT h.ctid FROM {table} h WHERE h.{q}_status = 'Queued' AND h.{q}_due_at IS NULL
        ORDER BY h.{q}_order LIMIT {head}))
    ORDER BY c.{q}_attempts > c.{q}_allowance, c.{q}_order LIMIT $1::int FOR NO KEY UPDATE SKIP LOCKED))
RETURNING e.id, e.tenant_id, e.{q}_attempts AS attempts, e.{q}_allowance AS allowance,
    e.{q}_order AS order_key{reads}"""

# If a server crash loses a claim, the row is still queued and the fence refuses our write: no need to wait for disk.
_CLAIM_ALONE = """
WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true){besides}), claimed AS ({claim})
SELECT claimed.* FROM claimed, quick ORDER BY order_key"""
# The time of the last notification is set to long ago, before any row is looked for: the next row sends one.
_RENOTIFY = ", setval('{table}_{q}_notified', 0) = 0 AS is_set"
_RENOTIFIED = "(SELECT is_set FROM quick) AND "

# Arrays that are not sent (_columns in queue.py) are null for every row: Completed, with nothing besides.
# A row that was withdrawn while in flight gets the status in `_revert_to` instead of a retry.
_SETTLE = """
UPDATE {table} e SET updated_at = now(),
    {q}_status = CASE WHEN d.status = 'Queued' THEN coalesce(e.{q}_revert_to, 'Queued') ELSE d.status END,
    {q}_error = CASE WHEN d.status = 'Queued' AND e.{q}_revert_to IS NOT NULL THEN NULL ELSE d.error END,
    {q}_revert_to = NULL,
    {q}_waits_for = d.waits_for,
    {q}_due_at = CASE WHEN d.wait IS NULL THEN NULL ELSE now() + d.wait * interval '1 second' END,
    {q}_allowance = e.{q}_allowance + CASE WHEN d.counts THEN 0 ELSE 1 END{set_code}
FROM (
    SELECT id, attempts, coalesce(status, 'Completed') AS status, error, wait, coalesce(counts, true) AS counts,
        error_type, waits_for, code
    FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::float8[], $6::bool[], $7::text[], $8::text[],
        $9::text[]) AS sent(id, attempts, status, error, wait, counts, error_type, waits_for, code)
) d
WHERE e.id = d.id AND e.{q}_attempts = d.attempts AND e.{q}_status = 'Processing'
RETURNING e.id, e.tenant_id, e.{q}_attempts - e.{q}_allowance AS tries, d.status, d.error, d.error_type"""

# A completed row gets its code from the workflow, a retried one keeps it.
_SET_CODE = ",\n    {column} = CASE WHEN d.status IN ('Skipped', 'Error') THEN d.code ELSE e.{column} END"

_DEAD = """
INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message)
SELECT s.tenant_id, '{queue}', s.id, s.tries, coalesce(s.error_type, 'Error'), coalesce(s.error, '')
FROM settled s WHERE s.status = 'Error'
ON CONFLICT (queue, row_id) DO UPDATE SET attempts = excluded.attempts, error_type = excluded.error_type,
    message = excluded.message, failed_at = now()"""

_FUSED = """
WITH settled AS ({settle}), claimed AS ({claim})
SELECT e.id, e.tenant_id, e.attempts, e.allowance, e.order_key{reads}
FROM (SELECT * FROM claimed ORDER BY order_key) e
UNION ALL SELECT lost.id, NULL::uuid, NULL::int, NULL::int, NULL::int8{nulls} FROM ({lost}) lost"""

_LOST = """
SELECT d.id FROM unnest($1::uuid[]) d(id) WHERE NOT EXISTS (SELECT 1 FROM settled s WHERE s.id = d.id)"""

_SETTLE_ALONE = """WITH settled AS ({settle}) {lost}"""
_SETTLE_DEAD = """WITH settled AS ({settle}), dead AS ({dead}) {lost}"""

# A row locked by another transaction keeps its lease: it is not renewed now, and the statement does not wait for it.
_RENEW = """
WITH d AS (SELECT * FROM unnest($1::uuid[], $2::int[]) AS d(id, attempts)
), mine AS (
    SELECT e.id FROM d JOIN {table} e ON e.id = d.id
    WHERE e.{q}_attempts = d.attempts AND e.{q}_status = 'Processing'
), free AS (
    SELECT e.id FROM d JOIN {table} e ON e.id = d.id
    WHERE e.{q}_attempts = d.attempts AND e.{q}_status = 'Processing' FOR NO KEY UPDATE OF e SKIP LOCKED
), renewed AS (
    UPDATE {table} e SET {q}_due_at = now() + $3::float8 * interval '1 second'
    FROM free WHERE e.id = free.id RETURNING e.id
)
SELECT mine.id, renewed.id IS NOT NULL AS renewed FROM mine LEFT JOIN renewed ON renewed.id = mine.id"""

# One row may kill its workers. Rows that expired together more than once are queued one after the other, so that the
# others are completed before that row is claimed again.
_SWEEP = """
WITH due AS (
    SELECT c.ctid, c.{q}_status AS was, c.{q}_attempts - c.{q}_allowance AS tries FROM {table} c
    WHERE c.{q}_due_at <= now() AND c.{q}_status IN ('Queued', 'Processing')
    ORDER BY c.{q}_due_at LIMIT $1::int FOR NO KEY UPDATE SKIP LOCKED
), apart AS (
    SELECT ctid, row_number() OVER (ORDER BY random()) AS place FROM due
    WHERE was = 'Processing' AND tries BETWEEN 2 AND $2::int - 1
), swept AS (
    UPDATE {table} e SET {q}_due_at = now() + apart.place * {stagger} * interval '1 second',
        {q}_revert_to = NULL,
        {q}_status = CASE WHEN e.{q}_revert_to IS NOT NULL THEN e.{q}_revert_to
            WHEN due.was = 'Processing' AND e.{q}_attempts - e.{q}_allowance >= $2::int THEN 'Error' ELSE 'Queued' END,
        {q}_error = CASE WHEN e.{q}_revert_to IS NOT NULL THEN NULL WHEN due.was = 'Processing' THEN
            'The lease expired: the worker was killed, frozen or disconnected.' ELSE e.{q}_error END
    FROM due LEFT JOIN apart ON apart.ctid = due.ctid WHERE e.ctid = due.ctid
    RETURNING e.id, e.tenant_id, e.{q}_attempts - e.{q}_allowance AS tries, e.{q}_status AS status,
        e.{q}_error AS error, due.was
), settled AS (SELECT id, tenant_id, tries, status, error, 'LeaseExpired'::text AS error_type FROM swept
), dead AS ({dead})
SELECT count(*) FILTER (WHERE was = 'Queued') AS ready,
    count(*) FILTER (WHERE was = 'Processing' AND status = 'Queued') AS rescued,
    count(*) FILTER (WHERE status = 'Error') AS died FROM swept"""

# ORDER BY … LIMIT 1, not EXISTS: with stale statistics of a full queue the planner would scan the whole table.
_WORK = """
SELECT (SELECT {q}_order FROM {table} WHERE {q}_status = 'Queued' AND {q}_due_at IS NULL
        ORDER BY {q}_order LIMIT 1) IS NOT NULL
    OR (SELECT {q}_due_at FROM {table} WHERE {q}_due_at <= now() AND {q}_status IN ('Queued', 'Processing')
        ORDER BY {q}_due_at LIMIT 1) IS NOT NULL"""

_MEASURE = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {q}_status = 'Queued' AND {q}_due_at IS NULL
        ORDER BY {q}_order LIMIT {cap}) r) AS ready,
    (SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {q}_due_at IS NOT NULL AND {q}_status = 'Queued'
        ORDER BY {q}_due_at LIMIT {cap}) w) AS waiting,
    (SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {q}_due_at IS NOT NULL AND {q}_status = 'Processing'
        ORDER BY {q}_due_at LIMIT {cap}) p) AS processing,
    (SELECT count(*) FROM (SELECT 1 FROM dead_letter WHERE queue = '{queue}' LIMIT {cap}) d) AS dead,
    (SELECT greatest(0, extract(epoch FROM now()) - ({q}_order + priority * {worth}::int8) / 1000000.0)
        FROM {table} WHERE {q}_status = 'Queued' AND {q}_due_at IS NULL ORDER BY {q}_order LIMIT 1) AS oldest"""

_COUNT = """
SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {q}_status = 'Queued' AND {q}_due_at IS NULL
    ORDER BY {q}_order LIMIT $1::int) c"""

_OVERDUE = """
SELECT count(*) FROM {table} WHERE {q}_due_at < now() - $1::float8 * interval '1 second'
    AND {q}_status = 'Processing'"""

_BUSY = """
SELECT (SELECT {q}_order FROM {table} WHERE {q}_status = 'Queued' AND {q}_due_at IS NULL
        ORDER BY {q}_order LIMIT 1) IS NOT NULL
    OR (SELECT {q}_due_at FROM {table} WHERE {q}_due_at IS NOT NULL AND ({q}_status = 'Processing'
        OR ({q}_status = 'Queued' AND {q}_due_at <= now() + $1::float8 * interval '1 second'))
        ORDER BY {q}_due_at LIMIT 1) IS NOT NULL"""

_OPEN = """
UPDATE {table} SET {q}_status = 'Queued' WHERE id = ANY ($1::uuid[]) AND {q}_status NOT IN ('Queued', 'Processing')"""

# The next sweep makes the rows ready, and places them behind rows that were ready meanwhile.
_WAKE = """
WITH woken AS (
    UPDATE {table} SET {q}_due_at = now(), {q}_error = NULL, {q}_waits_for = NULL WHERE id IN (
        SELECT id FROM {table} WHERE {q}_due_at > now() AND {q}_status = 'Queued' AND tenant_id = $1
            AND {q}_waits_for = $2
        ORDER BY {q}_due_at LIMIT $3::int FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING id
), notified AS (SELECT pg_notify('{channel}', '{queue}'))
SELECT count(*) FROM woken, notified"""


@dataclass(frozen=True)
class QueueStatements:
    """The statements of one workflow's queue, written once."""

    claim: str
    claim_renotified: str
    claim_flow: str
    claim_probe: str
    settle: str
    settle_dead: str
    fused: str
    renew_leases: str
    sweep: str
    work: str
    measure: str
    count: str
    overdue: str
    busy: str
    open: str
    wake: str

    @classmethod
    def of(cls, workflow: Workflow[Any, Any, Any]) -> "QueueStatements":
        """Build the statements for this workflow's table, queue and columns."""
        columns = workflow.model.__table__.columns
        names: dict[str, Any] = {
            "table": workflow.table,
            "q": workflow.queue,
            "queue": f"{workflow.table}.{workflow.queue}",
            "reads": "".join(f", e.{name}" for name in workflow.reads),
            "nulls": "".join(f", NULL::{_type_of(columns[name])}" for name in workflow.reads),
            "worth": PRIORITY_WORTH,
            "channel": CHANNEL,
            "cap": COUNT_CAP,
            "head": PROBED_ROWS,
            "stagger": STAGGER_SECONDS,
            "lost": _LOST,
            "set_code": _SET_CODE.format(column=workflow.reason_code_column) if workflow.reason_code_column else "",
        }
        names["dead"] = _DEAD.format_map(names)
        names["settle"] = _SETTLE.format_map(names)
        claim = _CLAIM.format_map(names)
        behind = f"c.{workflow.queue}_order >= {{low}}::int8"
        of_flow = f"c.tenant_id = $3::uuid AND c.{workflow.queue}_flow = $4::uuid"
        fused_claim = claim.format(n="$10", lease="$11", where=behind.format(low="$12"))
        numbered = {"n": "$1", "lease": "$2"}
        behind = behind.format(low="$3")
        return cls(
            claim=_CLAIM_ALONE.format(claim=claim.format(**numbered, where=behind), besides=""),
            claim_renotified=_CLAIM_ALONE.format(
                claim=claim.format(**numbered, where=_RENOTIFIED + behind), besides=_RENOTIFY.format_map(names)
            ),
            claim_flow=_CLAIM_ALONE.format(claim=claim.format(**numbered, where=of_flow), besides=""),
            claim_probe=_CLAIM_PROBE.format_map(names),
            settle=_SETTLE_ALONE.format_map(names),
            settle_dead=_SETTLE_DEAD.format_map(names),
            fused=_FUSED.format_map({**names, "claim": fused_claim}),
            renew_leases=_RENEW.format_map(names),
            sweep=_SWEEP.format_map(names),
            work=_WORK.format_map(names),
            measure=_MEASURE.format_map(names),
            count=_COUNT.format_map(names),
            overdue=_OVERDUE.format_map(names),
            busy=_BUSY.format_map(names),
            open=_OPEN.format_map(names),
            wake=_WAKE.format_map(names),
        )


def _type_of(column: Any) -> str:
    return str(column.type.compile(dialect=dialect()))  # type: ignore[no-untyped-call]
