"""Answers: what OpenStreetMap's servers said is kept for all workers, and outlives them."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_16_answers"
down_revision = "2026_11_16_rebooking"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "provider_answer",
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("good_until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("question", name=op.f("provider_answer_pkey")),
    )
    op.create_index("provider_answer_by_age", "provider_answer", ["good_until"])
    # Tenants do not read it: it tells what others have looked for.
    op.execute("REVOKE ALL ON provider_answer FROM scrapersky_app")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON provider_answer TO scrapersky_engine")


def downgrade() -> None:
    op.drop_table("provider_answer")
