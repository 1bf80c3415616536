"""Wishes: the search for the same words is found by index, however they are written."""

from alembic import op

revision = "2026_11_16_wishes"
down_revision = "2026_11_16_sealed"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute('CREATE INDEX search_by_wish ON search (tenant_id, lower(left("text", 200)))')


def downgrade() -> None:
    op.drop_index("search_by_wish", "search")
