"""Drop an index that is the beginning of another one, contact_sorted_by_email."""

from alembic import op

revision = "drop_contact_by_email"
down_revision = "suppressed_websites"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DROP INDEX contact_by_email")


def downgrade() -> None:
    op.execute("CREATE INDEX contact_by_email ON contact (tenant_id, email)")
