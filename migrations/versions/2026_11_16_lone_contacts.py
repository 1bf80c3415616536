"""Lone contacts: whoever came by a file and has no web site belongs to the search that stands for the file."""

import sqlalchemy as sa
from alembic import op

from scrapersky.engine.queue_ddl import protect_tenant

revision = "2026_11_16_lone_contacts"
down_revision = "2026_11_16_answers"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "search_contact",
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column("contact_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["search_id"], ["search.id"], name=op.f("search_contact_search_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contact.id"], name=op.f("search_contact_contact_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("search_contact_tenant_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("search_id", "contact_id", name=op.f("search_contact_pkey")),
    )
    op.create_index(op.f("search_contact_contact_id"), "search_contact", ["contact_id"])
    for statement in protect_tenant("search_contact"):
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("search_contact")
