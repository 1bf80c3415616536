"""Give each search its turn: rows of one search no longer stand behind the left-overs of others.

- `_flow` is the search that a row belongs to (or its destination). A row is placed behind the last row of its flow, not
  of its tenant; a tenant with many searches in a queue gets little more than its share.
- A row whose wait has ended is placed anew: it does not stand before rows that could go all the time.
- `_waits_for` is what a postponed row waits for, where an event can end the wait.
- A workflow has a shared token bucket, and idle cycles share one row of `run`.
"""

from alembic import op

revision = "fair_order"
down_revision = "skipped_scan"
branch_labels = None
depends_on = None

# The SQL of a row's flow, by the columns of its table.
FLOW = """
CREATE FUNCTION queue_flow(queue_table text) RETURNS text LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT CASE WHEN queue_table = 'search' THEN 'NEW.id'
        WHEN 'search_id' = ANY (names) THEN 'NEW.search_id'
        WHEN 'domain_id' = ANY (names) AND 'business_id' = ANY (names) THEN
            'coalesce((SELECT search_id FROM domain WHERE id = NEW.domain_id),
                (SELECT search_id FROM local_business WHERE id = NEW.business_id))'
        WHEN 'domain_id' = ANY (names) THEN '(SELECT search_id FROM domain WHERE id = NEW.domain_id)'
        WHEN 'destination_id' = ANY (names) THEN 'NEW.destination_id'
        ELSE 'NULL::uuid' END
    FROM (SELECT array_agg(attname::text) AS names FROM pg_attribute
        WHERE attrelid = queue_table::regclass AND attnum > 0) a
$$;
REVOKE EXECUTE ON FUNCTION queue_flow(text) FROM PUBLIC;
"""

# The trigger function that gives a row its position.
ENQUEUE = r"""
        CREATE OR REPLACE FUNCTION {table}_{queue}_enqueue() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        DECLARE
            at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            memo text[] := string_to_array(current_setting('scrapersky.{table}_{queue}', true), ':');
            base bigint;
            head bigint;
            step bigint;
            flows bigint;
            notified_at bigint;
            -- The flows of the tenants that the statement has met, the last one first: tenant=flows;tenant=flows;
            counted text := current_setting('scrapersky.{table}_{queue}_flows', true);
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF OLD.{queue}_status <> 'Queued' THEN
                    -- A row that is queued again starts afresh: earlier attempts do not count, the error is gone.
                    NEW.{queue}_allowance := NEW.{queue}_attempts;
                    NEW.{queue}_error := NULL;
                    NEW.{queue}_revert_to := NULL;
                    IF OLD.{queue}_status = 'Processing' THEN
                        NEW.{queue}_due_at := NULL;
                    END IF;
                END IF;
            END IF;
            NEW.{queue}_waits_for := NULL;
            NEW.{queue}_flow := coalesce({flow}, '00000000000000000000000000000000');
            IF NEW.priority > 0 THEN
                NEW.{queue}_order := at - NEW.priority * 600000000::bigint;
            ELSE
                -- Start-time fair queueing: behind the last row of the same flow, or at the head of the queue if the
                -- flow has none. Up to four flows of a tenant count as one tenant each; with more of them the distance
                -- between two rows of a flow grows. The memo saves the lookups for the further rows of a statement.
                IF memo[1] = NEW.tenant_id::text THEN
                    flows := memo[4]::bigint;
                ELSE
                    flows := substring(counted FROM NEW.tenant_id::text || '=([0-9]+)')::bigint;
                END IF;
                IF flows IS NULL THEN
                    SELECT count(*) INTO flows FROM (
                        WITH RECURSIVE active AS (
                            (SELECT t.{queue}_flow AS flow FROM {table} t WHERE t.tenant_id = NEW.tenant_id
                                AND t.{queue}_status = 'Queued' AND t.{queue}_due_at IS NULL
                                ORDER BY t.{queue}_flow LIMIT 1)
                            UNION ALL SELECT (SELECT t.{queue}_flow FROM {table} t WHERE t.tenant_id = NEW.tenant_id
                                AND t.{queue}_status = 'Queued' AND t.{queue}_due_at IS NULL
                                AND t.{queue}_flow > a.flow ORDER BY t.{queue}_flow LIMIT 1)
                            FROM active a WHERE a.flow IS NOT NULL
                        )
                        SELECT 1 FROM active WHERE flow IS NOT NULL LIMIT 100) f;
                END IF;
                IF memo[1] = NEW.tenant_id::text AND memo[2] = NEW.{queue}_flow::text THEN
                    base := memo[3]::bigint + 250 * greatest(4, flows);
                ELSE
                    IF NEW.{queue}_flow <> NEW.id THEN  -- a search is a flow of its own
                        SELECT {queue}_order + priority * 600000000::bigint INTO base FROM {table}
                            WHERE tenant_id = NEW.tenant_id AND {queue}_flow = NEW.{queue}_flow
                                AND {queue}_status = 'Queued' AND {queue}_due_at IS NULL
                            ORDER BY {queue}_order DESC LIMIT 1;
                    END IF;
                    IF base IS NULL THEN
                        flows := least(100, flows + 1);
                    END IF;
                    step := 250 * greatest(4, flows);
                    -- The first row that is not urgent: an urgent one has left its place in the order of time.
                    head := memo[5]::bigint;
                    IF head IS NULL THEN
                        SELECT h.place INTO head FROM (
                            SELECT {queue}_order + priority * 600000000::bigint AS place, priority FROM {table}
                            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL
                            ORDER BY {queue}_order LIMIT 1000) h
                            WHERE h.priority <= 0 LIMIT 1;
                    END IF;
                    base := coalesce(greatest(base + step, head + step - 1001 + flows), at);
                END IF;
                PERFORM set_config('scrapersky.{table}_{queue}',
                    concat_ws(':', NEW.tenant_id, NEW.{queue}_flow, base, flows, head), true);
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.{table}_{queue}_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
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
"""

