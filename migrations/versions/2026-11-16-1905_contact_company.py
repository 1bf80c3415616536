"""Give contacts the name of their business as a file or a person writes it."""

from alembic import op

revision = "contact_company"
down_revision = "applied_revision"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE contact ADD COLUMN company text")


def downgrade() -> None:
    op.execute("ALTER TABLE contact DROP COLUMN company")
