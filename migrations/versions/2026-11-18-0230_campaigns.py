"""Group searches into campaigns: one progress, one budget, one file.

A campaign is a row of `search` whose provider is `campaign`. What its searches find is linked to it as well, so that
counts, lists and files of a search are those of a campaign, too.
"""

from alembic import op

revision = "campaigns"
down_revision = "site_search"
branch_labels = None
depends_on = None

COLUMNS = (
    "ALTER TABLE search ADD COLUMN name text, "
    "ADD COLUMN campaign_id uuid REFERENCES search ON DELETE SET NULL"  # whose budget pays for it, and which stops it
)
INDEXES = (
    "CREATE INDEX search_by_campaign ON search (campaign_id) WHERE campaign_id IS NOT NULL",
    "CREATE INDEX search_campaigns ON search (tenant_id, updated_at, id) WHERE provider = 'campaign'",
)
# A search may belong to several campaigns.
TABLE = """
CREATE TABLE campaign_search (
    campaign_id uuid NOT NULL REFERENCES search ON DELETE CASCADE,
    search_id uuid NOT NULL REFERENCES search ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    position integer NOT NULL,
    PRIMARY KEY (campaign_id, search_id)
)"""

# What a search finds, its campaigns have found.
LINK = """
CREATE FUNCTION search_place_link_campaigns() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_place (search_id, place_id, tenant_id)
    SELECT campaign_id, NEW.place_id, NEW.tenant_id FROM campaign_search WHERE search_id = NEW.search_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$"""
LINK_TRIGGER = """
CREATE TRIGGER search_place_link_campaigns AFTER INSERT ON search_place
FOR EACH ROW EXECUTE FUNCTION search_place_link_campaigns()"""
# What a search has found before it joins a campaign. Its row is locked by the request: a search that stores its places
# at the same moment does so before or after.
JOIN = """
CREATE FUNCTION campaign_search_link_places() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_place (search_id, place_id, tenant_id, found_at)
    SELECT NEW.campaign_id, place_id, NEW.tenant_id, found_at FROM search_place WHERE search_id = NEW.search_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$"""
JOIN_TRIGGER = """
CREATE TRIGGER campaign_search_link_places AFTER INSERT ON campaign_search
FOR EACH ROW EXECUTE FUNCTION campaign_search_link_places()"""

# A search of a campaign has no budget of its own; that of the campaign was limited when it was requested.
LIMIT = """
CREATE OR REPLACE FUNCTION search_limit_budget() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    quota integer;
    left_cents bigint;
BEGIN
    SELECT cents_per_month INTO quota FROM tenant WHERE id = NEW.tenant_id;
    IF quota IS NOT NULL{of_campaign} THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || NEW.tenant_id, 0));
        left_cents := quota - spent_cents(NEW.tenant_id) - reserved_cents(NEW.tenant_id, NEW.id);
        NEW.budget_cents := least(NEW.budget_cents, greatest(left_cents, 0));
    END IF;
    RETURN NEW;
END
$$"""
LIMIT_CAMPAIGN = LIMIT.format(of_campaign=" AND NEW.campaign_id IS NULL")
FORMER_LIMIT = LIMIT.format(of_campaign="")
# A campaign reserves what is left of its budget while one of its searches is open.
RESERVED = """
CREATE OR REPLACE FUNCTION reserved_cents(for_tenant uuid, except_search uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT coalesce(sum(greatest(budget_cents - spent_cents, 0)), 0) FROM search
        WHERE tenant_id = for_tenant AND id IS DISTINCT FROM except_search
            AND (id IN (SELECT coalesce(campaign_id, id) FROM search
                WHERE tenant_id = for_tenant AND place_search_status IN ('Queued', 'Processing')))
$$"""
FORMER_RESERVED = """
CREATE OR REPLACE FUNCTION reserved_cents(for_tenant uuid, except_search uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT coalesce(sum(greatest(budget_cents - spent_cents, 0)), 0) FROM search
        WHERE tenant_id = for_tenant AND id IS DISTINCT FROM except_search
            AND place_search_status IN ('Queued', 'Processing')
$$"""

