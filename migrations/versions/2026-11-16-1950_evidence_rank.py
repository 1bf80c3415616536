"""Let contacts store how good their evidence is, so that the order in which pages are read does not matter."""

from alembic import op

revision = "evidence_rank"
down_revision = "list_filters"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The rank of the page that the contact is from (the lowest is the best), and that of fields from other pages.
    op.execute("ALTER TABLE contact ADD COLUMN evidence_rank text, ADD COLUMN fact_ranks jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE contact DROP COLUMN evidence_rank, DROP COLUMN fact_ranks")
