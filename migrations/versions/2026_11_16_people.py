"""People: sessions, invitations, quotas of tenants, shared rate limits, and an audit that only grows."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

from scrapersky.engine.queue_ddl import protect_tenant

revision = "2026_11_16_people"
down_revision = "2026_11_16_deliveries"
branch_labels = None
depends_on = None

QUOTAS = ["searches_per_day", "pages_per_day", "cents_per_month"]
ROLES = "role IN ('viewer', 'curator', 'operator', 'admin')"
AUDIT_LISTS = ["subject", "actor", "action", "way"]

# A quota is a calendar: what does not fit into today waits for the first day that has room. Only who has a quota pays
# for the look, a row that the engine itself puts back is not counted twice, and a tenant that is disabled has none.
# A statement keeps its count in a memo: ten thousand rows must not leave ten thousand versions of one line of the book.
BOOKED = """
CREATE FUNCTION {table}_quota() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
DECLARE
    memo text[] := string_to_array(current_setting('scrapersky.{table}_quota', true), ' ');
    today date := (now() AT TIME ZONE 'UTC')::date;
    quota integer := memo[2]::integer;
    booked date := memo[3]::date;
    taken integer := memo[4]::integer;
BEGIN
    IF memo[1] IS DISTINCT FROM NEW.tenant_id::text THEN
        PERFORM write_quota('{kind}', memo);
        SELECT CASE WHEN disabled_at IS NULL THEN {limit} ELSE 0 END INTO quota FROM tenant WHERE id = NEW.tenant_id;
        IF quota IS NULL OR quota = 0 THEN
            PERFORM set_config('scrapersky.{table}_quota', '', true);
            IF quota = 0 THEN
                NEW.{queue}_due_at := (today + {never})::timestamp AT TIME ZONE 'UTC';
            END IF;
            RETURN NEW;
        END IF;
        PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || NEW.tenant_id, 0));
        SELECT day, used INTO booked, taken FROM quota_book
            WHERE tenant_id = NEW.tenant_id AND kind = '{kind}' AND day >= today ORDER BY day DESC LIMIT 1;
        booked := coalesce(booked, today);
        taken := coalesce(taken, 0);
    END IF;
    IF taken >= quota THEN
        PERFORM write_quota('{kind}', ARRAY[NEW.tenant_id::text, quota::text, booked::text, taken::text]);
        booked := booked + 1;
        taken := 0;
    END IF;
    PERFORM set_config('scrapersky.{table}_quota', concat_ws(' ', NEW.tenant_id, quota, booked, taken + 1), true);
    IF booked > today THEN
        NEW.{queue}_due_at := greatest(NEW.{queue}_due_at, booked::timestamp AT TIME ZONE 'UTC');
    END IF;
    RETURN NEW;
END
$body$"""
WRITE = """
CREATE FUNCTION write_quota(book text, memo text[]) RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $body$
    INSERT INTO quota_book (tenant_id, kind, day, used)
        SELECT memo[1]::uuid, book, memo[3]::date, memo[4]::integer WHERE memo[1] <> ''
    ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = excluded.used
$body$"""
WRITTEN = """
CREATE FUNCTION {table}_quota_written() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
BEGIN
    PERFORM write_quota('{kind}', string_to_array(current_setting('scrapersky.{table}_quota', true), ' '));
    PERFORM set_config('scrapersky.{table}_quota', '', true);
    RETURN NULL;
