"""Create the table retention: how long rows are kept is a setting of the database, the same for all hosts."""

from alembic import op

revision = "retention"
down_revision = "initial"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
CREATE TABLE retention (
    name text PRIMARY KEY,  -- of the rows: contacts, audit, jobs, runs
    days integer NOT NULL CHECK (days BETWEEN 0 AND 36500),  -- 0 keeps them
    changed_at timestamptz NOT NULL DEFAULT now()
)""")
    op.execute("INSERT INTO retention (name, days) VALUES ('contacts', 0), ('audit', 365), ('jobs', 30), ('runs', 30)")
    op.execute("GRANT SELECT ON retention TO scrapersky_app")
    op.execute("GRANT SELECT, UPDATE ON retention TO scrapersky_engine")


def downgrade() -> None:
    op.execute("DROP TABLE retention")
