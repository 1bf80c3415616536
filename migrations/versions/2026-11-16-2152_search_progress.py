"""Create the table of progress snapshots of searches, and the index by which the pages of a search are counted."""

from alembic import op

revision = "search_progress"
down_revision = "name_parts_and_sources"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
CREATE TABLE search_progress (
    search_id uuid PRIMARY KEY REFERENCES search ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    counted_at timestamptz NOT NULL,  -- when counting began
    seconds double precision NOT NULL,  -- how long it took: the next count waits twenty times as long
    is_done boolean NOT NULL,  -- no work was left
    snapshot jsonb NOT NULL  -- steps, reasons, waits, found, undecided
)""")
    op.execute("SELECT protect_tenant('search_progress')")
    op.execute(
        "CREATE INDEX page_by_progress ON page (domain_id, page_processing_status) "
        "WHERE page_processing_status <> 'New'"
    )


def downgrade() -> None:
    op.execute("DROP INDEX page_by_progress")
    op.execute("DROP TABLE search_progress")
