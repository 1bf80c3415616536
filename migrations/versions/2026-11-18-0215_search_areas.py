"""Keep with a search which area was asked for, and which areas on the map were found for it."""

from alembic import op

revision = "search_areas"
down_revision = "lead_files"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE search ADD COLUMN area_request jsonb, ADD COLUMN area_found jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE search DROP COLUMN area_request, DROP COLUMN area_found")
