"""Mark businesses whose provider data has expired by a column, not by the text of their name."""

import sqlalchemy as sa
from alembic import op

revision = "expired_businesses"
down_revision = "queued_deliveries"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("local_business", sa.Column("expired_at", sa.DateTime(timezone=True)))
    op.execute("UPDATE local_business SET expired_at = updated_at WHERE name = '(expired under the provider''s terms)'")


def downgrade() -> None:
    op.drop_column("local_business", "expired_at")