END
$body$"""
# Triggers fire in the order of their names: the day must be known before the queue's own one looks whether to wake.
ON_INSERT = """
CREATE TRIGGER {table}_a_quota_insert BEFORE INSERT ON {table} FOR EACH ROW
WHEN (NEW.{queue}_status = 'Queued') EXECUTE FUNCTION {table}_quota()"""
ON_UPDATE = """
CREATE TRIGGER {table}_a_quota_update BEFORE UPDATE OF {queue}_status ON {table} FOR EACH ROW
WHEN (NEW.{queue}_status = 'Queued' AND OLD.{queue}_status NOT IN ('Queued', 'Processing'))
EXECUTE FUNCTION {table}_quota()"""
AT_THE_END = """
CREATE TRIGGER {table}_quota_written AFTER INSERT OR UPDATE ON {table} FOR EACH STATEMENT
WHEN (current_setting('scrapersky.{table}_quota', true) <> '') EXECUTE FUNCTION {table}_quota_written()"""
# Whoever changes a quota, or lets a tenant out or in again, writes the calendar anew: rows nobody has begun with are
# dealt out from today on, in their order; those begun with today stay counted.
REBOOKED = """
CREATE FUNCTION {table}_rebooked() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    quota integer := CASE WHEN NEW.disabled_at IS NULL THEN NEW.{limit} ELSE 0 END;
    begun integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || NEW.id, 0));
    SELECT greatest(coalesce(sum(used), 0) - (
        SELECT count(*) FROM {table} WHERE tenant_id = NEW.id AND {queue}_status = 'Queued' AND {queue}_due_at IS NULL
            AND {queue}_error IS NULL AND {queue}_attempts = {queue}_allowance), 0) INTO begun
        FROM quota_book WHERE tenant_id = NEW.id AND kind = '{kind}' AND day = today;
    DELETE FROM quota_book WHERE tenant_id = NEW.id AND kind = '{kind}' AND day >= today;
    WITH fresh AS (
        SELECT id, least(begun, quota) + row_number() OVER (ORDER BY {queue}_due_at NULLS FIRST, {queue}_order) AS place
        FROM {table} WHERE tenant_id = NEW.id AND {queue}_status = 'Queued' AND {queue}_error IS NULL
            AND {queue}_attempts = {queue}_allowance
            AND ({queue}_due_at IS NULL OR ({queue}_due_at > now()
                AND {queue}_due_at = date_trunc('day', {queue}_due_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'))
    ), dealt AS (
        SELECT id, today + CASE WHEN quota IS NULL THEN 0 WHEN quota = 0 THEN {never}
            ELSE ((place - 1) / quota)::integer END AS day FROM fresh
    ), moved AS (
        UPDATE {table} t SET {queue}_due_at = CASE WHEN d.day > today THEN d.day::timestamp AT TIME ZONE 'UTC' END
        FROM dealt d WHERE t.id = d.id AND t.{queue}_status = 'Queued'
            AND t.{queue}_due_at IS DISTINCT FROM CASE WHEN d.day > today THEN d.day::timestamp AT TIME ZONE 'UTC' END
    )
    INSERT INTO quota_book (tenant_id, kind, day, used)
        SELECT NEW.id, '{kind}', day, sum(used) FROM (
            SELECT day, count(*) AS used FROM dealt GROUP BY 1 UNION ALL SELECT today, begun) b
        WHERE quota > 0 OR day = today GROUP BY day HAVING sum(used) > 0;
    PERFORM pg_notify('scrapersky', '{table}.{queue}');
    RETURN NULL;
END
$body$"""
ON_CHANGE = """
CREATE TRIGGER tenant_{kind}_rebooked AFTER UPDATE OF {limit}, disabled_at ON tenant FOR EACH ROW
WHEN (NEW.{limit} IS DISTINCT FROM OLD.{limit} OR (NEW.disabled_at IS NULL) <> (OLD.disabled_at IS NULL))
EXECUTE FUNCTION {table}_rebooked()"""
QUOTA_PARTS = [BOOKED, WRITTEN, ON_INSERT, ON_UPDATE, AT_THE_END, REBOOKED, ON_CHANGE]
NEVER = 3650  # days: a quota of nothing, until somebody raises it
DAILY = [
    {"table": "page", "queue": "page_processing", "kind": "pages", "limit": "pages_per_day"},
    {"table": "search", "queue": "place_search", "kind": "searches", "limit": "searches_per_day"},
]

# The money of a month: a search that starts may spend what is left of it, less what others that are open may spend.
# What it did spend is booked by whoever writes it down.
BUDGET = """
CREATE FUNCTION search_budget() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
DECLARE
    quota integer;
    rest bigint;
BEGIN
    SELECT cents_per_month INTO quota FROM tenant WHERE id = NEW.tenant_id;
    IF quota IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || NEW.tenant_id, 0));
        rest := quota - spent_cents(NEW.tenant_id) - held_cents(NEW.tenant_id, NEW.id);
        NEW.budget_cents := least(NEW.budget_cents, greatest(rest, 0));
    END IF;
    RETURN NEW;
END
$body$"""
SPENT = """
CREATE FUNCTION spent_cents(owner uuid) RETURNS bigint LANGUAGE sql STABLE SET search_path FROM CURRENT AS $body$
    SELECT coalesce(sum(used), 0) FROM quota_book WHERE tenant_id = owner AND kind = 'cents'
        AND day = date_trunc('month', now() AT TIME ZONE 'UTC')::date
$body$"""
HELD = """
CREATE FUNCTION held_cents(owner uuid, but_for uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $body$
    SELECT coalesce(sum(budget_cents), 0) FROM search
        WHERE tenant_id = owner AND id IS DISTINCT FROM but_for AND place_search_status IN ('Queued', 'Processing')
$body$"""
PAID = """
CREATE FUNCTION search_cost() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
BEGIN
    INSERT INTO quota_book AS b (tenant_id, kind, day, used)
        VALUES (NEW.tenant_id, 'cents', date_trunc('month', now() AT TIME ZONE 'UTC')::date,
            NEW.cost_cents - OLD.cost_cents)
    ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = b.used + excluded.used;
    RETURN NULL;
END
$body$"""
MONEY = [
    SPENT,
    HELD,
    BUDGET,
    PAID,
    """
CREATE TRIGGER search_a_budget_insert BEFORE INSERT ON search FOR EACH ROW
WHEN (NEW.place_search_status = 'Queued') EXECUTE FUNCTION search_budget()""",
    """
CREATE TRIGGER search_a_budget_update BEFORE UPDATE OF place_search_status, budget_cents ON search FOR EACH ROW
WHEN (NEW.place_search_status IN ('Queued', 'Processing') AND (OLD.place_search_status NOT IN ('Queued', 'Processing')
    OR NEW.budget_cents IS DISTINCT FROM OLD.budget_cents))
EXECUTE FUNCTION search_budget()""",
    """
CREATE TRIGGER search_cost AFTER UPDATE OF cost_cents ON search FOR EACH ROW
WHEN (NEW.cost_cents > OLD.cost_cents) EXECUTE FUNCTION search_cost()""",
]


def upgrade() -> None:
    grow_tenants_and_users()
    create_tables()
    for table in ("session", "invitation", "quota_book"):
        for statement in protect_tenant(table):
            op.execute(statement)
    op.execute("REVOKE INSERT, UPDATE, DELETE ON quota_book FROM scrapersky_app")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON quota_book TO scrapersky_engine")
    op.execute(f"GRANT INSERT, UPDATE (is_operator, disabled_at, {', '.join(QUOTAS)}) ON tenant TO scrapersky_engine")
    # Who knocks is looked up before the tenant is known.
    op.execute("GRANT SELECT ON api_key, session, invitation TO scrapersky_engine")
    op.execute("GRANT DELETE ON session, invitation TO scrapersky_engine")
    op.execute("GRANT INSERT, UPDATE ON tenant TO scrapersky_engine")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limit TO scrapersky_engine, scrapersky_app")
    op.execute("REVOKE UPDATE, DELETE ON audit FROM scrapersky_app")
    op.execute("GRANT DELETE, UPDATE (before, after) ON audit TO scrapersky_engine")
    for statement in (WRITE, *daily_quotas(), *MONEY, *OWNED):
        op.execute(statement)


def daily_quotas() -> list[str]:
    """The statements that keep the calendars."""
    return [part.format_map({**names, "never": NEVER}) for names in DAILY for part in QUOTA_PARTS]


# The functions act as the engine, which sees every tenant's book; to own them it must be let in for a moment.
DEFINERS = [
    *(f"{names['table']}_quota{part}()" for names in DAILY for part in ("", "_written")),
    *(f"{names['table']}_rebooked()" for names in DAILY),
    "search_budget()",
    "search_cost()",
]
OWNED = [
    "DO $body$ BEGIN EXECUTE format('GRANT CREATE ON SCHEMA %I TO scrapersky_engine', current_schema()); END $body$",
    *(f"ALTER FUNCTION {name} OWNER TO scrapersky_engine" for name in DEFINERS),
    "DO $body$ BEGIN EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM scrapersky_engine', current_schema()); END $body$",
]


def grow_tenants_and_users() -> None:
    op.add_column("tenant", sa.Column("is_operator", sa.Boolean(), server_default="false", nullable=False))
    op.add_column("tenant", sa.Column("disabled_at", sa.DateTime(timezone=True)))
    for quota in QUOTAS:
        op.add_column("tenant", sa.Column(quota, sa.Integer()))
        op.create_check_constraint(op.f(f"tenant_{quota}_counts"), "tenant", f"{quota} >= 0")
    op.execute("ALTER TABLE tenant NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE tenant SET is_operator = true WHERE name = 'default'")
    op.execute("ALTER TABLE tenant FORCE ROW LEVEL SECURITY")
    for moment in ("password_changed_at", "last_login_at"):
        op.add_column("user", sa.Column(moment, sa.DateTime(timezone=True)))
    op.drop_constraint("user_name_key", "user")
    op.create_unique_constraint("user_tenant_id_name_key", "user", ["tenant_id", "name"])
    op.create_index("user_of_the_house", "user", ["name"], unique=True, postgresql_where="tenant_id IS NULL")
    op.create_check_constraint(op.f("user_role_word"), "user", ROLES)
    op.drop_constraint("api_key_tenant_id_prefix_key", "api_key")
    op.create_unique_constraint("api_key_prefix_key", "api_key", ["prefix"])
    op.add_column("audit", sa.Column("actor_id", sa.Uuid()))
    op.add_column("audit", sa.Column("request_id", sa.Text()))
    # A column, not an index over the expression: behind row level security only leakproof functions reach an index.
    op.add_column("audit", sa.Column("way", sa.Text(), sa.Computed("split_part(origin, ' ', 1)", persisted=True)))
    for column in AUDIT_LISTS:
        op.create_index(f"audit_by_{column}", "audit", ["tenant_id", column, "at", "id"])


def create_tables() -> None:
    op.create_table(
        "session",
        *noun("session"),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("former_hash", sa.Text()),
        sa.Column("family_hash", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("user_agent", sa.Text()),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("session_user_id_fkey"), ondelete="CASCADE"),
        sa.UniqueConstraint("token_hash", name=op.f("session_token_hash_key")),
        sa.UniqueConstraint("family_hash", name=op.f("session_family_hash_key")),
    )
    op.create_index("session_user_id", "session", ["user_id"])
    op.create_index("session_by_end", "session", ["expires_at"])
    op.create_table(
        "invitation",
        *noun("invitation"),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Uuid()),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["made_by"], ["user.id"], name=op.f("invitation_made_by_fkey"), ondelete="SET NULL"),
        sa.UniqueConstraint("token_hash", name=op.f("invitation_token_hash_key")),
    )
    op.create_table(
        "rate_limit",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("rate_limit_pkey")),
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "quota_book",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("quota_book_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "kind", "day", name=op.f("quota_book_pkey")),
    )


def noun(table: str) -> list[SchemaItem]:
    """The columns that every noun has, its key and its tenant."""
    return [
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f(f"{table}_pkey")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f(f"{table}_tenant_id_fkey"), ondelete="CASCADE"),
    ]


def downgrade() -> None:
    for function in (*DEFINERS, "write_quota", "spent_cents", "held_cents"):
        op.execute(f"DROP FUNCTION {function} CASCADE")
    op.execute(
        f"REVOKE INSERT, UPDATE (is_operator, disabled_at, {', '.join(QUOTAS)}) ON tenant FROM scrapersky_engine"
    )
    op.execute("GRANT UPDATE, DELETE ON audit TO scrapersky_app")
    op.execute("REVOKE DELETE, UPDATE (before, after) ON audit FROM scrapersky_engine")
    for table in ("quota_book", "rate_limit", "invitation", "session"):
        op.drop_table(table)
    for column in AUDIT_LISTS:
        op.drop_index(f"audit_by_{column}", "audit")
    for column in ("way", "request_id"):
        op.drop_column("audit", column)
    op.drop_column("audit", "actor_id")
    op.execute("REVOKE SELECT ON api_key FROM scrapersky_engine")
    op.execute("REVOKE INSERT, UPDATE ON tenant FROM scrapersky_engine")
    op.drop_constraint("api_key_prefix_key", "api_key")
    op.create_unique_constraint("api_key_tenant_id_prefix_key", "api_key", ["tenant_id", "prefix"])
    op.drop_constraint("user_role_word", "user")
    op.drop_index("user_of_the_house", "user")
    op.drop_constraint("user_tenant_id_name_key", "user")
    op.create_unique_constraint("user_name_key", "user", ["name"])
    for moment in ("last_login_at", "password_changed_at"):
        op.drop_column("user", moment)
    for column in (*reversed(QUOTAS), "disabled_at", "is_operator"):
        op.drop_column("tenant", column)
