-- Quotas of searches and pages per day.
--
-- A quota is a calendar: a row that does not fit into today gets the first day with room as its due_at. Tenants without
-- a quota pay nothing for it. A row that the engine puts back is not counted twice. A disabled tenant has a quota of 0.

-- How much of a quota a tenant has used, per day (searches, pages) or per month (cents; the day is the first).
CREATE TABLE quota_usage (
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    kind text NOT NULL,  -- searches, pages or cents
    day date NOT NULL,
    used integer NOT NULL,
    PRIMARY KEY (tenant_id, kind, day)
);
SELECT protect_tenant('quota_usage', 'SELECT');
GRANT SELECT, INSERT, UPDATE, DELETE ON quota_usage TO scrapersky_engine;

-- A change of a quota that is not yet applied to all queued rows: the next row to look at, and the last.
CREATE TABLE quota_reschedule (
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    kind text NOT NULL,  -- searches or pages
    after_order bigint NOT NULL DEFAULT -9223372036854775808,
    after_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    until_order bigint NOT NULL,  -- rows queued after the change have their day already
    PRIMARY KEY (tenant_id, kind)
);
SELECT protect_tenant('quota_reschedule', 'SELECT');
GRANT SELECT, INSERT, UPDATE, DELETE ON quota_reschedule TO scrapersky_engine;

-- Write the count of a statement: the memo holds tenant, quota, day and count.
CREATE FUNCTION write_quota_usage(quota_kind text, memo text[]) RETURNS void
LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO quota_usage (tenant_id, kind, day, used)
        SELECT memo[1]::uuid, quota_kind, memo[3]::date, memo[4]::integer WHERE memo[1] <> ''
    ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = excluded.used
$$;

