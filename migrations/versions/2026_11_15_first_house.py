"""The house as it was opened: every noun of the line, the engine's own tables, and the walls between tenants."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.engine.queue_ddl import create_queue, protect_tenant

revision = "2026_11_15_first_house"
down_revision = None
branch_labels = None
depends_on = None

QUEUES = [
    ("search", "place_search"),
    ("place", "deep_scan"),
    ("local_business", "domain_extraction"),
    ("domain", "domain_metadata"),
    ("domain", "sitemap_analysis"),
    ("sitemap_file", "sitemap_import"),
    ("page", "page_processing"),
    ("contact", "contact_verification"),
    ("contact", "delivery"),
]
TENANT_TABLES = [
    "api_key",
    "search",
    "search_place",
    "place",
    "local_business",
    "domain",
    "business_domain",
    "sitemap_file",
    "page",
    "contact",
    "job",
    "dead_letter",
    "audit",
    '"user"',
]
ENGINE_TABLES = ["run", "dead_letter", "workflow_control", "worker", "maintenance", "host_limit"]

# Roles belong to the whole server: another database of ours may have made them, also at this very moment. Whoever was
# given them beforehand need not be able to make them.
ROLE = """
DO $body$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $body$"""
MEMBER = """
DO $body$ BEGIN
    IF NOT pg_has_role('{role}', 'USAGE') THEN
        GRANT {role} TO CURRENT_USER;
    END IF;