WAIT_OVER = r"""
        -- A row whose wait has ended is placed like one that is queued now.
        CREATE TRIGGER {table}_{queue}_wait_over BEFORE UPDATE OF {queue}_due_at ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status = 'Queued'
            AND NEW.{queue}_due_at IS NULL AND OLD.{queue}_due_at <= now())
        EXECUTE FUNCTION {table}_{queue}_enqueue();
"""

ADD_COLUMNS = r"""
CREATE OR REPLACE FUNCTION add_queue_columns(queue_table text, queue text)
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
            ADD COLUMN {queue}_flow uuid NOT NULL DEFAULT '00000000000000000000000000000000',
            ADD COLUMN {queue}_waits_for text CHECK ({queue}_waits_for IN ('tenant', 'money')),
            ADD COLUMN {queue}_revert_to text CHECK ({queue}_revert_to IN ('New', 'Completed')),
            ADD CONSTRAINT {table}_{queue}_status_check
                CHECK ({queue}_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error'));

        -- The engine claims by this index,
        CREATE INDEX {table}_{queue}_claim ON {table} ({queue}_order)
            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL;
        -- finds the last row of a flow,
        CREATE INDEX {table}_{queue}_tenant ON {table} (tenant_id, {queue}_flow, {queue}_order)
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
"""

ADD_TRIGGERS = r"""
CREATE OR REPLACE FUNCTION add_queue_triggers(queue_table text, queue text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $add_queue_triggers$
BEGIN
    EXECUTE replace(replace(replace($template$
        -- The time of the last wake-up. A sequence is neither locked nor rolled back.
        CREATE SEQUENCE {table}_{queue}_notified MINVALUE 0 START 0 NO CYCLE;
        GRANT SELECT, UPDATE ON SEQUENCE {table}_{queue}_notified TO scrapersky_engine;

        -- A row enters the queue: give it its position, and wake a waiting worker.
@@ENQUEUE@@        SELECT run_as_engine('{table}_{queue}_enqueue()');

        CREATE TRIGGER {table}_{queue}_enqueue_insert BEFORE INSERT ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued')
        EXECUTE FUNCTION {table}_{queue}_enqueue();

        -- The engine puts a row back with a new due_at; such a row keeps its order and its attempts.
        CREATE TRIGGER {table}_{queue}_enqueue_update BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status <> 'Queued'
            AND NOT (OLD.{queue}_status = 'Processing' AND NEW.{queue}_due_at IS DISTINCT FROM OLD.{queue}_due_at))
        EXECUTE FUNCTION {table}_{queue}_enqueue();

@@WAIT_OVER@@
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
            {queue}_order, {queue}_waits_for, {queue}_revert_to, updated_at) ON {table} TO scrapersky_engine;

        -- Rows change often and in place; the indexes of a queue must be vacuumed early to stay small.
        ALTER TABLE {table} SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01,
            autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
    $template$, '{flow}', queue_flow(queue_table)), '{table}', queue_table), '{queue}', queue);
END
$add_queue_triggers$;
""".replace("@@ENQUEUE@@", ENQUEUE).replace("@@WAIT_OVER@@", WAIT_OVER)

DROP_QUEUE = r"""
CREATE OR REPLACE FUNCTION drop_queue(queue_table text, queue text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $drop_queue$
BEGIN
    EXECUTE replace(replace($template$
        DROP FUNCTION {table}_{queue}_enqueue, {table}_{queue}_drop_dead_letter, {table}_{queue}_reprioritize,
            {table}_{queue}_clear_due_at CASCADE;
        DROP SEQUENCE {table}_{queue}_notified;
        DELETE FROM dead_letter WHERE queue = '{table}.{queue}';
        ALTER TABLE {table} DROP COLUMN {queue}_status, DROP COLUMN {queue}_error, DROP COLUMN {queue}_attempts,
            DROP COLUMN {queue}_allowance, DROP COLUMN {queue}_due_at, DROP COLUMN {queue}_order,
            DROP COLUMN {queue}_flow, DROP COLUMN {queue}_waits_for, DROP COLUMN {queue}_revert_to;
    $template$, '{table}', queue_table), '{queue}', queue);
END
$drop_queue$;
"""

