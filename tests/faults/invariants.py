"""What must hold after every fault, asked of the database itself."""

import asyncpg

SCHEMA = """
CREATE TABLE effect (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parcel_id uuid NOT NULL, tenant_id uuid NOT NULL,
    pid int NOT NULL, note text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
GRANT INSERT ON effect TO scrapersky_app;
CREATE TABLE history (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parcel_id uuid NOT NULL, was text NOT NULL,
    status text NOT NULL, attempts int NOT NULL, lease_was timestamptz, lease timestamptz,
    at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO history (parcel_id, was, status, attempts, lease_was, lease)
    VALUES (NEW.id, OLD.packing_status, NEW.packing_status, NEW.packing_attempts, OLD.packing_due_at,
        NEW.packing_due_at);
    RETURN NULL;
END $$;
CREATE TRIGGER remembered AFTER UPDATE OF packing_status ON parcel FOR EACH ROW
    WHEN (OLD.packing_status IS DISTINCT FROM NEW.packing_status) EXECUTE FUNCTION remember();
"""

CHECKS = {
    "conservation: every row is still there, in a state we know": """
        SELECT 'rows: ' || count(*) FROM parcel HAVING count(*) <> $1
        UNION ALL SELECT id::text FROM parcel
            WHERE packing_status NOT IN ('Queued', 'Processing', 'Completed', 'Skipped', 'Error')""",
    "no overlap: a row is claimed only from the queue, each time with a higher number": """
        SELECT parcel_id::text FROM (SELECT *, lag(status) OVER one AS before, max(attempts) OVER (
                PARTITION BY parcel_id ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS highest
            FROM history WINDOW one AS (PARTITION BY parcel_id ORDER BY id)) h
        WHERE status = 'Processing' AND (was <> 'Queued' OR before = 'Processing' OR attempts <= highest)""",
    "no overlap: a row goes back before its lease is over only if its worker gave it back or failed": """
        SELECT h.parcel_id::text FROM history h WHERE h.was = 'Processing' AND h.status = 'Queued'
            AND h.lease IS NULL AND h.lease_was > h.at AND NOT EXISTS (
                SELECT 1 FROM parcel p WHERE p.id = h.parcel_id AND p.packing_allowance > 0)""",
    "finished is finished: nothing leaves Completed": "SELECT parcel_id::text FROM history WHERE was = 'Completed'",
    "effects at most once": "SELECT parcel_id::text FROM effect GROUP BY 1 HAVING count(*) > 1",
    "effects exactly for the completed": """
        SELECT p.id::text FROM parcel p LEFT JOIN effect e ON e.parcel_id = p.id
        WHERE (p.packing_status = 'Completed') <> (e.id IS NOT NULL)""",
    "an effect belongs to the tenant of its row": """
        SELECT p.id::text FROM parcel p JOIN effect e ON e.parcel_id = p.id WHERE e.tenant_id <> p.tenant_id
        UNION ALL SELECT p.id::text FROM parcel p JOIN shipment s ON s.parcel_id = p.id
            WHERE s.tenant_id <> p.tenant_id""",
    "hand-over is atomic: packed if and only if in the next inbox": """
        SELECT id::text FROM parcel WHERE (packing_status = 'Completed') <> (weighing_status <> 'New')""",
    "hand-over is atomic: weighed if and only if there is one shipment, in its inbox": """
        SELECT p.id::text FROM parcel p LEFT JOIN shipment s ON s.parcel_id = p.id
        WHERE (p.weighing_status = 'Completed') <> (s.id IS NOT NULL AND s.shipping_status <> 'New')""",
    "no zombie": """
        SELECT id::text FROM parcel WHERE packing_status = 'Processing' AND packing_due_at < now() - interval '5 s'
        UNION ALL SELECT id::text FROM parcel
            WHERE weighing_status = 'Processing' AND weighing_due_at < now() - interval '5 s'""",
    "attempts are bounded": "SELECT id::text FROM parcel WHERE packing_attempts - packing_allowance > $1",
    "dead letters are exactly the rows in Error, with a reason": """
        SELECT p.id::text FROM parcel p
        LEFT JOIN dead_letter d ON d.row_id = p.id AND d.queue = 'parcel.packing' AND d.tenant_id = p.tenant_id
        WHERE (p.packing_status = 'Error') <> (d.id IS NOT NULL AND d.message <> '')""",
}


async def check_invariants(admin: asyncpg.Connection, rows: int, max_attempts: int) -> None:
    """Raise with every broken promise and the rows that broke it."""
    broken = {}
    for promise, question in CHECKS.items():
        values = [max_attempts if "bounded" in promise else rows] if "$1" in question else []
        if found := [row[0] for row in await admin.fetch(question, *values)]:
            broken[promise] = found[:5]
    assert not broken, broken


async def check_all_done(admin: asyncpg.Connection, rows: int, max_attempts: int) -> None:
    """The invariants, and nothing is left to do."""
    await check_invariants(admin, rows, max_attempts)
    left = await admin.fetchval(
        "SELECT count(*) FROM parcel WHERE packing_status IN ('New', 'Queued', 'Processing') "
        "OR weighing_status IN ('Queued', 'Processing')"
    )
    left += await admin.fetchval("SELECT count(*) FROM shipment WHERE shipping_status <> 'Completed'")
    assert left == 0