END $body$"""


def upgrade() -> None:
    for role in ("scrapersky_app", "scrapersky_engine"):
        op.execute(ROLE.format(role=role))
        op.execute(MEMBER.format(role=role))
    create_tables()
    for table in TENANT_TABLES:
        for statement in protect_tenant(table):
            op.execute(statement)
    own = "id = nullif(current_setting('app.tenant_id', true), '')::uuid"
    op.execute("ALTER TABLE tenant ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE tenant FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY own_tenant ON tenant TO scrapersky_app USING ({own})")
    op.execute("CREATE POLICY engine_rows ON tenant TO scrapersky_engine USING (true)")
    op.execute('GRANT SELECT ON tenant, "user", audit TO scrapersky_engine')
    op.execute("GRANT INSERT ON audit TO scrapersky_engine")
    op.execute("GRANT SELECT ON tenant, run, workflow_control, worker, maintenance TO scrapersky_app")
    # /health/ready asks for the revision over the engine's pool, not over a connection of the owner.
    op.execute("GRANT SELECT ON alembic_version TO scrapersky_engine")
    for table in ENGINE_TABLES:
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO scrapersky_engine")
    for table, queue in QUEUES:
        for statement in create_queue(table, queue):
            op.execute(statement)
    op.execute("ALTER TABLE workflow_control SET (fillfactor = 50)")
    # The first tenant and the user that the scheduler acts as: their ids are the database's, not the code's.
    op.execute("ALTER TABLE tenant NO FORCE ROW LEVEL SECURITY")
    op.execute('ALTER TABLE "user" NO FORCE ROW LEVEL SECURITY')
    op.execute("INSERT INTO tenant (name) VALUES ('default')")
    op.execute("""INSERT INTO "user" (name, role, is_system) VALUES ('scheduler', 'operator', true)""")
    op.execute("ALTER TABLE tenant FORCE ROW LEVEL SECURITY")
    op.execute('ALTER TABLE "user" FORCE ROW LEVEL SECURITY')


def create_tables() -> None:
    op.create_table(
        "host_limit",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("next_allowed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("permits", postgresql.JSONB(none_as_null=True), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("host_limit_pkey")),
        prefixes=["UNLOGGED"],
    )
    op.create_index(op.f("host_limit_next_allowed_at"), "host_limit", ["next_allowed_at"], unique=False)
    op.create_table(
        "maintenance",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("ran_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("maintenance_pkey")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workflow", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("claimed", sa.Integer(), nullable=False),
        sa.Column("completed", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("postponed", sa.Integer(), nullable=False),
        sa.Column("retried", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("returned", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.Column("histogram", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("run_pkey")),
    )
    op.create_index("run_by_start", "run", ["started_at", "id"], unique=False)
    op.create_index("run_by_workflow", "run", ["workflow", "started_at"], unique=False)
    op.create_table(
        "tenant",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("tenant_pkey")),
        sa.UniqueConstraint("name", name=op.f("tenant_name_key")),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("worker_pkey")),
    )
    op.create_index(op.f("worker_seen_at"), "worker", ["seen_at"], unique=False)
    op.create_table(
        "workflow_control",
        sa.Column("workflow", sa.Text(), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused_by", sa.Text(), nullable=True),
        sa.Column("pause_reason", sa.Text(), nullable=True),
        sa.Column("breaker", sa.Text(), server_default="closed", nullable=False),
        sa.Column("breaker_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("breaker_reason", sa.Text(), nullable=True),
        sa.Column("breaker_trips", sa.Integer(), server_default="0", nullable=False),
        sa.Column("window_started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("window_good", sa.Integer(), server_default="0", nullable=False),
        sa.Column("window_bad", sa.Integer(), server_default="0", nullable=False),
        sa.Column("depth", sa.Integer(), server_default="0", nullable=False),
        sa.Column("item_seconds", sa.Float(), server_default="0", nullable=False),
        sa.Column("batch_size", sa.Integer(), nullable=True),
        sa.Column("interval_seconds", sa.Float(), nullable=True),
        sa.Column("held_by", sa.Text(), nullable=True),
        sa.Column("run_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("breaker IN ('closed', 'open', 'half-open')", name=op.f("workflow_control_breaker_word")),
        sa.PrimaryKeyConstraint("workflow", name=op.f("workflow_control_pkey")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("before", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("after", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("audit_tenant_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("audit_pkey")),
    )
    op.create_index("audit_by_time", "audit", ["tenant_id", "at", "id"], unique=False)
    op.create_table(
        "dead_letter",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("row_id", sa.Uuid(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error_type", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("died_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("dead_letter_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("dead_letter_pkey")),
        sa.UniqueConstraint("queue", "row_id", name=op.f("dead_letter_queue_row_id_key")),
    )
    op.create_index("dead_letter_by_death", "dead_letter", ["tenant_id", "died_at", "id"], unique=False)
    op.create_index("dead_letter_by_queue", "dead_letter", ["tenant_id", "queue", "died_at", "id"], unique=False)
    op.create_table(
        "user",
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), server_default="viewer", nullable=False),
        sa.Column("is_system", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("user_tenant_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("user_pkey")),
        sa.UniqueConstraint("name", name=op.f("user_name_key")),
    )
    op.create_table(
        "search",
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("area", sa.Text(), nullable=True),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("result_limit", sa.Integer(), nullable=True),
        sa.Column("budget_cents", sa.Integer(), nullable=True),
        sa.Column("cost_cents", sa.Integer(), server_default="0", nullable=False),
        sa.Column("result_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cut_short", sa.Text(), nullable=True),
        sa.Column("rules", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("requested_by", sa.Uuid(), nullable=True),
        sa.Column("place_search_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("place_search_error", sa.Text(), nullable=True),
        sa.Column("place_search_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("place_search_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("place_search_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("place_search_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("curation_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')",
            name=op.f("search_curation_status_word"),
        ),
        sa.CheckConstraint(
            "place_search_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("search_place_search_status_word"),
        ),
        sa.ForeignKeyConstraint(
            ["requested_by"], ["user.id"], name=op.f("search_requested_by_fkey"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("search_tenant_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("search_pkey")),
    )
    op.create_index("search_by_update", "search", ["tenant_id", "updated_at", "id"], unique=False)
    op.create_index(
        "search_place_search_claim",
        "search",
        ["place_search_order"],
        unique=False,
        postgresql_where=sa.text("place_search_status = 'Queued' AND place_search_due_at IS NULL"),
    )
    op.create_index(
        "search_place_search_clock",
        "search",
        ["place_search_due_at"],
        unique=False,
        postgresql_where=sa.text("place_search_due_at IS NOT NULL"),
    )
    op.create_index(
        "search_place_search_outcome",
        "search",
        ["tenant_id", "place_search_status", "id"],
        unique=False,
        postgresql_where=sa.text("place_search_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "search_place_search_share",
        "search",
        ["tenant_id", "place_search_order"],
        unique=False,
        postgresql_where=sa.text("place_search_status = 'Queued' AND place_search_due_at IS NULL"),
    )
    op.create_table(
        "domain",
        sa.Column("search_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("unicode_name", sa.Text(), nullable=True),
        sa.Column("country", sa.Text(), nullable=True),
        sa.Column("start_url", sa.Text(), nullable=True),
        sa.Column("final_url", sa.Text(), nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("favicon", sa.Text(), nullable=True),
        sa.Column("logo", sa.Text(), nullable=True),
        sa.Column("generator", sa.Text(), nullable=True),
        sa.Column("technologies", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("facts", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("sitemap_reason", sa.Text(), nullable=True),
        sa.Column("sitemap_result", sa.Text(), nullable=True),
        sa.Column("domain_metadata_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("domain_metadata_error", sa.Text(), nullable=True),
        sa.Column("domain_metadata_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("domain_metadata_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("domain_metadata_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("domain_metadata_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("sitemap_analysis_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("sitemap_analysis_error", sa.Text(), nullable=True),
        sa.Column("sitemap_analysis_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sitemap_analysis_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sitemap_analysis_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sitemap_analysis_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("curation_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')",
            name=op.f("domain_curation_status_word"),
        ),
        sa.CheckConstraint(
            "domain_metadata_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("domain_domain_metadata_status_word"),
        ),
        sa.CheckConstraint(
            "sitemap_analysis_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("domain_sitemap_analysis_status_word"),
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("domain_tenant_id_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["search_id"], ["search.id"], name=op.f("domain_search_id_fkey"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("domain_pkey")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("domain_tenant_id_name_key")),
    )
    op.create_index(op.f("domain_search_id"), "domain", ["search_id"], unique=False)
    op.create_index("domain_by_curation", "domain", ["tenant_id", "curation_status", "updated_at", "id"], unique=False)
    op.create_index("domain_by_update", "domain", ["tenant_id", "updated_at", "id"], unique=False)
    op.create_index(
        "domain_domain_metadata_claim",
        "domain",
        ["domain_metadata_order"],
        unique=False,
        postgresql_where=sa.text("domain_metadata_status = 'Queued' AND domain_metadata_due_at IS NULL"),
    )
    op.create_index(
        "domain_domain_metadata_clock",
        "domain",
        ["domain_metadata_due_at"],
        unique=False,
        postgresql_where=sa.text("domain_metadata_due_at IS NOT NULL"),
    )
    op.create_index(
        "domain_domain_metadata_outcome",
        "domain",
        ["tenant_id", "domain_metadata_status", "id"],
        unique=False,
        postgresql_where=sa.text("domain_metadata_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "domain_domain_metadata_share",
        "domain",
        ["tenant_id", "domain_metadata_order"],
        unique=False,
        postgresql_where=sa.text("domain_metadata_status = 'Queued' AND domain_metadata_due_at IS NULL"),
    )
    op.create_index(
        "domain_sitemap_analysis_claim",
        "domain",
        ["sitemap_analysis_order"],
        unique=False,
        postgresql_where=sa.text("sitemap_analysis_status = 'Queued' AND sitemap_analysis_due_at IS NULL"),
    )
    op.create_index(
        "domain_sitemap_analysis_clock",
        "domain",
        ["sitemap_analysis_due_at"],
        unique=False,
        postgresql_where=sa.text("sitemap_analysis_due_at IS NOT NULL"),
    )
    op.create_index(
        "domain_sitemap_analysis_outcome",
        "domain",
        ["tenant_id", "sitemap_analysis_status", "id"],
        unique=False,
        postgresql_where=sa.text("sitemap_analysis_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "domain_sitemap_analysis_share",
        "domain",
        ["tenant_id", "sitemap_analysis_order"],
        unique=False,
        postgresql_where=sa.text("sitemap_analysis_status = 'Queued' AND sitemap_analysis_due_at IS NULL"),
    )
    op.create_table(
        "place",
        sa.Column("search_id", sa.Uuid(), nullable=True),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("latitude", sa.Float(), nullable=True),
        sa.Column("longitude", sa.Float(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("website", sa.Text(), nullable=True),
        sa.Column("categories", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("rating", sa.Float(), nullable=True),
        sa.Column("rating_count", sa.Integer(), nullable=True),
        sa.Column("business_status", sa.Text(), nullable=True),
        sa.Column("licence", sa.Text(), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("details", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("deep_scan_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("deep_scan_error", sa.Text(), nullable=True),
        sa.Column("deep_scan_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("deep_scan_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("deep_scan_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deep_scan_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("curation_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')",
            name=op.f("place_curation_status_word"),
        ),
        sa.CheckConstraint(
            "deep_scan_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("place_deep_scan_status_word"),
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("place_tenant_id_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["search_id"], ["search.id"], name=op.f("place_search_id_fkey"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("place_pkey")),
        sa.UniqueConstraint(
            "tenant_id", "provider", "provider_id", name=op.f("place_tenant_id_provider_provider_id_key")
        ),
    )
    op.create_index(op.f("place_search_id"), "place", ["search_id"], unique=False)
    op.create_index("place_by_curation", "place", ["tenant_id", "curation_status", "updated_at", "id"], unique=False)
    op.create_index("place_by_update", "place", ["tenant_id", "updated_at", "id"], unique=False)
    op.create_index(
        "place_deep_scan_claim",
        "place",
        ["deep_scan_order"],
        unique=False,
        postgresql_where=sa.text("deep_scan_status = 'Queued' AND deep_scan_due_at IS NULL"),
    )
    op.create_index(
        "place_deep_scan_clock",
        "place",
        ["deep_scan_due_at"],
        unique=False,
        postgresql_where=sa.text("deep_scan_due_at IS NOT NULL"),
    )
    op.create_index(
        "place_deep_scan_outcome",
        "place",
        ["tenant_id", "deep_scan_status", "id"],
        unique=False,
        postgresql_where=sa.text("deep_scan_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "place_deep_scan_share",
        "place",
        ["tenant_id", "deep_scan_order"],
        unique=False,
        postgresql_where=sa.text("deep_scan_status = 'Queued' AND deep_scan_due_at IS NULL"),
    )
    op.create_table(
        "api_key",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("api_key_tenant_id_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("api_key_user_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("api_key_pkey")),
        sa.UniqueConstraint("tenant_id", "prefix", name=op.f("api_key_tenant_id_prefix_key")),
    )
    op.create_index(op.f("api_key_user_id"), "api_key", ["user_id"], unique=False)
    op.create_table(
        "job",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column("progress", sa.Float(), server_default="0", nullable=False),
        sa.Column("parameters", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("result", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("subject_id", sa.Uuid(), nullable=True),
        sa.Column("requested_by", sa.Uuid(), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "state IN ('pending', 'processing', 'completed', 'failed', 'cancelled')", name=op.f("job_state_word")
        ),
        sa.ForeignKeyConstraint(["requested_by"], ["user.id"], name=op.f("job_requested_by_fkey"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("job_tenant_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("job_pkey")),
    )
    op.create_index("job_by_update", "job", ["tenant_id", "updated_at", "id"], unique=False)
    op.create_table(
        "local_business",
        sa.Column("place_id", sa.Uuid(), nullable=True),
        sa.Column("search_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("street", sa.Text(), nullable=True),
        sa.Column("city", sa.Text(), nullable=True),
        sa.Column("region", sa.Text(), nullable=True),
        sa.Column("postcode", sa.Text(), nullable=True),
        sa.Column("country", sa.Text(), nullable=True),
        sa.Column("latitude", sa.Float(), nullable=True),
        sa.Column("longitude", sa.Float(), nullable=True),
        sa.Column("timezone", sa.Text(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("website", sa.Text(), nullable=True),
        sa.Column("profiles", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("categories", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("rating", sa.Float(), nullable=True),
        sa.Column("rating_count", sa.Integer(), nullable=True),
        sa.Column("price_level", sa.Integer(), nullable=True),
        sa.Column("hours", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("business_status", sa.Text(), nullable=True),
        sa.Column("details", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("domain_extraction_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("domain_extraction_error", sa.Text(), nullable=True),
        sa.Column("domain_extraction_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("domain_extraction_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("domain_extraction_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("domain_extraction_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("curation_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')",
            name=op.f("local_business_curation_status_word"),
        ),
        sa.CheckConstraint(
            "domain_extraction_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("local_business_domain_extraction_status_word"),
        ),
        sa.ForeignKeyConstraint(
            ["place_id"], ["place.id"], name=op.f("local_business_place_id_fkey"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("local_business_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["search_id"], ["search.id"], name=op.f("local_business_search_id_fkey"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("local_business_pkey")),
        sa.UniqueConstraint("tenant_id", "place_id", name=op.f("local_business_tenant_id_place_id_key")),
    )
    op.create_index(op.f("local_business_search_id"), "local_business", ["search_id"], unique=False)
    op.create_index(
        "local_business_by_curation",
        "local_business",
        ["tenant_id", "curation_status", "updated_at", "id"],
        unique=False,
    )
    op.create_index("local_business_by_update", "local_business", ["tenant_id", "updated_at", "id"], unique=False)
    op.create_index(
        "local_business_domain_extraction_claim",
        "local_business",
        ["domain_extraction_order"],
        unique=False,
        postgresql_where=sa.text("domain_extraction_status = 'Queued' AND domain_extraction_due_at IS NULL"),
    )
    op.create_index(
        "local_business_domain_extraction_clock",
        "local_business",
        ["domain_extraction_due_at"],
        unique=False,
        postgresql_where=sa.text("domain_extraction_due_at IS NOT NULL"),
    )
    op.create_index(
        "local_business_domain_extraction_outcome",
        "local_business",
        ["tenant_id", "domain_extraction_status", "id"],
        unique=False,
        postgresql_where=sa.text("domain_extraction_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "local_business_domain_extraction_share",
        "local_business",
        ["tenant_id", "domain_extraction_order"],
        unique=False,
        postgresql_where=sa.text("domain_extraction_status = 'Queued' AND domain_extraction_due_at IS NULL"),
    )
    op.create_table(
        "sitemap_file",
        sa.Column("domain_id", sa.Uuid(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=True),
        sa.Column("discovered_by", sa.Text(), nullable=True),
        sa.Column("url_count", sa.Integer(), nullable=True),
        sa.Column("size_bytes", sa.Integer(), nullable=True),
        sa.Column("last_modified", sa.DateTime(timezone=True), nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("partial_reason", sa.Text(), nullable=True),
        sa.Column("sitemap_import_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("sitemap_import_error", sa.Text(), nullable=True),
        sa.Column("sitemap_import_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sitemap_import_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sitemap_import_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sitemap_import_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("curation_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')",
            name=op.f("sitemap_file_curation_status_word"),
        ),
        sa.CheckConstraint(
            "sitemap_import_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("sitemap_file_sitemap_import_status_word"),
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"], ["domain.id"], name=op.f("sitemap_file_domain_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["sitemap_file.id"], name=op.f("sitemap_file_parent_id_fkey"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("sitemap_file_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("sitemap_file_pkey")),
        sa.UniqueConstraint("tenant_id", "domain_id", "url", name=op.f("sitemap_file_tenant_id_domain_id_url_key")),
    )
    op.create_index(
        "sitemap_file_by_curation", "sitemap_file", ["tenant_id", "curation_status", "updated_at", "id"], unique=False
    )
    op.create_index("sitemap_file_by_update", "sitemap_file", ["tenant_id", "updated_at", "id"], unique=False)
    op.create_index(op.f("sitemap_file_parent_id"), "sitemap_file", ["parent_id"], unique=False)
    op.create_index(
        "sitemap_file_sitemap_import_claim",
        "sitemap_file",
        ["sitemap_import_order"],
        unique=False,
        postgresql_where=sa.text("sitemap_import_status = 'Queued' AND sitemap_import_due_at IS NULL"),
    )
    op.create_index(
        "sitemap_file_sitemap_import_clock",
        "sitemap_file",
        ["sitemap_import_due_at"],
        unique=False,
        postgresql_where=sa.text("sitemap_import_due_at IS NOT NULL"),
    )
    op.create_index(
        "sitemap_file_sitemap_import_outcome",
        "sitemap_file",
        ["tenant_id", "sitemap_import_status", "id"],
        unique=False,
        postgresql_where=sa.text("sitemap_import_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "sitemap_file_sitemap_import_share",
        "sitemap_file",
        ["tenant_id", "sitemap_import_order"],
        unique=False,
        postgresql_where=sa.text("sitemap_import_status = 'Queued' AND sitemap_import_due_at IS NULL"),
    )
    op.create_table(
        "business_domain",
        sa.Column("business_id", sa.Uuid(), nullable=False),
        sa.Column("domain_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("linked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["business_id"], ["local_business.id"], name=op.f("business_domain_business_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"], ["domain.id"], name=op.f("business_domain_domain_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("business_domain_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("business_id", "domain_id", name=op.f("business_domain_pkey")),
    )
    op.create_index(op.f("business_domain_domain_id"), "business_domain", ["domain_id"], unique=False)
    op.create_table(
        "page",
        sa.Column("domain_id", sa.Uuid(), nullable=False),
        sa.Column("sitemap_file_id", sa.Uuid(), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("country", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=True),
        sa.Column("kind_score", sa.Float(), nullable=True),
        sa.Column("kind_reason", sa.Text(), nullable=True),
        sa.Column("depth", sa.SmallInteger(), nullable=True),
        sa.Column("last_modified", sa.DateTime(timezone=True), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("contact_count", sa.Integer(), nullable=True),
        sa.Column("page_processing_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("page_processing_error", sa.Text(), nullable=True),
        sa.Column("page_processing_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("page_processing_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("page_processing_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("page_processing_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("curation_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')",
            name=op.f("page_curation_status_word"),
        ),
        sa.CheckConstraint(
            "page_processing_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("page_page_processing_status_word"),
        ),
        sa.ForeignKeyConstraint(["domain_id"], ["domain.id"], name=op.f("page_domain_id_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["sitemap_file_id"], ["sitemap_file.id"], name=op.f("page_sitemap_file_id_fkey"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("page_tenant_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("page_pkey")),
        sa.UniqueConstraint("tenant_id", "domain_id", "url", name=op.f("page_tenant_id_domain_id_url_key")),
    )
    op.create_index("page_by_curation", "page", ["tenant_id", "curation_status", "updated_at", "id"], unique=False)
    op.create_index("page_by_update", "page", ["tenant_id", "updated_at", "id"], unique=False)
    op.create_index(
        "page_page_processing_claim",
        "page",
        ["page_processing_order"],
        unique=False,
        postgresql_where=sa.text("page_processing_status = 'Queued' AND page_processing_due_at IS NULL"),
    )
    op.create_index(
        "page_page_processing_clock",
        "page",
        ["page_processing_due_at"],
        unique=False,
        postgresql_where=sa.text("page_processing_due_at IS NOT NULL"),
    )
    op.create_index(
        "page_page_processing_outcome",
        "page",
        ["tenant_id", "page_processing_status", "id"],
        unique=False,
        postgresql_where=sa.text("page_processing_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "page_page_processing_share",
        "page",
        ["tenant_id", "page_processing_order"],
        unique=False,
        postgresql_where=sa.text("page_processing_status = 'Queued' AND page_processing_due_at IS NULL"),
    )
    op.create_index(op.f("page_sitemap_file_id"), "page", ["sitemap_file_id"], unique=False)
    op.create_table(
        "search_place",
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column("place_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["place_id"], ["place.id"], name=op.f("search_place_place_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["search_id"], ["search.id"], name=op.f("search_place_search_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("search_place_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("search_id", "place_id", name=op.f("search_place_pkey")),
    )
    op.create_index(op.f("search_place_place_id"), "search_place", ["place_id"], unique=False)
    op.create_table(
        "contact",
        sa.Column("domain_id", sa.Uuid(), nullable=True),
        sa.Column("page_id", sa.Uuid(), nullable=True),
        sa.Column("business_id", sa.Uuid(), nullable=True),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("email_kind", sa.Text(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("fax", sa.Text(), nullable=True),
        sa.Column("profiles", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("source_url", sa.Text(), nullable=True),
        sa.Column("snippet", sa.Text(), nullable=True),
        sa.Column("found_by", sa.Text(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("verification", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("contact_verification_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("contact_verification_error", sa.Text(), nullable=True),
        sa.Column("contact_verification_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("contact_verification_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("contact_verification_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("contact_verification_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("delivery_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("delivery_error", sa.Text(), nullable=True),
        sa.Column("delivery_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("delivery_allowance", sa.Integer(), server_default="0", nullable=False),
        sa.Column("delivery_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivery_order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("curation_status", sa.Text(), server_default="New", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "contact_verification_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("contact_contact_verification_status_word"),
        ),
        sa.CheckConstraint(
            "curation_status IN ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived')",
            name=op.f("contact_curation_status_word"),
        ),
        sa.CheckConstraint(
            "delivery_status IN ('New', 'Queued', 'Processing', 'Completed', 'Skipped', 'Error')",
            name=op.f("contact_delivery_status_word"),
        ),
        sa.ForeignKeyConstraint(
            ["business_id"], ["local_business.id"], name=op.f("contact_business_id_fkey"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["domain_id"], ["domain.id"], name=op.f("contact_domain_id_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name=op.f("contact_page_id_fkey"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("contact_tenant_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("contact_pkey")),
        sa.UniqueConstraint(
            "tenant_id", "domain_id", "identity", name=op.f("contact_tenant_id_domain_id_identity_key")
        ),
    )
    op.create_index(op.f("contact_business_id"), "contact", ["business_id"], unique=False)
    op.create_index(
        "contact_by_curation", "contact", ["tenant_id", "curation_status", "updated_at", "id"], unique=False
    )
    op.create_index("contact_by_email", "contact", ["tenant_id", "email"], unique=False)
    op.create_index("contact_by_update", "contact", ["tenant_id", "updated_at", "id"], unique=False)
    op.create_index(
        "contact_contact_verification_claim",
        "contact",
        ["contact_verification_order"],
        unique=False,
        postgresql_where=sa.text("contact_verification_status = 'Queued' AND contact_verification_due_at IS NULL"),
    )
    op.create_index(
        "contact_contact_verification_clock",
        "contact",
        ["contact_verification_due_at"],
        unique=False,
        postgresql_where=sa.text("contact_verification_due_at IS NOT NULL"),
    )
    op.create_index(
        "contact_contact_verification_outcome",
        "contact",
        ["tenant_id", "contact_verification_status", "id"],
        unique=False,
        postgresql_where=sa.text("contact_verification_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "contact_contact_verification_share",
        "contact",
        ["tenant_id", "contact_verification_order"],
        unique=False,
        postgresql_where=sa.text("contact_verification_status = 'Queued' AND contact_verification_due_at IS NULL"),
    )
    op.create_index(
        "contact_delivery_claim",
        "contact",
        ["delivery_order"],
        unique=False,
        postgresql_where=sa.text("delivery_status = 'Queued' AND delivery_due_at IS NULL"),
    )
    op.create_index(
        "contact_delivery_clock",
        "contact",
        ["delivery_due_at"],
        unique=False,
        postgresql_where=sa.text("delivery_due_at IS NOT NULL"),
    )
    op.create_index(
        "contact_delivery_outcome",
        "contact",
        ["tenant_id", "delivery_status", "id"],
        unique=False,
        postgresql_where=sa.text("delivery_status NOT IN ('Queued', 'Processing')"),
    )
    op.create_index(
        "contact_delivery_share",
        "contact",
        ["tenant_id", "delivery_order"],
        unique=False,
        postgresql_where=sa.text("delivery_status = 'Queued' AND delivery_due_at IS NULL"),
    )
    op.create_index(op.f("contact_domain_id"), "contact", ["domain_id"], unique=False)
    op.create_index(op.f("contact_page_id"), "contact", ["page_id"], unique=False)


def downgrade() -> None:
    raise NotImplementedError("There is nothing below the first house: drop the database instead.")