-- `{table}.{queue}` gets a quota per day: `{limit}` is the column of tenant, `{kind}` the kind in quota_usage.
-- 3650 days: the due_at of rows under a quota of 0, until the quota is raised.
CREATE FUNCTION add_daily_quota(queue_table text, queue text, kind text, limit_column text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $add_daily_quota$
BEGIN
    EXECUTE replace(replace(replace(replace($template$
        -- A row enters the queue. The counts of a statement are kept in a memo (a setting of the transaction) and
        -- written once, at its end: ten thousand rows must not leave ten thousand versions of one row of quota_usage.
        CREATE FUNCTION {table}_apply_quota() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        DECLARE
            memo text[] := string_to_array(current_setting('scrapersky.{table}_quota', true), ' ');
            today date := (now() AT TIME ZONE 'UTC')::date;
            quota integer := memo[2]::integer;
            last_day date := memo[3]::date;
            used_count integer := memo[4]::integer;
        BEGIN
            IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
                PERFORM write_quota_usage('{kind}', memo);
                SELECT CASE WHEN disabled_at IS NULL THEN {limit} ELSE 0 END INTO quota
                    FROM tenant WHERE id = NEW.tenant_id;
                IF quota IS NULL OR quota = 0 THEN
                    PERFORM set_config('scrapersky.{table}_quota', '', true);
                    IF quota = 0 THEN
                        NEW.{queue}_due_at := (today + 3650)::timestamp AT TIME ZONE 'UTC';
                    END IF;
                    RETURN NEW;
                END IF;
                PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || NEW.tenant_id, 0));
                SELECT day, used INTO last_day, used_count FROM quota_usage
                    WHERE tenant_id = NEW.tenant_id AND kind = '{kind}' AND day >= today ORDER BY day DESC LIMIT 1;
                last_day := coalesce(last_day, today);
                used_count := coalesce(used_count, 0);
            END IF;
            IF used_count >= quota THEN
                PERFORM write_quota_usage(
                    '{kind}', ARRAY[NEW.tenant_id::text, quota::text, last_day::text, used_count::text]);
                last_day := last_day + 1;
                used_count := 0;
            END IF;
            PERFORM set_config(
                'scrapersky.{table}_quota', concat_ws(' ', NEW.tenant_id, quota, last_day, used_count + 1), true);
            IF last_day > today THEN
                NEW.{queue}_due_at := greatest(NEW.{queue}_due_at, last_day::timestamp AT TIME ZONE 'UTC');
            END IF;
            RETURN NEW;
        END
        $function$;
        SELECT run_as_engine('{table}_apply_quota()');

        CREATE FUNCTION {table}_write_quota_usage() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        BEGIN
            PERFORM write_quota_usage(
                '{kind}', string_to_array(current_setting('scrapersky.{table}_quota', true), ' '));
            PERFORM set_config('scrapersky.{table}_quota', '', true);
            RETURN NULL;
        END
        $function$;
        SELECT run_as_engine('{table}_write_quota_usage()');

        -- Triggers fire in the order of their names. These must come before those of the queue, which wake a worker
        -- only if due_at is null: hence the `_before_queue_`.
        CREATE TRIGGER {table}_before_queue_quota_insert BEFORE INSERT ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued') EXECUTE FUNCTION {table}_apply_quota();

        CREATE TRIGGER {table}_before_queue_quota_update BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
        WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status NOT IN ('Queued', 'Processing'))
        EXECUTE FUNCTION {table}_apply_quota();

        CREATE TRIGGER {table}_write_quota_usage AFTER INSERT OR UPDATE ON {table} FOR EACH STATEMENT
        WHEN (current_setting('scrapersky.{table}_quota', true) <> '') EXECUTE FUNCTION {table}_write_quota_usage();

        -- Give the next rows their day, in their order, from the last day that is in use. Return true if none is left.
        CREATE FUNCTION {table}_reschedule(for_tenant uuid, max_rows integer) RETURNS boolean
        LANGUAGE plpgsql SET search_path FROM CURRENT AS $function$
        DECLARE
            today date := (now() AT TIME ZONE 'UTC')::date;
            quota integer;
            last_day date;
            used_count integer;
            progress quota_reschedule%ROWTYPE;
            done record;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || for_tenant, 0));
            SELECT * INTO progress FROM quota_reschedule WHERE tenant_id = for_tenant AND kind = '{kind}';
            IF NOT FOUND THEN
                RETURN true;
            END IF;
            SELECT CASE WHEN disabled_at IS NULL THEN {limit} ELSE 0 END INTO quota FROM tenant WHERE id = for_tenant;
            SELECT day, used INTO last_day, used_count FROM quota_usage
                WHERE tenant_id = for_tenant AND kind = '{kind}' AND day >= today ORDER BY day DESC LIMIT 1;
            WITH waiting AS (
                SELECT id, {queue}_order AS row_order, row_number() OVER (ORDER BY {queue}_order, id) AS number
                FROM {table} WHERE tenant_id = for_tenant AND {queue}_status = 'Queued' AND {queue}_error IS NULL
                    AND {queue}_attempts = {queue}_allowance AND {queue}_order <= progress.until_order
                    AND ({queue}_order, id) > (progress.after_order, progress.after_id)
                    AND ({queue}_due_at IS NULL OR ({queue}_due_at > now()
                        AND {queue}_due_at = date_trunc('day', {queue}_due_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'))
                ORDER BY {queue}_order, id LIMIT max_rows
            ), scheduled AS (
                SELECT id, row_order, number, CASE WHEN quota IS NULL THEN today WHEN quota = 0 THEN today + 3650
                    ELSE coalesce(last_day, today)
                        + ((least(coalesce(used_count, 0), quota) + number - 1) / quota)::integer
                    END AS day FROM waiting
            ), moved AS (
                UPDATE {table} t
                SET {queue}_due_at = CASE WHEN s.day > today THEN s.day::timestamp AT TIME ZONE 'UTC' END
                FROM scheduled s WHERE t.id = s.id AND t.{queue}_status = 'Queued' AND t.{queue}_due_at
                    IS DISTINCT FROM CASE WHEN s.day > today THEN s.day::timestamp AT TIME ZONE 'UTC' END
            ), counted AS (
                INSERT INTO quota_usage AS u (tenant_id, kind, day, used)
                    SELECT for_tenant, '{kind}', day, count(*) FROM scheduled
                    WHERE quota IS NULL OR quota > 0 GROUP BY day
                ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = u.used + excluded.used
            )
            SELECT count(*) AS rows, max(row_order) AS last_order, (array_agg(id ORDER BY number DESC))[1] AS last_id
                INTO done FROM scheduled;
            IF done.rows > 0 THEN
                PERFORM pg_notify('scrapersky', '{table}.{queue}');
            END IF;
            IF done.rows < max_rows THEN
                DELETE FROM quota_reschedule WHERE tenant_id = for_tenant AND kind = '{kind}';
                RETURN true;
            END IF;
            UPDATE quota_reschedule SET after_order = done.last_order, after_id = done.last_id
                WHERE tenant_id = for_tenant AND kind = '{kind}';
            RETURN false;
        END
        $function$;
        REVOKE EXECUTE ON FUNCTION {table}_reschedule(uuid, integer) FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION {table}_reschedule(uuid, integer) TO scrapersky_engine;

        -- The quota changes, or the tenant is disabled or enabled: all queued rows that were not tried yet get a new
        -- day, from today on. Rows that were started today stay counted. The first 20000 rows are done here, the rest
        -- by the engine in chunks, so that no statement takes long.
        CREATE FUNCTION {table}_quota_changed() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $function$
        DECLARE
            today date := (now() AT TIME ZONE 'UTC')::date;
            started integer;
        BEGIN
            PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || NEW.id, 0));
            SELECT greatest(coalesce(sum(used), 0) - (
                SELECT count(*) FROM {table} WHERE tenant_id = NEW.id AND {queue}_status = 'Queued'
                    AND {queue}_due_at IS NULL AND {queue}_error IS NULL AND {queue}_attempts = {queue}_allowance), 0)
                INTO started
                FROM quota_usage WHERE tenant_id = NEW.id AND kind = '{kind}' AND day = today;
            DELETE FROM quota_usage WHERE tenant_id = NEW.id AND kind = '{kind}' AND day >= today;
            INSERT INTO quota_usage (tenant_id, kind, day, used)
                SELECT NEW.id, '{kind}', today, started WHERE started > 0;
            DELETE FROM quota_reschedule WHERE tenant_id = NEW.id AND kind = '{kind}';
            INSERT INTO quota_reschedule (tenant_id, kind, until_order)
                SELECT NEW.id, '{kind}', max({queue}_order) FROM {table}
                WHERE tenant_id = NEW.id AND {queue}_status = 'Queued' HAVING count(*) > 0;
            PERFORM {table}_reschedule(NEW.id, 20000);
            RETURN NULL;
        END
        $function$;
        SELECT run_as_engine('{table}_quota_changed()');

        CREATE TRIGGER tenant_{kind}_quota_changed AFTER UPDATE OF {limit}, disabled_at ON tenant FOR EACH ROW
        WHEN (NEW.{limit} IS DISTINCT FROM OLD.{limit} OR (NEW.disabled_at IS NULL) <> (OLD.disabled_at IS NULL))
        EXECUTE FUNCTION {table}_quota_changed();
    $template$, '{table}', queue_table), '{queue}', queue), '{kind}', kind), '{limit}', limit_column);
END
$add_daily_quota$;
REVOKE EXECUTE ON FUNCTION add_daily_quota(text, text, text, text) FROM PUBLIC;

SELECT add_daily_quota('search', 'place_search', 'searches', 'searches_per_day');
SELECT add_daily_quota('page', 'page_processing', 'pages', 'pages_per_day');
