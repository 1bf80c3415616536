-- Money: what calls to providers cost, within the budget of a search and the quota of the tenant's month.

-- Calls and cents per tenant, provider, method and month. Calls that cost nothing are counted, too.
CREATE TABLE spending (
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    provider text NOT NULL,
    method text NOT NULL,  -- search or details
    month date NOT NULL,  -- the first day of the month
    calls integer NOT NULL,
    cents integer NOT NULL,
    PRIMARY KEY (tenant_id, provider, method, month)
);
SELECT protect_tenant('spending', 'SELECT');
GRANT SELECT, INSERT, UPDATE, DELETE ON spending TO scrapersky_engine;

-- Cents that the tenant spent this month.
CREATE FUNCTION spent_cents(for_tenant uuid) RETURNS bigint LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT coalesce(sum(used), 0) FROM quota_usage WHERE tenant_id = for_tenant AND kind = 'cents'
        AND day = date_trunc('month', now() AT TIME ZONE 'UTC')::date
$$;

-- Cents that the open searches of the tenant may still spend.
CREATE FUNCTION reserved_cents(for_tenant uuid, except_search uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT coalesce(sum(budget_cents), 0) FROM search
        WHERE tenant_id = for_tenant AND id IS DISTINCT FROM except_search
            AND place_search_status IN ('Queued', 'Processing')
$$;

-- A search that starts may spend what is left of the month, less what other open searches may spend.
CREATE FUNCTION search_limit_budget() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    quota integer;
    left_cents bigint;
BEGIN
    SELECT cents_per_month INTO quota FROM tenant WHERE id = NEW.tenant_id;
    IF quota IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || NEW.tenant_id, 0));
        left_cents := quota - spent_cents(NEW.tenant_id) - reserved_cents(NEW.tenant_id, NEW.id);
        NEW.budget_cents := least(NEW.budget_cents, greatest(left_cents, 0));
    END IF;
    RETURN NEW;
END
$$;
SELECT run_as_engine('search_limit_budget()');
CREATE TRIGGER search_before_queue_budget_insert BEFORE INSERT ON search FOR EACH ROW
WHEN (NEW.place_search_status = 'Queued') EXECUTE FUNCTION search_limit_budget();
CREATE TRIGGER search_before_queue_budget_update
BEFORE UPDATE OF place_search_status, budget_cents ON search FOR EACH ROW
WHEN (NEW.place_search_status IN ('Queued', 'Processing') AND (OLD.place_search_status NOT IN ('Queued', 'Processing')
    OR NEW.budget_cents IS DISTINCT FROM OLD.budget_cents))
EXECUTE FUNCTION search_limit_budget();

-- A search that is queued again may spend its budget again.
CREATE FUNCTION search_reset_spent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.spent_cents := 0;
    RETURN NEW;
END
$$;
CREATE TRIGGER search_before_queue_reset_spent BEFORE UPDATE OF place_search_status ON search FOR EACH ROW
WHEN (NEW.place_search_status = 'Queued' AND OLD.place_search_status NOT IN ('Queued', 'Processing'))
EXECUTE FUNCTION search_reset_spent();

-- What a search spends counts against the month of the tenant.
CREATE FUNCTION search_count_cost() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO quota_usage AS u (tenant_id, kind, day, used)
        VALUES (NEW.tenant_id, 'cents', date_trunc('month', now() AT TIME ZONE 'UTC')::date,
            NEW.cost_cents - OLD.cost_cents)
    ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = u.used + excluded.used;
    RETURN NULL;
END
$$;
SELECT run_as_engine('search_count_cost()');
CREATE TRIGGER search_count_cost AFTER UPDATE OF cost_cents ON search FOR EACH ROW
WHEN (NEW.cost_cents > OLD.cost_cents) EXECUTE FUNCTION search_count_cost();

-- Every call is counted in the table spending.
CREATE FUNCTION record_calls(
    for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price integer)
RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO spending AS s (tenant_id, provider, method, month, calls, cents)
        SELECT for_tenant, of_provider, of_method, in_month, call_count, price
        WHERE call_count <> 0 OR price <> 0
    ON CONFLICT (tenant_id, provider, method, month)
        DO UPDATE SET calls = s.calls + excluded.calls, cents = s.cents + excluded.cents
