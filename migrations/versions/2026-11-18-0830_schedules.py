"""Create the table of schedules: when a search or a campaign is made again."""

from alembic import op

revision = "schedules"
down_revision = "campaigns"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
CREATE TABLE schedule (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    updated_at timestamptz NOT NULL DEFAULT now(),
    search_id uuid NOT NULL UNIQUE REFERENCES search ON DELETE CASCADE,
    every_seconds integer,
    cron text,
    time_zone text NOT NULL DEFAULT 'UTC',  -- of the cron expression
    next_run_at timestamptz NOT NULL,
    last_run_at timestamptz,  -- the last run that was due, whatever became of it
    last_outcome text CONSTRAINT schedule_last_outcome CHECK (last_outcome IN ('started', 'skipped', 'refused')),
    last_reason text,  -- for people
    run_count integer NOT NULL DEFAULT 0,  -- runs that were started
    paused_at timestamptz,
    paused_by text,
    created_by uuid REFERENCES "user" ON DELETE SET NULL,
    CONSTRAINT schedule_one_recurrence CHECK ((every_seconds IS NULL) <> (cron IS NULL))
)""")
    op.execute("CREATE INDEX schedule_by_update ON schedule (tenant_id, updated_at, id)")
    op.execute("CREATE INDEX schedule_due ON schedule (next_run_at) WHERE paused_at IS NULL")
    op.execute("SELECT protect_tenant('schedule')")
    op.execute("GRANT SELECT ON schedule TO scrapersky_engine")


def downgrade() -> None:
    op.execute("DROP TABLE schedule")
