"""Keep what a browser took for a page or a home page."""

from alembic import op

revision = "browser_cost"
down_revision = "search_areas"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE domain ADD COLUMN browser jsonb")
    op.execute("ALTER TABLE page ADD COLUMN browser jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE page DROP COLUMN browser")
    op.execute("ALTER TABLE domain DROP COLUMN browser")
