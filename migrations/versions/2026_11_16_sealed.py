"""Sealed: functions that act as their owner look into the caller's temporary schema last."""

from alembic import op

from scrapersky.engine.queue_ddl import SEAL_FUNCTIONS

revision = "2026_11_16_sealed"
down_revision = "2026_11_16_money"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(SEAL_FUNCTIONS)


def downgrade() -> None:
    """Nothing: sealed functions do what they did before."""
