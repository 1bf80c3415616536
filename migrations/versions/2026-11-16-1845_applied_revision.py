"""Create the table applied_revision: which code the schema needs, for older versions that do not know the revision."""

from alembic import op

revision = "applied_revision"
down_revision = "suppressed_sites"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # `scrapersky migrate` keeps the rows: one for each revision, in order. `oldest_code` is declared by a revision that
    # removes something: the newest revision that the oldest version which runs on the schema knows.
    op.execute("""
CREATE TABLE applied_revision (
    position integer PRIMARY KEY,
    revision text NOT NULL UNIQUE,
    oldest_code text
)""")
    op.execute("GRANT SELECT ON applied_revision TO scrapersky_engine")


def downgrade() -> None:
    op.execute("DROP TABLE applied_revision")
