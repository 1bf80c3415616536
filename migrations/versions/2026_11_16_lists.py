"""Lists: indexes for what they sort and search by, contacts that were merged, remembered answers, jobs that follow."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.engine.queue_ddl import protect_tenant

revision = "2026_11_16_lists"
down_revision = "2026_11_15_first_house"
branch_labels = None
depends_on = None

NAMED = ["place", "local_business", "contact"]
# Row level security lets only leakproof operators use an index: plain comparisons of a column, not lower() and not @@.
NAME_KEY = "lower(left(name, 200))"
PREFIXES = [("domain", "name"), ("sitemap_file", "url"), ("page", "url"), ("contact", "email")]

# Whoever asked for a scan watches a job; the job follows the domain's row, whichever host works on it.
FOLLOW = """
CREATE FUNCTION domain_sitemap_analysis_followed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $body$
BEGIN
    UPDATE job SET
        state = CASE NEW.sitemap_analysis_status
            WHEN 'Processing' THEN 'processing'
            WHEN 'Queued' THEN state
            WHEN 'Completed' THEN 'completed'
            WHEN 'New' THEN 'cancelled'
            ELSE 'failed' END,
        progress = CASE WHEN NEW.sitemap_analysis_status IN ('Queued', 'Processing') THEN 0 ELSE 1 END,
        error = NEW.sitemap_analysis_error,
        finished_at = CASE WHEN NEW.sitemap_analysis_status IN ('Queued', 'Processing') THEN NULL ELSE now() END,
        updated_at = now()
    WHERE subject_id = NEW.id AND kind = 'sitemap_scan' AND state IN ('pending', 'processing');
    RETURN NULL;
END
$body$"""
FOLLOWED = """
CREATE TRIGGER domain_sitemap_analysis_follow AFTER UPDATE OF sitemap_analysis_status ON domain FOR EACH ROW
WHEN (OLD.sitemap_analysis_status <> NEW.sitemap_analysis_status) EXECUTE FUNCTION domain_sitemap_analysis_followed()"""


def upgrade() -> None:
    for table in NAMED:
        op.add_column(table, sa.Column("name_key", sa.Text(collation="C"), sa.Computed(NAME_KEY, persisted=True)))
        op.create_index(f"{table}_by_name", table, ["tenant_id", "name_key", "id"])
    for table, column in PREFIXES:
        op.create_index(f"{table}_by_prefix", table, ["tenant_id", column], postgresql_ops={column: "text_pattern_ops"})
    for table in ("sitemap_file", "page"):
        op.create_index(f"{table}_by_kind", table, ["tenant_id", "kind", "updated_at", "id"])
    op.create_index("contact_by_phone", "contact", ["tenant_id", "phone"])
    op.create_index(
        "contact_alone", "contact", ["tenant_id", "identity"], unique=True, postgresql_where="domain_id IS NULL"
    )
    op.add_column("contact", sa.Column("merged_into_id", sa.Uuid()))
    op.create_foreign_key(
        "contact_merged_into_id_fkey", "contact", "contact", ["merged_into_id"], ["id"], ondelete="SET NULL"
    )
    op.create_index("contact_merged_into_id", "contact", ["merged_into_id"])
    remember_answers()
    op.create_index("job_open", "job", ["subject_id"], postgresql_where="state IN ('pending', 'processing')")
    op.execute("GRANT SELECT ON job TO scrapersky_engine")
    op.execute(FOLLOW)
    op.execute(FOLLOWED)


def remember_answers() -> None:
    op.create_table(
        "remembered_answer",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("status_code", sa.SmallInteger(), nullable=False),
        sa.Column("answer", postgresql.JSONB(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("remembered_answer_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "key", name=op.f("remembered_answer_pkey")),
    )
    for statement in protect_tenant("remembered_answer"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION domain_sitemap_analysis_followed() CASCADE")
    op.execute("REVOKE SELECT ON job FROM scrapersky_engine")
    op.drop_index("job_open", "job")
    op.drop_table("remembered_answer")
    op.drop_column("contact", "merged_into_id")
    op.drop_index("contact_alone", "contact")
    op.drop_index("contact_by_phone", "contact")
    for table in ("sitemap_file", "page"):
        op.drop_index(f"{table}_by_kind", table)
    for table, _ in PREFIXES:
        op.drop_index(f"{table}_by_prefix", table)
    for table in NAMED:
        op.drop_column(table, "name_key")
