-- A queue is seven columns of a table, four indexes, and triggers that keep order, wake-ups and dead letters in step with
-- the status, whoever writes it: the application, the engine, or a person with psql.
--
--   SELECT add_queue('local_business', 'tidy_name');   -- local_business gets the queue tidy_name
--   SELECT drop_queue('local_business', 'tidy_name');
--
-- `{table}` and `{queue}` below stand for the two names. Each queue gets trigger functions of its own: with fixed names
-- of columns PostgreSQL keeps the plans of their statements.
--
-- To change all queues, write a revision that replaces these functions and applies the change to every existing queue.

CREATE FUNCTION add_queue(queue_table text, queue text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM add_queue_columns(queue_table, queue);
    PERFORM add_queue_triggers(queue_table, queue);
END
$$;

-- Columns:
--   _status     New, Queued, Processing, Completed, Skipped or Error
--   _error      why the row was skipped, postponed, retried or failed
--   _attempts   how often the row was claimed; never reset, so that it also is the fencing token of a claim
--   _allowance  the attempts that do not count: those before the row was last queued
--   _due_at     Queued: not before this time (null: now). Processing: when the lease ends.
--   _order      the position in the queue; lower is claimed first
--   _revert_to  Processing, but withdrawn: the status that the row gets instead of a retry
CREATE FUNCTION add_queue_columns(queue_table text, queue text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $add_queue_columns$
BEGIN
    EXECUTE replace(replace($template$
        ALTER TABLE {table}
            ADD COLUMN {queue}_status text NOT NULL DEFAULT 'New',
            ADD COLUMN {queue}_error text,
            ADD COLUMN {queue}_attempts integer NOT NULL DEFAULT 0,
            ADD COLUMN {queue}_allowance integer NOT NULL DEFAULT 0,
            ADD COLUMN {queue}_due_at timestamptz,
            ADD COLUMN {queue}_order bigint NOT NULL DEFAULT 0,
            ADD COLUMN {queue}_revert_to text CHECK ({queue}_revert_to IN ('New', 'Completed')),
            ADD CONSTRAINT {table}_{queue}_status_check
                CHECK ({queue}_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error'));

        -- The engine claims by this index,
        CREATE INDEX {table}_{queue}_claim ON {table} ({queue}_order)
            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL;
        -- finds the last row of a tenant,
        CREATE INDEX {table}_{queue}_tenant ON {table} (tenant_id, {queue}_order)
            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL;
        -- finds rows that have become due and leases that have ended,
        CREATE INDEX {table}_{queue}_due ON {table} ({queue}_due_at)
            WHERE {queue}_due_at IS NOT NULL;
        -- and lists are filtered by status.
        CREATE INDEX {table}_{queue}_outcome ON {table} (tenant_id, {queue}_status, id)
            WHERE {queue}_status NOT IN ('Queued', 'Processing');
    $template$, '{table}', queue_table), '{queue}', queue);
END
$add_queue_columns$;

-- Numbers (the first one is also in engine/queue_sql.py, and a test compares them):
--   600000000 microseconds of order per class of priority: after ten minutes an old row comes before an urgent new one
--        1000 microseconds of order between two rows of one tenant
--       10000 microseconds between two wake-ups of a queue: at most a hundred per second
CREATE FUNCTION add_queue_triggers(queue_table text, queue text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $add_queue_triggers$
BEGIN
    EXECUTE replace(replace($template$
        -- The time of the last wake-up. A sequence is neither locked nor rolled back.
        CREATE SEQUENCE {table}_{queue}_notified MINVALUE 0 START 0 NO CYCLE;
        GRANT SELECT, UPDATE ON SEQUENCE {table}_{queue}_notified TO scrapersky_engine;

        -- A row enters the queue: give it its position, and wake a waiting worker.
        CREATE FUNCTION {table}_{queue}_enqueue() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text := current_setting('scrapersky.{table}_{queue}', true);
            base bigint;
            notified_at bigint;
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                -- A row that is queued again starts afresh: earlier attempts do not count, the earlier error is gone.
                NEW.{queue}_allowance := NEW.{queue}_attempts;
                NEW.{queue}_error := NULL;
                NEW.{queue}_revert_to := NULL;
                IF OLD.{queue}_status = 'Processing' THEN
                    NEW.{queue}_due_at := NULL;
                END IF;
            END IF;
            IF NEW.priority > 0 THEN
                NEW.{queue}_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same tenant, or at the head of the queue if the
                -- tenant has none. The memo saves the two lookups for the further rows of a statement.
                IF split_part(memo, ':', 1) = NEW.tenant_id::text THEN
                    base := split_part(memo, ':', 2)::bigint + 1000;
                ELSE
                    SELECT {queue}_order + priority * 600000000::bigint + 1000 INTO base FROM {table}
                        WHERE tenant_id = NEW.tenant_id AND {queue}_status = 'Queued' AND {queue}_due_at IS NULL
                        ORDER BY {queue}_order DESC LIMIT 1;
                    SELECT greatest(base, {queue}_order + priority * 600000000::bigint) INTO base FROM {table}
                        WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL
                        ORDER BY {queue}_order LIMIT 1;
                    base := coalesce(base, at);
                END IF;
                PERFORM set_config('scrapersky.{table}_{queue}', NEW.tenant_id::text || ':' || base::text, true);
                NEW.{queue}_order := base - NEW.priority * 600000000::bigint;
            END IF;
            IF NEW.{queue}_due_at IS NULL THEN
                SELECT last_value INTO notified_at FROM {table}_{queue}_notified;
                IF at - notified_at > 10000 OR notified_at > at THEN
                    PERFORM setval('{table}_{queue}_notified', at);
                    PERFORM pg_notify('scrapersky', '{table}.{queue}');
                END IF;
            END IF;
            RETURN NEW;
        END
        $function$;
        SELECT run_as_engine('{table}_{queue}_enqueue()');

        CREATE TRIGGER {table}_{queue}_enqueue_insert BEFORE INSERT ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued')
        EXECUTE FUNCTION {table}_{queue}_enqueue();

        -- The engine puts a row back with a new due_at; such a row keeps its order and its attempts.
        CREATE TRIGGER {table}_{queue}_enqueue_update BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status <> 'Queued'
            AND NOT (OLD.{queue}_status = 'Processing' AND NEW.{queue}_due_at IS DISTINCT FROM OLD.{queue}_due_at))
        EXECUTE FUNCTION {table}_{queue}_enqueue();

        -- A change of priority moves a queued row.
        CREATE FUNCTION {table}_{queue}_reprioritize() RETURNS trigger LANGUAGE plpgsql AS $function$
        BEGIN
            NEW.{queue}_order := NEW.{queue}_order - (NEW.priority - OLD.priority) * 600000000::bigint;
            RETURN NEW;
        END
        $function$;

        CREATE TRIGGER {table}_{queue}_reprioritize BEFORE UPDATE OF priority ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status = 'Queued' AND NEW.priority <> OLD.priority)
        EXECUTE FUNCTION {table}_{queue}_reprioritize();

        -- A row that is taken out of its queue by an UPDATE keeps no due_at.
        CREATE FUNCTION {table}_{queue}_clear_due_at() RETURNS trigger LANGUAGE plpgsql AS $function$
        BEGIN
            NEW.{queue}_due_at := NULL;
            RETURN NEW;
        END
        $function$;

        CREATE TRIGGER {table}_{queue}_clear_due_at BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status NOT IN ('Queued', 'Processing') AND NEW.{queue}_due_at IS NOT NULL)
        EXECUTE FUNCTION {table}_{queue}_clear_due_at();

        -- The dead letter of a row goes when the row leaves the status Error, or is deleted.
        CREATE FUNCTION {table}_{queue}_drop_dead_letter() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        BEGIN
            DELETE FROM dead_letter WHERE queue = '{table}.{queue}' AND row_id = OLD.id;
            RETURN NULL;
        END
        $function$;
        SELECT run_as_engine('{table}_{queue}_drop_dead_letter()');

        CREATE TRIGGER {table}_{queue}_drop_dead_letter AFTER UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (OLD.{queue}_status = 'Error' AND NEW.{queue}_status <> 'Error')
        EXECUTE FUNCTION {table}_{queue}_drop_dead_letter();

        CREATE TRIGGER {table}_{queue}_drop_dead_letter_delete AFTER DELETE ON {table} FOR EACH ROW
        WHEN (OLD.{queue}_status = 'Error')
        EXECUTE FUNCTION {table}_{queue}_drop_dead_letter();

        -- A row that is Processing has a lease: without one it would never become free again.
        ALTER TABLE {table} ADD CONSTRAINT {table}_{queue}_leased
            CHECK ({queue}_status <> 'Processing' OR {queue}_due_at IS NOT NULL);

        -- The engine changes the columns of queues, and nothing else of the row.
        GRANT SELECT ON {table} TO scrapersky_engine;
        GRANT UPDATE ({queue}_status, {queue}_error, {queue}_attempts, {queue}_allowance, {queue}_due_at,
            {queue}_order, {queue}_revert_to, updated_at) ON {table} TO scrapersky_engine;

        -- Rows change often and in place; the indexes of a queue must be vacuumed early to stay small.
        ALTER TABLE {table} SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01,
            autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
    $template$, '{table}', queue_table), '{queue}', queue);
END
$add_queue_triggers$;

CREATE FUNCTION drop_queue(queue_table text, queue text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $drop_queue$
BEGIN
    EXECUTE replace(replace($template$
        DROP FUNCTION {table}_{queue}_enqueue, {table}_{queue}_drop_dead_letter, {table}_{queue}_reprioritize,
            {table}_{queue}_clear_due_at CASCADE;
        DROP SEQUENCE {table}_{queue}_notified;
        DELETE FROM dead_letter WHERE queue = '{table}.{queue}';
        ALTER TABLE {table} DROP COLUMN {queue}_status, DROP COLUMN {queue}_error, DROP COLUMN {queue}_attempts,
            DROP COLUMN {queue}_allowance, DROP COLUMN {queue}_due_at, DROP COLUMN {queue}_order,
            DROP COLUMN {queue}_revert_to;
    $template$, '{table}', queue_table), '{queue}', queue);
END
$drop_queue$;

REVOKE EXECUTE ON FUNCTION add_queue(text, text), add_queue_columns(text, text), add_queue_triggers(text, text),
    drop_queue(text, text) FROM PUBLIC;