$$;

CREATE FUNCTION search_record_calls() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    details integer := NEW.details_count - OLD.details_count;
    details_price integer := NEW.details_cents - OLD.details_cents;
BEGIN
    PERFORM record_calls(NEW.tenant_id, NEW.provider, 'details', month, details, details_price);
    PERFORM record_calls(NEW.tenant_id, NEW.provider, 'search', month, NEW.call_count - OLD.call_count - details,
        NEW.cost_cents - OLD.cost_cents - details_price);
    RETURN NULL;
END
$$;
SELECT run_as_engine('search_record_calls()');
CREATE TRIGGER search_record_calls AFTER UPDATE OF call_count ON search FOR EACH ROW
WHEN (NEW.call_count > OLD.call_count) EXECUTE FUNCTION search_record_calls();

-- Take the price of one call for details before the call is made, or return why not: of many workers at the edge of a
-- budget, only those whose calls fit get their price.
-- Lock order: first the month of the tenant, then the search, as a new search does.
-- The search is locked with NOWAIT while the month is locked, because another holder of the search may want the month.
CREATE FUNCTION reserve_details(
    for_tenant uuid, for_search uuid, of_provider text, price integer,
    OUT refusal text, OUT month date, OUT used bigint, OUT allowed bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    quota integer;
    this_search search%ROWTYPE;
BEGIN
    month := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    SELECT cents_per_month INTO quota FROM tenant WHERE id = for_tenant;
    IF price > 0 AND quota IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || for_tenant, 0));
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE NOWAIT;
    ELSE
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE;
    END IF;
    IF price > 0 AND this_search.budget_cents IS NOT NULL THEN
        used := this_search.spent_cents;
        allowed := this_search.budget_cents;
        IF this_search.place_search_status IN ('Queued', 'Processing') THEN
            refusal := 'open';
            RETURN;
        ELSIF used + price > allowed THEN
            refusal := 'budget';
            RETURN;
        END IF;
    END IF;
    IF price > 0 AND quota IS NOT NULL THEN
        used := spent_cents(for_tenant) + reserved_cents(for_tenant, this_search.id);
        allowed := quota;
        IF used + price > allowed THEN
            refusal := 'month';
            RETURN;
        END IF;
    END IF;
    IF this_search.id IS NOT NULL THEN
        UPDATE search SET cost_cents = cost_cents + price, spent_cents = spent_cents + price,
            call_count = call_count + 1, details_count = details_count + 1, details_cents = details_cents + price
            WHERE id = this_search.id;
    ELSE
        PERFORM record_calls(for_tenant, of_provider, 'details', month, 1, price);
        INSERT INTO quota_usage AS u (tenant_id, kind, day, used)
            SELECT for_tenant, 'cents', month, price WHERE price > 0
            ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = u.used + excluded.used;
    END IF;
END
$$;

-- Give the price of a failed call back, to the month it was taken from. The call stays counted.
CREATE FUNCTION refund_details(for_tenant uuid, for_search uuid, of_provider text, price integer, in_month date)
RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    UPDATE search SET cost_cents = cost_cents - price, spent_cents = greatest(spent_cents - price, 0),
        details_cents = details_cents - price WHERE id = for_search AND tenant_id = for_tenant;
    SELECT record_calls(for_tenant, of_provider, 'details', in_month, 0, -price);
    UPDATE quota_usage SET used = used - price WHERE tenant_id = for_tenant AND kind = 'cents' AND day = in_month;
$$;

REVOKE EXECUTE ON FUNCTION
    record_calls(uuid, text, text, date, integer, integer),
    reserve_details(uuid, uuid, text, integer),
    refund_details(uuid, uuid, text, integer, date)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    record_calls(uuid, text, text, date, integer, integer),
    reserve_details(uuid, uuid, text, integer),
    refund_details(uuid, uuid, text, integer, date)
TO scrapersky_engine;
GRANT UPDATE (cost_cents, spent_cents, call_count, details_count, details_cents) ON search TO scrapersky_engine;
