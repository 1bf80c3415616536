"""What a queue needs of the database beyond its columns: order, wake-ups and dead letters that follow the status.

Migrations call `create_queue`. What it writes is frozen by the migrations that used it: to change a queue, write a
new function and a migration that calls it for every queue.
"""

PRIORITY_WORTH = 600_000_000  # microseconds one class of priority is worth: after ten minutes old beats urgent
SHARE = 1_000  # microseconds of order between two rows of one tenant
NOTIFY_EVERY = 10_000  # microseconds: at most a hundred wake-ups a second and queue
CHANNEL = "scrapersky"
QUEUE_PARTS = ("status", "error", "attempts", "allowance", "due_at", "order")  # the columns of a queue, after its name

# A function that acts as its owner looks for names in our schema, and in the caller's temporary one last: otherwise
# whoever makes a temporary table of the right name is read, or written to, with rights that are not his.
SEAL_FUNCTIONS = """
DO $body$
DECLARE
    sealed record;
BEGIN
    FOR sealed IN
        SELECT p.oid::regprocedure AS name, n.nspname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.prosecdef AND n.nspname = current_schema()
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', sealed.name, sealed.nspname);
    END LOOP;
END
$body$"""


def create_queue(table: str, queue: str) -> list[str]:
    """The statements that make `table` a queue by its columns `<queue>_*`."""
    names = {
        "table": table,
        "queue": queue,
        "name": f"{table}_{queue}",
        "worth": PRIORITY_WORTH,
        "share": SHARE,
        "debounce": NOTIFY_EVERY,
        "channel": CHANNEL,
    }
    return [*(statement.format_map(names) for statement in _STATEMENTS), SEAL_FUNCTIONS]


def add_queue(table: str, queue: str) -> list[str]:
    """The statements that give an existing table a new queue: columns, indexes, and what `create_queue` adds."""
    ready = f"WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL"
    words = "'New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error'"
    return [
        f"""
ALTER TABLE {table}
    ADD COLUMN {queue}_status text NOT NULL DEFAULT 'New',
    ADD COLUMN {queue}_error text,
    ADD COLUMN {queue}_attempts integer NOT NULL DEFAULT 0,
    ADD COLUMN {queue}_allowance integer NOT NULL DEFAULT 0,
    ADD COLUMN {queue}_due_at timestamptz,
    ADD COLUMN {queue}_order bigint NOT NULL DEFAULT 0,
    ADD CONSTRAINT {table}_{queue}_status_word CHECK ({queue}_status IN ({words}))""",
        f"CREATE INDEX {table}_{queue}_claim ON {table} ({queue}_order) {ready}",
        f"CREATE INDEX {table}_{queue}_share ON {table} (tenant_id, {queue}_order) {ready}",
        f"CREATE INDEX {table}_{queue}_clock ON {table} ({queue}_due_at) WHERE {queue}_due_at IS NOT NULL",
        f"""CREATE INDEX {table}_{queue}_outcome ON {table} (tenant_id, {queue}_status, id)
    WHERE {queue}_status NOT IN ('Queued', 'Processing')""",
        *create_queue(table, queue),
    ]


def drop_queue(table: str, queue: str) -> list[str]:
    """The statements that undo `create_queue`, and `add_queue` with the columns."""
    return [
        f"DROP FUNCTION {table}_{queue}_queued() CASCADE",
        f"DROP FUNCTION {table}_{queue}_revived() CASCADE",
        f"DROP FUNCTION {table}_{queue}_hurried() CASCADE",
        f"DROP FUNCTION {table}_{queue}_rested() CASCADE",
        f"DROP SEQUENCE {table}_{queue}_told",
        f"DELETE FROM dead_letter WHERE queue = '{table}.{queue}'",  # noqa: S608 - our own names
        f"ALTER TABLE {table} " + ", ".join(f"DROP COLUMN {queue}_{part}" for part in QUEUE_PARTS),
    ]