# The functions as they were before, for the way back.
FORMER_COLUMNS = r"""
CREATE OR REPLACE FUNCTION add_queue_columns(queue_table text, queue text)
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
"""

FORMER_TRIGGERS = r"""
CREATE OR REPLACE FUNCTION add_queue_triggers(queue_table text, queue text)
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
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.{table}_{queue}_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
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
"""

FORMER_DROP = r"""
CREATE OR REPLACE FUNCTION drop_queue(queue_table text, queue text)
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
"""

FORMER_ENQUEUE = r"""
        CREATE OR REPLACE FUNCTION {table}_{queue}_enqueue() RETURNS trigger
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
                IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                    PERFORM set_config('scrapersky.{table}_{queue}_flows',
                        left(concat(NEW.tenant_id, '=', flows, ';', counted), 2000), true);
                END IF;
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
"""

# Every queue that exists, by its trigger.
QUEUES = """
DO $do$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT c.relname AS queue_table,
        substring(t.tgname FROM length(c.relname) + 2 FOR length(t.tgname) - length(c.relname) - 16) AS queue
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE t.tgname = left(t.tgname, length(t.tgname) - 15) || '_enqueue_insert' AND NOT t.tgisinternal
            AND c.relnamespace = current_schema()::regnamespace
    LOOP
        EXECUTE replace(replace(replace($template$@@CHANGE@@$template$,
            '{flow}', @@FLOW@@), '{table}', one.queue_table), '{queue}', one.queue);
    END LOOP;
END
$do$"""

CHANGE = (
    r"""
        ALTER TABLE {table}
            ADD COLUMN {queue}_flow uuid NOT NULL DEFAULT '00000000000000000000000000000000',
            ADD COLUMN {queue}_waits_for text CHECK ({queue}_waits_for IN ('tenant', 'money'));
        GRANT UPDATE ({queue}_waits_for) ON {table} TO scrapersky_engine;
        UPDATE {table} SET {queue}_waits_for =
            CASE WHEN {queue}_error = 'The tenant is disabled.' THEN 'tenant' ELSE 'money' END
            WHERE {queue}_due_at IS NOT NULL AND {queue}_status = 'Queued'
                AND ({queue}_error = 'The tenant is disabled.' OR {queue}_error LIKE 'No money for its details: %');
        DROP INDEX {table}_{queue}_tenant;
        CREATE INDEX {table}_{queue}_tenant ON {table} (tenant_id, {queue}_flow, {queue}_order)
            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL;
"""  # noqa: S608 - names of our own tables
    + ENQUEUE
    + WAIT_OVER
)
FORMER = (
    """
        DROP TRIGGER {table}_{queue}_wait_over ON {table};
        ALTER TABLE {table} DROP COLUMN {queue}_flow, DROP COLUMN {queue}_waits_for;
        CREATE INDEX {table}_{queue}_tenant ON {table} (tenant_id, {queue}_order)
            WHERE {queue}_status = 'Queued' AND {queue}_due_at IS NULL;
"""
    + FORMER_ENQUEUE
)


def upgrade() -> None:
    run(FLOW, ADD_COLUMNS, ADD_TRIGGERS, DROP_QUEUE)
    run(QUEUES.replace("@@CHANGE@@", CHANGE).replace("@@FLOW@@", "queue_flow(one.queue_table)"))
    run(
        """
        ALTER TABLE workflow_control ADD COLUMN max_per_minute integer NOT NULL DEFAULT 0,
            ADD COLUMN throttle_tokens double precision, ADD COLUMN throttle_at timestamptz;
        ALTER TABLE run ADD COLUMN cycles integer NOT NULL DEFAULT 1"""
    )


def downgrade() -> None:
    run(
        """
        ALTER TABLE run DROP COLUMN cycles;
        ALTER TABLE workflow_control DROP COLUMN max_per_minute, DROP COLUMN throttle_tokens, DROP COLUMN throttle_at"""
    )
    run(QUEUES.replace("@@CHANGE@@", FORMER).replace("@@FLOW@@", "''"))
    run(FORMER_COLUMNS, FORMER_TRIGGERS, FORMER_DROP, "DROP FUNCTION queue_flow(text)")


def run(*scripts: str) -> None:
    """Run scripts of many statements; the driver takes more than one only without a prepared statement."""
    for script in scripts:
        op.get_bind().connection.dbapi_connection.run_async(
            lambda connection, script=script: connection.execute(script)
        )
