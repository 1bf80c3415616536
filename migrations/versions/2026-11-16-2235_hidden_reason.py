"""Create the columns that say why a page, or the home page of a domain, shows nothing to a plain reader."""

from alembic import op

revision = "hidden_reason"
down_revision = "contact_sorts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE domain ADD COLUMN hidden_reason text")
    op.execute("ALTER TABLE page ADD COLUMN hidden_reason text")
    op.execute(
        "ALTER TABLE domain ADD CONSTRAINT domain_hidden_reason_check CHECK "
        "(hidden_reason IN ('javascript', 'bot_check', 'login', 'consent', 'parked', 'unfinished'))"
    )
    op.execute(
        "ALTER TABLE page ADD CONSTRAINT page_hidden_reason_check CHECK "
        "(hidden_reason IN ('javascript', 'bot_check', 'login', 'consent', 'parked', 'unfinished'))"
    )
    op.execute(
        "CREATE INDEX domain_by_hidden_reason ON domain (tenant_id, hidden_reason, updated_at, id) "
        "WHERE hidden_reason IS NOT NULL"
    )
    op.execute(
        "CREATE INDEX page_by_hidden_reason ON page (tenant_id, hidden_reason, updated_at, id) "
        "WHERE hidden_reason IS NOT NULL"
    )
    op.execute("CREATE INDEX page_hidden ON page (domain_id, hidden_reason) WHERE hidden_reason IS NOT NULL")
    op.execute("GRANT UPDATE (hidden_reason) ON domain, page TO scrapersky_engine")


def downgrade() -> None:
    op.execute("ALTER TABLE page DROP COLUMN hidden_reason")
    op.execute("ALTER TABLE domain DROP COLUMN hidden_reason")
