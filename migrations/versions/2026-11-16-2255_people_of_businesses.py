"""Index the people and mailboxes of businesses without a web site, which lists of leads by contact read."""

from alembic import op

revision = "people_of_businesses"
down_revision = "dead_letter_reason"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE INDEX contact_people_of_business ON contact (business_id, id) "
        "WHERE domain_id IS NULL AND (name IS NOT NULL OR email IS NOT NULL)"
    )


def downgrade() -> None:
    op.execute("DROP INDEX contact_people_of_business")
