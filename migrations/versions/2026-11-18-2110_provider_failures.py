"""Count the failures in a row of each provider: after some of them a cooldown begins, for its rows only."""

from alembic import op

revision = "provider_failures"
down_revision = "search_runs"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE provider_cooldown ADD COLUMN failures integer NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE provider_cooldown DROP COLUMN failures")
