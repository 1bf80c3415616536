"""Rebooking: a calendar of many rows is written anew in bites, none of which takes long."""

from uuid import UUID

import sqlalchemy as sa
from alembic import op

from scrapersky.engine.queue_ddl import SEAL_FUNCTIONS, protect_tenant

revision = "2026_11_16_rebooking"
down_revision = "2026_11_16_wishes"
branch_labels = None
depends_on = None

NEVER = 3650  # days: a quota of nothing, until somebody raises it
BITE = 20_000  # rows dealt out in the statement that changes the quota; the rest is the engine's
DAILY = [
    {"table": "page", "queue": "page_processing", "kind": "pages", "limit": "pages_per_day"},
    {"table": "search", "queue": "place_search", "kind": "searches", "limit": "searches_per_day"},
]

# The next rows in their order, from the last day on that is booked; true when none is left. Rows that were queued since
# the quota changed have their day already.
REBOOK = """
CREATE FUNCTION {table}_rebook(owner uuid, most integer) RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    quota integer;
    first_day date;
    taken integer;
    at rebooking%ROWTYPE;
    done record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || owner, 0));
    SELECT * INTO at FROM rebooking WHERE tenant_id = owner AND kind = '{kind}';
    IF NOT FOUND THEN
        RETURN true;
    END IF;
    SELECT CASE WHEN disabled_at IS NULL THEN {limit} ELSE 0 END INTO quota FROM tenant WHERE id = owner;
    SELECT day, used INTO first_day, taken FROM quota_book
        WHERE tenant_id = owner AND kind = '{kind}' AND day >= today ORDER BY day DESC LIMIT 1;
    WITH fresh AS (
        SELECT id, {queue}_order AS its_order, row_number() OVER (ORDER BY {queue}_order, id) AS place
        FROM {table} WHERE tenant_id = owner AND {queue}_status = 'Queued' AND {queue}_error IS NULL
            AND {queue}_attempts = {queue}_allowance AND {queue}_order <= at.until_order
            AND ({queue}_order, id) > (at.after_order, at.after_id)
            AND ({queue}_due_at IS NULL OR ({queue}_due_at > now()
                AND {queue}_due_at = date_trunc('day', {queue}_due_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'))
        ORDER BY {queue}_order, id LIMIT most
    ), dealt AS (
        SELECT id, its_order, place, CASE WHEN quota IS NULL THEN today WHEN quota = 0 THEN today + {never}
            ELSE coalesce(first_day, today) + ((least(coalesce(taken, 0), quota) + place - 1) / quota)::integer
            END AS day FROM fresh
    ), moved AS (
        UPDATE {table} t SET {queue}_due_at = CASE WHEN d.day > today THEN d.day::timestamp AT TIME ZONE 'UTC' END
        FROM dealt d WHERE t.id = d.id AND t.{queue}_status = 'Queued'
            AND t.{queue}_due_at IS DISTINCT FROM CASE WHEN d.day > today THEN d.day::timestamp AT TIME ZONE 'UTC' END
    ), booked AS (
        INSERT INTO quota_book AS b (tenant_id, kind, day, used)
            SELECT owner, '{kind}', day, count(*) FROM dealt WHERE quota IS NULL OR quota > 0 GROUP BY day
        ON CONFLICT (tenant_id, kind, day) DO UPDATE SET used = b.used + excluded.used
    )
    SELECT count(*) AS rows, max(its_order) AS last_order, (array_agg(id ORDER BY place DESC))[1] AS last_id INTO done
        FROM dealt;
    IF done.rows > 0 THEN
        PERFORM pg_notify('scrapersky', '{table}.{queue}');
    END IF;
    IF done.rows < most THEN
        DELETE FROM rebooking WHERE tenant_id = owner AND kind = '{kind}';
        RETURN true;
    END IF;
    UPDATE rebooking SET after_order = done.last_order, after_id = done.last_id
        WHERE tenant_id = owner AND kind = '{kind}';
    RETURN false;
END
$body$"""
# Whoever changes a quota, or lets a tenant out or in again, has the calendar written anew: rows nobody has begun with
# are dealt out from today on, in their order; those begun with today stay counted.
REBOOKED = """
CREATE OR REPLACE FUNCTION {table}_rebooked() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    begun integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('{kind} of ' || NEW.id, 0));
    SELECT greatest(coalesce(sum(used), 0) - (
        SELECT count(*) FROM {table} WHERE tenant_id = NEW.id AND {queue}_status = 'Queued' AND {queue}_due_at IS NULL
            AND {queue}_error IS NULL AND {queue}_attempts = {queue}_allowance), 0) INTO begun
        FROM quota_book WHERE tenant_id = NEW.id AND kind = '{kind}' AND day = today;
    DELETE FROM quota_book WHERE tenant_id = NEW.id AND kind = '{kind}' AND day >= today;
    INSERT INTO quota_book (tenant_id, kind, day, used) SELECT NEW.id, '{kind}', today, begun WHERE begun > 0;
    DELETE FROM rebooking WHERE tenant_id = NEW.id AND kind = '{kind}';
    INSERT INTO rebooking (tenant_id, kind, until_order)
        SELECT NEW.id, '{kind}', max({queue}_order) FROM {table}
        WHERE tenant_id = NEW.id AND {queue}_status = 'Queued' HAVING count(*) > 0;
    PERFORM {table}_rebook(NEW.id, {bite});
    RETURN NULL;
END
$body$"""

# All at once, as it was.
BEFORE = """
CREATE OR REPLACE FUNCTION {table}_rebooked() RETURNS trigger
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


def upgrade() -> None:
    op.create_table(
        "rebooking",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("after_order", sa.BigInteger(), server_default="-9223372036854775808", nullable=False),
        sa.Column("after_id", sa.Uuid(), server_default=str(UUID(int=0)), nullable=False),
        sa.Column("until_order", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("rebooking_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "kind", name=op.f("rebooking_pkey")),
    )
    for statement in protect_tenant("rebooking"):
        op.execute(statement)
    op.execute("REVOKE INSERT, UPDATE, DELETE ON rebooking FROM scrapersky_app")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON rebooking TO scrapersky_engine")
    for names in DAILY:
        for function in (REBOOK, REBOOKED):
            op.execute(function.format_map({**names, "never": NEVER, "bite": BITE}))
        op.execute(f"REVOKE EXECUTE ON FUNCTION {names['table']}_rebook(uuid, integer) FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {names['table']}_rebook(uuid, integer) TO scrapersky_engine")
    op.execute(SEAL_FUNCTIONS)


def downgrade() -> None:
    """What was not dealt out yet is dealt out by the next change of the quota, in one statement as before."""
    for names in DAILY:
        op.execute(BEFORE.format_map({**names, "never": NEVER}))
        op.execute(f"DROP FUNCTION {names['table']}_rebook(uuid, integer)")
    op.drop_table("rebooking")
    op.execute(SEAL_FUNCTIONS)
