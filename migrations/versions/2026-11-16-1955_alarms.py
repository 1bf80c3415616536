"""Create the table alarm: what needs attention, since when, and which destinations were notified."""

from alembic import op

revision = "alarms"
down_revision = "evidence_rank"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
CREATE TABLE alarm (
    id uuid PRIMARY KEY,
    kind text NOT NULL,  -- breaker_open, maintenance_failed, queue_age_exceeded, rows_stuck
    subject text NOT NULL,  -- the workflow or the maintenance task
    message text NOT NULL,
    raised_at timestamptz NOT NULL DEFAULT now(),
    resolved_at timestamptz,
    raised_to uuid[] NOT NULL DEFAULT '{}',  -- destinations that accepted the message about the beginning
    resolved_to uuid[] NOT NULL DEFAULT '{}'  -- and that about the end
)""")
    op.execute("CREATE UNIQUE INDEX alarm_active ON alarm (kind, subject) WHERE resolved_at IS NULL")
    op.execute("CREATE INDEX alarm_by_end ON alarm (resolved_at)")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON alarm TO scrapersky_engine")


def downgrade() -> None:
    op.execute("DROP TABLE alarm")
