"""Index deliveries that wait, without those that are sent: with both, the engine settled rows by this index."""

from alembic import op

revision = "queued_deliveries"
down_revision = "place_cells"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX delivery_queued ON delivery (tenant_id, id) WHERE delivery_status = 'Queued'")
    op.execute("DROP INDEX delivery_open")


def downgrade() -> None:
    op.execute(
        "CREATE INDEX delivery_open ON delivery (tenant_id, delivery_status, id) "
        "WHERE delivery_status IN ('Queued', 'Processing')"
    )
    op.execute("DROP INDEX delivery_queued")
