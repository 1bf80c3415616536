"""Add the reason of dead letters: the message without site names and numbers, by which dead letters are grouped."""

from alembic import op

revision = "dead_letter_reason"
down_revision = "hidden_reason"
branch_labels = None
depends_on = None

# The patterns of store/searches/progress.py, as they were when this revision was written.
SITE = (
    r"https?://[^[:space:]]*[^[:space:].,;:)]"
    r"|\m(?!robots[.]txt\M|sitemap[^[:space:]]*[.]xml\M)[[:alnum:]@_-]+([.][[:alnum:]@_-]+)*[.]([a-z]{2,}|[0-9]+)(:[0-9]+)?\M"
)
NUMBER = r"\m(?![345][0-9][0-9]\M(?! (s|ms|seconds|minutes|bytes|KB|MB)\M))[0-9]+([.,][0-9]+)*"
REASON = f"left(regexp_replace(regexp_replace(message, '{SITE}', 'a site', 'gi'), '{NUMBER}', '…', 'g'), 300)"


def upgrade() -> None:
    op.execute(f"ALTER TABLE dead_letter ADD COLUMN reason text GENERATED ALWAYS AS ({REASON}) STORED")
    op.execute(
        "CREATE INDEX dead_letter_by_reason ON dead_letter (tenant_id, queue, error_type, reason, failed_at, id)"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE dead_letter DROP COLUMN reason")
