"""Book every paid call before it is made, in millionths of a unit of money, and keep those without an answer.

The columns in cents stay for the version before: they are the micros, rounded up. One cent is 10,000 micros.
"""

from alembic import op

revision = "calls_booked_before"
down_revision = "contact_company"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE search ADD COLUMN cost_micros bigint NOT NULL DEFAULT 0,
    ADD COLUMN spent_micros bigint NOT NULL DEFAULT 0, ADD COLUMN details_micros bigint NOT NULL DEFAULT 0"""

# A call whose answer is not known: it is under way, or its worker or the connection was lost. It may have been billed.
TABLE = """
CREATE TABLE unanswered_call (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    search_id uuid REFERENCES search ON DELETE SET NULL,
    provider text NOT NULL,
    method text NOT NULL,  -- search or details
    month date NOT NULL,  -- the first day of the month in which it was booked
    micros bigint NOT NULL,
    called_at timestamptz NOT NULL DEFAULT now()
)"""

# The version before writes cents; this one writes micros.
ROUND = """
CREATE FUNCTION search_round_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.cost_micros = OLD.cost_micros THEN
        NEW.cost_micros := OLD.cost_micros + (NEW.cost_cents - OLD.cost_cents) * 10000;
    ELSE
        NEW.cost_cents := ceil(NEW.cost_micros / 10000.0);
    END IF;
    IF NEW.spent_micros = OLD.spent_micros THEN
        NEW.spent_micros := OLD.spent_micros + (NEW.spent_cents - OLD.spent_cents) * 10000;
    ELSE
        NEW.spent_cents := ceil(NEW.spent_micros / 10000.0);
    END IF;
    IF NEW.details_micros = OLD.details_micros THEN
        NEW.details_micros := OLD.details_micros + (NEW.details_cents - OLD.details_cents) * 10000;
    ELSE
        NEW.details_cents := ceil(NEW.details_micros / 10000.0);
    END IF;
    RETURN NEW;
END
$$"""
ROUND_TRIGGER = """
CREATE TRIGGER search_round_money
BEFORE UPDATE OF cost_cents, spent_cents, details_cents, cost_micros, spent_micros, details_micros ON search
FOR EACH ROW EXECUTE FUNCTION search_round_money()"""
RESET = """
CREATE OR REPLACE FUNCTION search_reset_spent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.spent_cents := 0;
    NEW.spent_micros := 0;
    RETURN NEW;
END
$$"""
FORMER_RESET = """
CREATE OR REPLACE FUNCTION search_reset_spent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.spent_cents := 0;
    RETURN NEW;
