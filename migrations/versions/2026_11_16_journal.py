"""Journals: what a search was told and paid for survives its worker; the results of a search are read from an index."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.engine.queue_ddl import protect_tenant

revision = "2026_11_16_journal"
down_revision = "2026_11_16_forgetting"
branch_labels = None
depends_on = None

BY_SEARCH = ("local_business", "domain")


def upgrade() -> None:
    op.create_table(
        "search_journal",
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("page", postgresql.JSONB(none_as_null=True), nullable=False),
        sa.Column("kept_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["search_id"], ["search.id"], name=op.f("search_journal_search_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("search_journal_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("search_id", "question", "place", name=op.f("search_journal_pkey")),
    )
    op.create_index("search_journal_by_age", "search_journal", ["tenant_id", "kept_at"])
    for statement in protect_tenant("search_journal"):
        op.execute(statement)
    for table in BY_SEARCH:
        op.drop_index(f"{table}_search_id", table)
        op.create_index(f"{table}_by_search", table, ["search_id", "id"])


def downgrade() -> None:
    for table in BY_SEARCH:
        op.drop_index(f"{table}_by_search", table)
        op.create_index(f"{table}_search_id", table, ["search_id"])
    op.drop_table("search_journal")
