"""Add session.browser_hash: the hash of the cookie of a login in a browser."""

from alembic import op

revision = "browser_logins"
down_revision = "undo_curation"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE session ADD COLUMN browser_hash text UNIQUE")


def downgrade() -> None:
    op.execute("ALTER TABLE session DROP COLUMN browser_hash")