END
$$"""

SPENT = """
CREATE OR REPLACE FUNCTION spent_cents(for_tenant uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT coalesce(ceil(sum(micros) / 10000.0), 0)::bigint FROM spending WHERE tenant_id = for_tenant
        AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
$$"""
FORMER_SPENT = """
CREATE OR REPLACE FUNCTION spent_cents(for_tenant uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT coalesce(sum(used), 0) FROM quota_usage WHERE tenant_id = for_tenant AND kind = 'cents'
        AND day = date_trunc('month', now() AT TIME ZONE 'UTC')::date
$$"""
# What an open search has spent already is in the month.
RESERVED = """
CREATE OR REPLACE FUNCTION reserved_cents(for_tenant uuid, except_search uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT coalesce(sum(greatest(budget_cents - spent_cents, 0)), 0) FROM search
        WHERE tenant_id = for_tenant AND id IS DISTINCT FROM except_search
            AND place_search_status IN ('Queued', 'Processing')
$$"""
FORMER_RESERVED = """
CREATE OR REPLACE FUNCTION reserved_cents(for_tenant uuid, except_search uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT coalesce(sum(budget_cents), 0) FROM search
        WHERE tenant_id = for_tenant AND id IS DISTINCT FROM except_search
            AND place_search_status IN ('Queued', 'Processing')
$$"""

RECORD_MICROS = """
CREATE FUNCTION record_micros(
    for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price bigint)
RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO spending AS s (tenant_id, provider, method, month, calls, cents, micros)
        SELECT for_tenant, of_provider, of_method, in_month, call_count, ceil(price / 10000.0), price
        WHERE call_count <> 0 OR price <> 0
    ON CONFLICT (tenant_id, provider, method, month) DO UPDATE SET calls = s.calls + excluded.calls,
        micros = s.micros + excluded.micros, cents = ceil((s.micros + excluded.micros) / 10000.0)
$$"""
RECORD_CALLS = """
CREATE OR REPLACE FUNCTION record_calls(
    for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price integer)
RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT record_micros(for_tenant, of_provider, of_method, in_month, call_count, price * 10000::bigint)
$$"""
FORMER_RECORD_CALLS = """
CREATE OR REPLACE FUNCTION record_calls(
    for_tenant uuid, of_provider text, of_method text, in_month date, call_count integer, price integer)
RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    INSERT INTO spending AS s (tenant_id, provider, method, month, calls, cents)
        SELECT for_tenant, of_provider, of_method, in_month, call_count, price
        WHERE call_count <> 0 OR price <> 0
    ON CONFLICT (tenant_id, provider, method, month)
        DO UPDATE SET calls = s.calls + excluded.calls, cents = s.cents + excluded.cents
$$"""
RECORD_SEARCH = """
CREATE OR REPLACE FUNCTION search_record_calls() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    details integer := NEW.details_count - OLD.details_count;
    details_price bigint := NEW.details_micros - OLD.details_micros;
BEGIN
    PERFORM record_micros(NEW.tenant_id, NEW.provider, 'details', month, details, details_price);
    PERFORM record_micros(NEW.tenant_id, NEW.provider, 'search', month, NEW.call_count - OLD.call_count - details,
        NEW.cost_micros - OLD.cost_micros - details_price);
    RETURN NULL;
END
$$"""
FORMER_RECORD_SEARCH = """
CREATE OR REPLACE FUNCTION search_record_calls() RETURNS trigger
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
$$"""

# Book one call before it is made, or return why not: of many workers at the edge of a budget, only those whose calls
# fit may call. Lock order as in reserve_details. A search may spend its budget, which is within the month since the
# search was queued; details may spend what is left of both. `used` and `allowed` are cents.
BOOK = """
CREATE FUNCTION book_call(
    for_tenant uuid, for_search uuid, of_provider text, of_method text, price bigint,
    OUT refusal text, OUT call_id uuid, OUT used bigint, OUT allowed bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    is_detail boolean := of_method = 'details';
    this_month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    quota integer;
    this_search search%ROWTYPE;
BEGIN
    IF price > 0 AND is_detail THEN
        SELECT cents_per_month INTO quota FROM tenant WHERE id = for_tenant;
    END IF;
    IF quota IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || for_tenant, 0));
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE NOWAIT;
    ELSE
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE;
    END IF;
    IF price > 0 AND this_search.budget_cents IS NOT NULL THEN
        allowed := this_search.budget_cents;
        IF is_detail AND this_search.place_search_status IN ('Queued', 'Processing') THEN
            refusal := 'open';
            RETURN;
        ELSIF this_search.spent_micros + price > this_search.budget_cents * 10000::bigint THEN
            used := CASE WHEN is_detail THEN this_search.spent_cents
                ELSE ceil((this_search.spent_micros + price) / 10000.0) END;
            refusal := 'budget';
            RETURN;
        END IF;
    END IF;
    IF quota IS NOT NULL THEN
        used := spent_cents(for_tenant) + reserved_cents(for_tenant, this_search.id);
        allowed := quota;
        IF used * 10000 + price > quota * 10000::bigint THEN
            refusal := 'month';
            RETURN;
        END IF;
    END IF;
    IF this_search.id IS NOT NULL THEN
        UPDATE search SET cost_micros = cost_micros + price, spent_micros = spent_micros + price,
            call_count = call_count + 1, details_count = details_count + is_detail::integer,
            details_micros = details_micros + CASE WHEN is_detail THEN price ELSE 0 END
            WHERE id = this_search.id;
    ELSE
        PERFORM record_micros(for_tenant, of_provider, of_method, this_month, 1, price);
    END IF;
    IF price > 0 THEN
        INSERT INTO unanswered_call (tenant_id, search_id, provider, method, month, micros)
            VALUES (for_tenant, this_search.id, of_provider, of_method, this_month, price)
            RETURNING id INTO call_id;
    END IF;
END
$$"""
# A response came: the call is billed, and stays booked.
ANSWER = """
CREATE FUNCTION confirm_call(call_id uuid) RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    DELETE FROM unanswered_call WHERE id = call_id
$$"""
# The call was refused or never sent: give its price back, to the month it was booked in. The call stays counted.
REFUND = """
CREATE FUNCTION refund_call(call_id uuid) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    call unanswered_call%ROWTYPE;
BEGIN
    DELETE FROM unanswered_call WHERE id = call_id RETURNING * INTO call;
    IF call.id IS NULL THEN
        RETURN;
    END IF;
    UPDATE search SET cost_micros = cost_micros - call.micros, spent_micros = greatest(spent_micros - call.micros, 0),
        details_micros = details_micros - CASE WHEN call.method = 'details' THEN call.micros ELSE 0 END
        WHERE id = call.search_id;
    PERFORM record_micros(call.tenant_id, call.provider, call.method, call.month, 0, -call.micros);
END
$$"""
UNLOCK = (
    "ALTER TABLE search NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE spending NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE quota_usage NO FORCE ROW LEVEL SECURITY",
)
LOCK = (
    "ALTER TABLE search FORCE ROW LEVEL SECURITY",
    "ALTER TABLE spending FORCE ROW LEVEL SECURITY",
    "ALTER TABLE quota_usage FORCE ROW LEVEL SECURITY",
)
COUNT_COST = """
CREATE FUNCTION search_count_cost() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO quota_usage AS u (tenant_id, kind, day, used)
        VALUES (NEW.tenant_id, 'cents', date_trunc('month', now() AT TIME ZONE 'UTC')::date,
            NEW.cost_cents - OLD.cost_cents)
    ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = u.used + excluded.used;
    RETURN NULL;
END
$$"""
COUNT_COST_TRIGGER = """
CREATE TRIGGER search_count_cost AFTER UPDATE OF cost_cents ON search FOR EACH ROW
WHEN (NEW.cost_cents > OLD.cost_cents) EXECUTE FUNCTION search_count_cost()"""

UPGRADE = (
    COLUMNS,
    "ALTER TABLE spending ADD COLUMN micros bigint NOT NULL DEFAULT 0",
    TABLE,
    "CREATE INDEX unanswered_call_by_search ON unanswered_call (search_id)",
    "SELECT protect_tenant('unanswered_call', 'SELECT')",
    "GRANT SELECT, INSERT, DELETE ON unanswered_call TO scrapersky_engine",
    "GRANT UPDATE (cost_micros, spent_micros, details_micros) ON search TO scrapersky_engine",
    "UPDATE search SET cost_micros = cost_cents * 10000::bigint, spent_micros = spent_cents * 10000::bigint, "
    "details_micros = details_cents * 10000::bigint WHERE cost_cents <> 0 OR spent_cents <> 0",
    "UPDATE spending SET micros = cents * 10000::bigint",
    ROUND,
    ROUND_TRIGGER,
    RESET,
    SPENT,
    RESERVED,
    RECORD_MICROS,
    RECORD_CALLS,
    RECORD_SEARCH,
    "DROP TRIGGER search_count_cost ON search",  # the month is counted in the table spending
    "DROP FUNCTION search_count_cost()",
    BOOK,
    ANSWER,
    REFUND,
    "REVOKE EXECUTE ON FUNCTION record_micros(uuid, text, text, date, integer, bigint), "
    "book_call(uuid, uuid, text, text, bigint), confirm_call(uuid), refund_call(uuid) FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION record_micros(uuid, text, text, date, integer, bigint), "
    "book_call(uuid, uuid, text, text, bigint), confirm_call(uuid), refund_call(uuid) TO scrapersky_engine",
)
DOWNGRADE = (
    "DROP FUNCTION book_call(uuid, uuid, text, text, bigint)",
    "DROP FUNCTION confirm_call(uuid)",
    "DROP FUNCTION refund_call(uuid)",
    FORMER_RECORD_SEARCH,
    FORMER_RECORD_CALLS,
    "DROP FUNCTION record_micros(uuid, text, text, date, integer, bigint)",
    FORMER_SPENT,
    FORMER_RESERVED,
    FORMER_RESET,
    "DROP TRIGGER search_round_money ON search",
    "DROP FUNCTION search_round_money()",
    COUNT_COST,
    "SELECT run_as_engine('search_count_cost()')",
    COUNT_COST_TRIGGER,
    "DELETE FROM quota_usage WHERE kind = 'cents'",
    "INSERT INTO quota_usage (tenant_id, kind, day, used) "
    "SELECT tenant_id, 'cents', month, sum(cents) FROM spending GROUP BY tenant_id, month HAVING sum(cents) > 0",
    "DROP TABLE unanswered_call",
    "ALTER TABLE spending DROP COLUMN micros",
    "ALTER TABLE search DROP COLUMN cost_micros, DROP COLUMN spent_micros, DROP COLUMN details_micros",
)


def upgrade() -> None:
    for statement in (*UNLOCK, *UPGRADE, *LOCK):
        op.execute(statement)


def downgrade() -> None:
    for statement in (*UNLOCK, *DOWNGRADE, *LOCK):
        op.execute(statement)
