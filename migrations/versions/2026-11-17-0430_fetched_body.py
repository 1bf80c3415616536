"""Create the cache of response bodies, which saves requests that a later step would repeat."""

from alembic import op

revision = "fetched_body"
down_revision = "drop_contact_by_email"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Unlogged: after a crash only requests are repeated. Not compressed by the server: rows live for minutes.
    op.execute("""
CREATE UNLOGGED TABLE fetched_body (
    url_hash bytea PRIMARY KEY,
    head text NOT NULL,
    body bytea NOT NULL,
    size_bytes integer NOT NULL,
    expires_at timestamptz NOT NULL
)""")
    op.execute("ALTER TABLE fetched_body ALTER COLUMN body SET STORAGE EXTERNAL")
    op.execute("CREATE INDEX fetched_body_by_expiry ON fetched_body (expires_at)")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON fetched_body TO scrapersky_engine")


def downgrade() -> None:
    op.execute("DROP TABLE fetched_body")