_STATEMENTS = [
    # When a waiting worker was last told. A sequence, because it is neither locked nor rolled back.
    "CREATE SEQUENCE {name}_told MINVALUE 0 START 0 NO CYCLE",
    """
CREATE FUNCTION {name}_queued() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
DECLARE
    at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    memo text := current_setting('scrapersky.{name}', true);
    base bigint;
    told bigint;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        -- Whoever queues a row again starts it afresh: old attempts do not count, the old reason is gone.
        NEW.{queue}_allowance := NEW.{queue}_attempts;
        NEW.{queue}_error := NULL;
        IF OLD.{queue}_status = 'Processing' THEN
            NEW.{queue}_due_at := NULL;
        END IF;
    END IF;
    IF NEW.priority > 0 THEN
        NEW.{queue}_order := at - NEW.priority * {worth}::bigint;
    ELSE
        -- Start-time fair queueing: behind the tenant's own last row, or at the head of the queue if it has none.
        IF split_part(memo, ':', 1) = NEW.tenant_id::text THEN
            base := split_part(memo, ':', 2)::bigint + {share};
        ELSE
            SELECT {queue}_order + priority * {worth}::bigint + {share} INTO base FROM {table}
                WHERE tenant_id = NEW.tenant_id AND {queue}_status = 'Queued' AND {queue}_due_at IS NULL
                ORDER BY {queue}_order DESC LIMIT 1;
            SELECT greatest(base, {queue}_order + priority * {worth}::bigint) INTO base FROM {table}
                WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL
                ORDER BY {queue}_order LIMIT 1;
            base := coalesce(base, at);
        END IF;
        PERFORM set_config('scrapersky.{name}', NEW.tenant_id::text || ':' || base::text, true);
        NEW.{queue}_order := base - NEW.priority * {worth}::bigint;
    END IF;
    IF NEW.{queue}_due_at IS NULL THEN
        SELECT last_value INTO told FROM {name}_told;
        IF at - told > {debounce} OR told > at THEN
            PERFORM setval('{name}_told', at);
            PERFORM pg_notify('{channel}', '{table}.{queue}');
        END IF;
    END IF;
    RETURN NEW;
END
$body$""",
    """
CREATE FUNCTION {name}_revived() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
BEGIN
    DELETE FROM dead_letter WHERE queue = '{table}.{queue}' AND row_id = OLD.id;
    RETURN NULL;
END
$body$""",
    """
CREATE FUNCTION {name}_hurried() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    NEW.{queue}_order := NEW.{queue}_order - (NEW.priority - OLD.priority) * {worth}::bigint;
    RETURN NEW;
END
$body$""",
    # The functions act as the engine, which sees every tenant's queue; to own them it must be let in for a moment.
    # A row taken out of its queue by hand leaves no clock behind.
    """
CREATE FUNCTION {name}_rested() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    NEW.{queue}_due_at := NULL;
    RETURN NEW;
END
$body$""",
    """
CREATE TRIGGER {name}_rest BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
WHEN (NEW.{queue}_status NOT IN ('Queued', 'Processing') AND NEW.{queue}_due_at IS NOT NULL)
EXECUTE FUNCTION {name}_rested()""",
    "DO $body$ BEGIN EXECUTE format('GRANT CREATE ON SCHEMA %I TO scrapersky_engine', current_schema()); END $body$",
    "ALTER FUNCTION {name}_queued() OWNER TO scrapersky_engine",
    "ALTER FUNCTION {name}_revived() OWNER TO scrapersky_engine",
    "DO $body$ BEGIN EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM scrapersky_engine', current_schema()); END $body$",
    "GRANT SELECT, UPDATE ON SEQUENCE {name}_told TO scrapersky_engine",
    """
CREATE TRIGGER {name}_insert BEFORE INSERT ON {table} FOR EACH ROW
WHEN (NEW.{queue}_status = 'Queued') EXECUTE FUNCTION {name}_queued()""",
    # The engine itself puts a row back with a new due_at, and then keeps its order and its count.
    """
CREATE TRIGGER {name}_update BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status <> 'Queued'
    AND NOT (OLD.{queue}_status = 'Processing' AND NEW.{queue}_due_at IS DISTINCT FROM OLD.{queue}_due_at))
EXECUTE FUNCTION {name}_queued()""",
    """
CREATE TRIGGER {name}_priority BEFORE UPDATE OF priority ON {table} FOR EACH ROW
WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status = 'Queued' AND NEW.priority <> OLD.priority)
EXECUTE FUNCTION {name}_hurried()""",
    """
CREATE TRIGGER {name}_revive AFTER UPDATE OF {queue}_status ON {table} FOR EACH ROW
WHEN (OLD.{queue}_status = 'Error' AND NEW.{queue}_status <> 'Error') EXECUTE FUNCTION {name}_revived()""",
    """
CREATE TRIGGER {name}_delete AFTER DELETE ON {table} FOR EACH ROW
WHEN (OLD.{queue}_status = 'Error') EXECUTE FUNCTION {name}_revived()""",
    # Nobody holds a row without a lease, not even by hand: it would never be freed.
    """
ALTER TABLE {table} ADD CONSTRAINT {name}_leased
CHECK ({queue}_status <> 'Processing' OR {queue}_due_at IS NOT NULL)""",
    "GRANT SELECT ON {table} TO scrapersky_engine",
    """
GRANT UPDATE ({queue}_status, {queue}_error, {queue}_attempts, {queue}_allowance, {queue}_due_at, {queue}_order,
    updated_at) ON {table} TO scrapersky_engine""",
    """
ALTER TABLE {table} SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)""",
]


def protect_tenant(table: str) -> list[str]:
    """The statements that let a tenant see and change its own rows only, and the engine see all."""
    mine = "tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid"
    return [
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY tenant_rows ON {table} TO scrapersky_app USING ({mine}) WITH CHECK ({mine})",
        f"CREATE POLICY engine_rows ON {table} TO scrapersky_engine USING (true) WITH CHECK (true)",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO scrapersky_app",
    ]
