"""People: sessions, invitations, quotas of tenants, shared rate limits, and an audit that only grows."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

from scrapersky.engine.schema import protect_tenant

revision = "2026_11_16_people"
down_revision = "2026_11_16_deliveries"
branch_labels = None
depends_on = None

QUOTAS = ["searches_per_day", "pages_per_day", "cents_per_month"]
ROLES = "role IN ('viewer', 'curator', 'operator', 'admin')"
AUDIT_LISTS = ["subject", "actor", "action"]

# A quota is a calendar: what does not fit into today waits for the first day that has room. Only who has a quota pays
# for the look, and a row that the engine itself puts back is not counted twice.
BOOKED = """
CREATE FUNCTION page_quota() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
DECLARE
    quota integer;
    booked date;
    today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    SELECT pages_per_day INTO quota FROM tenant WHERE id = NEW.tenant_id;
    IF quota IS NULL THEN
        RETURN NEW;
    END IF;
    INSERT INTO quota_book AS b (tenant_id, kind, day, used)
        VALUES (NEW.tenant_id, 'pages', today + CASE WHEN quota < 1 THEN 1 ELSE 0 END, 1)
    ON CONFLICT (tenant_id, kind) DO UPDATE SET
        day = CASE WHEN b.day < today THEN today WHEN b.used >= quota THEN b.day + 1 ELSE b.day END,
        used = CASE WHEN b.day < today OR b.used >= quota THEN 1 ELSE b.used + 1 END
    RETURNING b.day INTO booked;
    IF booked > today THEN
        NEW.page_processing_due_at := greatest(NEW.page_processing_due_at, booked::timestamp AT TIME ZONE 'UTC');
    END IF;
    RETURN NEW;
END
$body$"""
# Triggers fire in the order of their names: the day must be known before the queue's own one looks whether to wake.
ON_INSERT = """
CREATE TRIGGER page_a_quota_insert BEFORE INSERT ON page FOR EACH ROW
WHEN (NEW.page_processing_status = 'Queued') EXECUTE FUNCTION page_quota()"""
ON_UPDATE = """
CREATE TRIGGER page_a_quota_update BEFORE UPDATE OF page_processing_status ON page FOR EACH ROW
WHEN (NEW.page_processing_status = 'Queued' AND OLD.page_processing_status NOT IN ('Queued', 'Processing'))
EXECUTE FUNCTION page_quota()"""


def upgrade() -> None:
    grow_tenants_and_users()
    create_tables()
    for table in ("session", "invitation", "quota_book"):
        for statement in protect_tenant(table):
            op.execute(statement)
    op.execute("REVOKE INSERT, UPDATE, DELETE ON quota_book FROM scrapersky_app")
    op.execute("GRANT SELECT, INSERT, UPDATE ON quota_book TO scrapersky_engine")
    # Who knocks is looked up before the tenant is known.
    op.execute("GRANT SELECT ON api_key, session, invitation TO scrapersky_engine")
    op.execute("GRANT DELETE ON session, invitation TO scrapersky_engine")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limit TO scrapersky_engine, scrapersky_app")
    op.execute("REVOKE UPDATE, DELETE ON audit FROM scrapersky_app")
    op.execute("GRANT DELETE, UPDATE (before, after) ON audit TO scrapersky_engine")
    for statement in (BOOKED, *OWNED, ON_INSERT, ON_UPDATE):
        op.execute(statement)


# The function acts as the engine, which sees every tenant's book; to own it it must be let in for a moment.
OWNED = [
    "DO $body$ BEGIN EXECUTE format('GRANT CREATE ON SCHEMA %I TO scrapersky_engine', current_schema()); END $body$",
    "ALTER FUNCTION page_quota() OWNER TO scrapersky_engine",
    "DO $body$ BEGIN EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM scrapersky_engine', current_schema()); END $body$",
]


def grow_tenants_and_users() -> None:
    op.add_column("tenant", sa.Column("is_house", sa.Boolean(), server_default="false", nullable=False))
    op.add_column("tenant", sa.Column("disabled_at", sa.DateTime(timezone=True)))
    for quota in QUOTAS:
        op.add_column("tenant", sa.Column(quota, sa.Integer()))
    op.execute("ALTER TABLE tenant NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE tenant SET is_house = true WHERE name = 'default'")
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
    for column in AUDIT_LISTS:
        op.create_index(f"audit_by_{column}", "audit", ["tenant_id", column, "at", "id"])


def create_tables() -> None:
    op.create_table(
        "session",
        *noun("session"),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("former_hash", sa.Text()),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("user_agent", sa.Text()),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("session_user_id_fkey"), ondelete="CASCADE"),
        sa.UniqueConstraint("token_hash", name=op.f("session_token_hash_key")),
    )
    op.create_index("session_user_id", "session", ["user_id"])
    op.create_index("session_former_hash", "session", ["former_hash"])
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
    op.create_index("rate_limit_at", "rate_limit", ["at"])
    op.create_table(
        "quota_book",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("quota_book_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "kind", name=op.f("quota_book_pkey")),
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
    op.execute("DROP FUNCTION page_quota() CASCADE")
    op.execute("GRANT UPDATE, DELETE ON audit TO scrapersky_app")
    op.execute("REVOKE DELETE, UPDATE (before, after) ON audit FROM scrapersky_engine")
    for table in ("quota_book", "rate_limit", "invitation", "session"):
        op.drop_table(table)
    for column in AUDIT_LISTS:
        op.drop_index(f"audit_by_{column}", "audit")
    op.drop_column("audit", "request_id")
    op.drop_column("audit", "actor_id")
    op.execute("REVOKE SELECT ON api_key FROM scrapersky_engine")
    op.drop_constraint("api_key_prefix_key", "api_key")
    op.create_unique_constraint("api_key_tenant_id_prefix_key", "api_key", ["tenant_id", "prefix"])
    op.drop_constraint("user_role_word", "user")
    op.drop_index("user_of_the_house", "user")
    op.drop_constraint("user_tenant_id_name_key", "user")
    op.create_unique_constraint("user_name_key", "user", ["name"])
    for moment in ("last_login_at", "password_changed_at"):
        op.drop_column("user", moment)
    for column in (*reversed(QUOTAS), "disabled_at", "is_house"):
        op.drop_column("tenant", column)
