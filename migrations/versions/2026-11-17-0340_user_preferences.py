"""Add user.preferences: how the console looks and behaves for one user."""

from alembic import op

revision = "user_preferences"
down_revision = "people_of_businesses"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE \"user\" ADD COLUMN preferences jsonb NOT NULL DEFAULT '{}'")


def downgrade() -> None:
    op.execute('ALTER TABLE "user" DROP COLUMN preferences')