# Book a call in the budget of the search, or of the campaign that pays for it. Lock order: the month, the campaign, the
# search; whoever holds the month waits for no row.
BOOK = """
CREATE OR REPLACE FUNCTION book_call(
    for_tenant uuid, for_search uuid, of_provider text, of_method text, price bigint,
    OUT refusal text, OUT call_id uuid, OUT used bigint, OUT allowed bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    is_detail boolean := of_method = 'details';
    this_month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    quota integer;
    of_campaign uuid;
    this_search search%ROWTYPE;
    payer search%ROWTYPE;
BEGIN
    IF price > 0 AND is_detail THEN
        SELECT cents_per_month INTO quota FROM tenant WHERE id = for_tenant;
    END IF;
    SELECT campaign_id INTO of_campaign FROM search WHERE id = for_search AND tenant_id = for_tenant;
    IF quota IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || for_tenant, 0));
        SELECT * INTO payer FROM search WHERE id = of_campaign FOR NO KEY UPDATE NOWAIT;
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE NOWAIT;
    ELSE
        SELECT * INTO payer FROM search WHERE id = of_campaign FOR NO KEY UPDATE;
        SELECT * INTO this_search FROM search WHERE id = for_search AND tenant_id = for_tenant FOR NO KEY UPDATE;
    END IF;
    IF payer.id IS NULL THEN
        payer := this_search;
    END IF;
    IF price > 0 AND payer.budget_cents IS NOT NULL THEN
        allowed := payer.budget_cents;
        IF is_detail AND payer.place_search_status IN ('Queued', 'Processing') THEN
            refusal := 'open';
            RETURN;
        ELSIF payer.spent_micros + price > payer.budget_cents * 10000::bigint THEN
            used := CASE WHEN is_detail THEN payer.spent_cents
                ELSE ceil((payer.spent_micros + price) / 10000.0) END;
            refusal := 'budget';
            RETURN;
        END IF;
    END IF;
    IF quota IS NOT NULL THEN
        used := spent_cents(for_tenant) + reserved_cents(for_tenant, payer.id);
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
            WHERE id IN (this_search.id, payer.id);
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
FORMER_BOOK = """
CREATE OR REPLACE FUNCTION book_call(
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
REFUND = """
CREATE OR REPLACE FUNCTION refund_call(call_id uuid) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    call unanswered_call%ROWTYPE;
    of_campaign uuid;
BEGIN
    DELETE FROM unanswered_call WHERE id = call_id RETURNING * INTO call;
    IF call.id IS NULL THEN
        RETURN;
    END IF;
    SELECT campaign_id INTO of_campaign FROM search WHERE id = call.search_id;
    PERFORM FROM search WHERE id = of_campaign FOR NO KEY UPDATE;  -- the campaign is locked before its searches
    UPDATE search SET cost_micros = cost_micros - call.micros, spent_micros = greatest(spent_micros - call.micros, 0),
        details_micros = details_micros - CASE WHEN call.method = 'details' THEN call.micros ELSE 0 END
        WHERE id IN (call.search_id, of_campaign);
    PERFORM record_micros(call.tenant_id, call.provider, call.method, call.month, 0, -call.micros);
END
$$"""
FORMER_REFUND = """
CREATE OR REPLACE FUNCTION refund_call(call_id uuid) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
# The calls of a campaign are recorded with its searches.
RECORD_TRIGGER = """
CREATE OR REPLACE TRIGGER search_record_calls AFTER UPDATE OF call_count ON search FOR EACH ROW
WHEN (NEW.call_count > OLD.call_count{besides}) EXECUTE FUNCTION search_record_calls()"""

UPGRADE = (
    COLUMNS,
    *INDEXES,
    TABLE,
    "CREATE INDEX campaign_search_search_id ON campaign_search (search_id)",
    "SELECT protect_tenant('campaign_search')",
    LINK,
    LINK_TRIGGER,
    JOIN,
    JOIN_TRIGGER,
    LIMIT_CAMPAIGN,
    RESERVED,
    BOOK,
    REFUND,
    RECORD_TRIGGER.format(besides=" AND NEW.provider <> 'campaign'"),
)
DOWNGRADE = (
    RECORD_TRIGGER.format(besides=""),
    FORMER_REFUND,
    FORMER_BOOK,
    FORMER_RESERVED,
    FORMER_LIMIT,
    "DROP TRIGGER search_place_link_campaigns ON search_place",
    "DROP FUNCTION search_place_link_campaigns()",
    "DROP TABLE campaign_search",
    "DROP FUNCTION campaign_search_link_places()",
    "DROP INDEX search_campaigns",
    "ALTER TABLE search DROP COLUMN campaign_id, DROP COLUMN name",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
