"""Deliveries: where contacts go, each way with its own tries; and whom never to write to again."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.engine.queue_ddl import add_queue, drop_queue, protect_tenant

revision = "2026_11_16_deliveries"
down_revision = "2026_11_16_lists"
branch_labels = None
depends_on = None

TABLES = ["destination", "delivery", "suppression"]


def upgrade() -> None:
    for statement in drop_queue("contact", "delivery"):
        op.execute(statement)
    create_tables()
    for table in TABLES:
        for statement in protect_tenant(table):
            op.execute(statement)
    for statement in add_queue("delivery", "delivery"):
        op.execute(statement)
    op.execute("GRANT SELECT ON destination, suppression TO scrapersky_engine")
    op.add_column("contact", sa.Column("verdict", sa.Text()))
    op.create_check_constraint(
        op.f("contact_verdict_word"), "contact", "verdict IN ('deliverable', 'risky', 'undeliverable', 'unknown')"
    )
    op.create_index("contact_by_verdict", "contact", ["tenant_id", "verdict", "updated_at", "id"])
    op.add_column("contact", sa.Column("suppressed_at", sa.DateTime(timezone=True)))
    op.create_index(
        "contact_suppressed",
        "contact",
        ["tenant_id", "updated_at", "id"],
        postgresql_where="suppressed_at IS NOT NULL",
    )


def create_tables() -> None:
    op.create_table(
        "destination",
        *noun(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("url", sa.Text()),
        sa.Column("secret", sa.Text()),
        sa.Column("former_secret", sa.Text()),
        sa.Column("options", postgresql.JSONB(none_as_null=True), server_default="{}", nullable=False),
        sa.Column("rule", postgresql.JSONB(none_as_null=True), server_default="{}", nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True)),
        sa.Column("disabled_why", sa.Text()),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failing_since", sa.DateTime(timezone=True)),
        sa.Column("resting_until", sa.DateTime(timezone=True)),
        sa.CheckConstraint("kind IN ('webhook', 'hubspot', 'brevo', 'n8n')", name=op.f("destination_kind_word")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("destination_tenant_id_name_key")),
        *constraints("destination"),
    )
    op.create_index("destination_by_update", "destination", ["tenant_id", "updated_at", "id"])
    op.create_table(
        "delivery",
        *noun(),
        sa.Column("destination_id", sa.Uuid(), nullable=False),
        sa.Column("contact_id", sa.Uuid(), nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("external_id", sa.Text()),
        sa.Column("fingerprint", sa.Text()),
        sa.Column("delivered_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["destination_id"], ["destination.id"], name=op.f("delivery_destination_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contact.id"], name=op.f("delivery_contact_id_fkey"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("destination_id", "contact_id", name=op.f("delivery_destination_id_contact_id_key")),
        *constraints("delivery"),
    )
    op.create_index("delivery_by_update", "delivery", ["tenant_id", "updated_at", "id"])
    op.create_index("delivery_by_destination", "delivery", ["destination_id", "updated_at", "id"])
    op.create_index("delivery_contact_id", "delivery", ["contact_id"])
    op.create_table(
        "suppression",
        *noun(),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("value", sa.Text()),
        sa.Column("value_hash", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("origin", sa.Text(), server_default="person", nullable=False),
        sa.Column("made_by", sa.Uuid()),
        sa.CheckConstraint("kind IN ('email', 'domain', 'phone', 'person')", name=op.f("suppression_kind_word")),
        sa.ForeignKeyConstraint(["made_by"], ["user.id"], name=op.f("suppression_made_by_fkey"), ondelete="SET NULL"),
        sa.UniqueConstraint("tenant_id", "value_hash", "kind", name=op.f("suppression_tenant_id_value_hash_kind_key")),
        *constraints("suppression"),
    )
    op.create_index("suppression_by_update", "suppression", ["tenant_id", "updated_at", "id"])
    op.create_index("suppression_by_kind", "suppression", ["tenant_id", "kind", "updated_at", "id"])
    op.create_index(
        "suppression_by_prefix", "suppression", ["tenant_id", "value"], postgresql_ops={"value": "text_pattern_ops"}
    )
    op.create_index("suppression_erased", "suppression", ["tenant_id"], postgresql_where="origin = 'erasure'")


def noun() -> list[sa.Column[object]]:
    """The columns that every noun has."""
    return [
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    ]


def constraints(table: str) -> list[sa.Constraint]:
    """The key that every noun has, and its tenant."""
    return [
        sa.PrimaryKeyConstraint("id", name=op.f(f"{table}_pkey")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f(f"{table}_tenant_id_fkey"), ondelete="CASCADE"),
    ]


def downgrade() -> None:
    op.drop_column("contact", "suppressed_at")
    op.drop_column("contact", "verdict")
    for statement in drop_queue("delivery", "delivery"):
        op.execute(statement)
    for table in reversed(TABLES):
        op.drop_table(table)
    for statement in add_queue("contact", "delivery"):
        op.execute(statement)
