"""Money: details are paid for out of the budget of their search and the month of its tenant; quotas rest for all."""

import sqlalchemy as sa
from alembic import op

from scrapersky.engine.queue_ddl import protect_tenant

revision = "2026_11_16_money"
down_revision = "2026_11_16_findings"
branch_labels = None
depends_on = None

COUNTS = ["spent_cents", "call_count", "details_count", "details_cents"]

# A search that is queued afresh may spend its budget anew.
RENEWED = """
CREATE FUNCTION search_renewed() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    NEW.spent_cents := 0;
    RETURN NEW;
END
$body$"""
ON_RENEWAL = """
CREATE TRIGGER search_a_renewed BEFORE UPDATE OF place_search_status ON search FOR EACH ROW
WHEN (NEW.place_search_status = 'Queued' AND OLD.place_search_status NOT IN ('Queued', 'Processing'))
EXECUTE FUNCTION search_renewed()"""

# Every call is counted, also one that is free.
BOOK = """
CREATE FUNCTION book_calls(owner uuid, asked text, way text, in_month date, made integer, price integer)
RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $body$
    INSERT INTO spending AS s (tenant_id, provider, method, month, calls, cents)
        SELECT owner, asked, way, in_month, made, price WHERE made <> 0 OR price <> 0
    ON CONFLICT (tenant_id, provider, method, month)
        DO UPDATE SET calls = s.calls + excluded.calls, cents = s.cents + excluded.cents
$body$"""
BOOKED = """
CREATE FUNCTION search_calls() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
DECLARE
    month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    details integer := NEW.details_count - OLD.details_count;
    details_price integer := NEW.details_cents - OLD.details_cents;
BEGIN
    PERFORM book_calls(NEW.tenant_id, NEW.provider, 'details', month, details, details_price);
    PERFORM book_calls(NEW.tenant_id, NEW.provider, 'search', month, NEW.call_count - OLD.call_count - details,
        NEW.cost_cents - OLD.cost_cents - details_price);
    RETURN NULL;
END
$body$"""
ON_CALLS = """
CREATE TRIGGER search_calls AFTER UPDATE OF call_count ON search FOR EACH ROW
WHEN (NEW.call_count > OLD.call_count) EXECUTE FUNCTION search_calls()"""

# The price of one call is taken before it is made: of many workers at the edge of a budget, those get it that fit.
# The book of the month is held first, as by whoever asks for a search; a search somebody else holds is not waited for
# while the book is, for that one may want the book.
RESERVE = """
CREATE FUNCTION reserve_details(
    owner uuid, for_search uuid, asked text, price integer,
    OUT refusal text, OUT month date, OUT used bigint, OUT allowed bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
DECLARE
    quota integer;
    its search%ROWTYPE;
BEGIN
    month := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    SELECT cents_per_month INTO quota FROM tenant WHERE id = owner;
    IF price > 0 AND quota IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('cents of ' || owner, 0));
        SELECT * INTO its FROM search WHERE id = for_search AND tenant_id = owner FOR NO KEY UPDATE NOWAIT;
    ELSE
        SELECT * INTO its FROM search WHERE id = for_search AND tenant_id = owner FOR NO KEY UPDATE;
    END IF;
    IF price > 0 AND its.budget_cents IS NOT NULL THEN
        used := its.spent_cents;
        allowed := its.budget_cents;
        IF its.place_search_status IN ('Queued', 'Processing') THEN
            refusal := 'open';
            RETURN;
        ELSIF used + price > allowed THEN
            refusal := 'budget';
            RETURN;
        END IF;
    END IF;
    IF price > 0 AND quota IS NOT NULL THEN
        used := spent_cents(owner) + held_cents(owner, its.id);
        allowed := quota;
        IF used + price > allowed THEN
            refusal := 'month';
            RETURN;
        END IF;
    END IF;
    IF its.id IS NOT NULL THEN
        UPDATE search SET cost_cents = cost_cents + price, spent_cents = spent_cents + price,
            call_count = call_count + 1, details_count = details_count + 1, details_cents = details_cents + price
            WHERE id = its.id;
    ELSE
        PERFORM book_calls(owner, asked, 'details', month, 1, price);
        INSERT INTO quota_book AS b (tenant_id, kind, day, used) SELECT owner, 'cents', month, price WHERE price > 0
            ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = b.used + excluded.used;
    END IF;
END
$body$"""
# A call that failed was made, but is not billed. What is given back belongs to the month it was taken from.
REFUND = """
CREATE FUNCTION refund_details(owner uuid, for_search uuid, asked text, price integer, taken date)
RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $body$
    UPDATE search SET cost_cents = cost_cents - price, spent_cents = greatest(spent_cents - price, 0),
        details_cents = details_cents - price WHERE id = for_search AND tenant_id = owner;
    SELECT book_calls(owner, asked, 'details', taken, 0, -price);
    UPDATE quota_book SET used = used - price WHERE tenant_id = owner AND kind = 'cents' AND day = taken;
$body$"""
FUNCTIONS = {
    "search_renewed()": RENEWED,
    "book_calls(uuid, text, text, date, integer, integer)": BOOK,
    "search_calls()": BOOKED,
    "reserve_details(uuid, uuid, text, integer)": RESERVE,
    "refund_details(uuid, uuid, text, integer, date)": REFUND,
}
OF_THE_ENGINE = [name for name in FUNCTIONS if name.endswith(("integer)", "date)"))]
# The function acts as the engine, which writes the book; to own it, it must be let in for a moment.
OWNED = [
    "DO $body$ BEGIN EXECUTE format('GRANT CREATE ON SCHEMA %I TO scrapersky_engine', current_schema()); END $body$",
    "ALTER FUNCTION search_calls() OWNER TO scrapersky_engine",
    "DO $body$ BEGIN EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM scrapersky_engine', current_schema()); END $body$",
]


def upgrade() -> None:
    for column in COUNTS:
        op.add_column("search", sa.Column(column, sa.Integer(), server_default="0", nullable=False))
    # The owner of the table is held by its wall, too.
    op.execute("ALTER TABLE search NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE search SET spent_cents = cost_cents WHERE cost_cents > 0")
    op.execute("ALTER TABLE search FORCE ROW LEVEL SECURITY")
    create_tables()
    for statement in (*FUNCTIONS.values(), ON_RENEWAL, ON_CALLS, *OWNED):
        op.execute(statement)
    for name in OF_THE_ENGINE:
        op.execute(f"REVOKE EXECUTE ON FUNCTION {name} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {name} TO scrapersky_engine")
    op.execute(f"GRANT UPDATE (cost_cents, {', '.join(COUNTS)}) ON search TO scrapersky_engine")


def create_tables() -> None:
    op.create_table(
        "spending",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("cents", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("spending_tenant_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tenant_id", "provider", "method", "month", name=op.f("spending_pkey")),
    )
    op.create_table(
        "provider_rest",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("provider_rest_pkey")),
    )
    for statement in protect_tenant("spending"):
        op.execute(statement)
    op.execute("REVOKE INSERT, UPDATE, DELETE ON spending FROM scrapersky_app")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON spending, provider_rest TO scrapersky_engine")


def downgrade() -> None:
    for name in FUNCTIONS:
        op.execute(f"DROP FUNCTION {name} CASCADE")
    for table in ("provider_rest", "spending"):
        op.drop_table(table)
    for column in reversed(COUNTS):
        op.drop_column("search", column)
