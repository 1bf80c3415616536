"""Create the key by which contacts are found by last name, and the index of contacts sorted by email address."""

from alembic import op

revision = "contact_sorts"
down_revision = "browser_logins"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A column, not an index on lower(last_name): with row level security a function in an index is not used.
    op.execute(
        'ALTER TABLE contact ADD COLUMN last_name_key text COLLATE "C" '
        "GENERATED ALWAYS AS (lower(left(last_name, 200))) STORED"
    )
    op.execute("CREATE INDEX contact_by_last_name ON contact (tenant_id, last_name_key, id)")
    op.execute("CREATE INDEX contact_sorted_by_email ON contact (tenant_id, email, id)")


def downgrade() -> None:
    op.execute("DROP INDEX contact_sorted_by_email")
    op.execute("ALTER TABLE contact DROP COLUMN last_name_key")
