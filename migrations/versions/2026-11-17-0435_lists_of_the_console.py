"""Index jobs by kind, and deliveries that wait or are sent, for the lists of the console."""

from alembic import op

revision = "lists_of_the_console"
down_revision = "fetched_body"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX job_by_kind ON job (tenant_id, kind, updated_at, id)")
    op.execute(
        "CREATE INDEX delivery_open ON delivery (tenant_id, delivery_status, id) "
        "WHERE delivery_status IN ('Queued', 'Processing')"
    )


def downgrade() -> None:
    op.execute("DROP INDEX delivery_open")
    op.execute("DROP INDEX job_by_kind")
