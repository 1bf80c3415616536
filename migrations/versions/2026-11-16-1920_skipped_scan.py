"""Let the job of a scan be skipped: a site whose robots.txt forbids the scan did not fail."""

from alembic import op

revision = "skipped_scan"
down_revision = "calls_booked_before"
branch_labels = None
depends_on = None

STATES = """
ALTER TABLE job DROP CONSTRAINT job_state_check, ADD CONSTRAINT job_state_check
    CHECK (state IN ('pending', 'processing', 'completed', 'failed'{more}, 'cancelled'))"""

# The job of a site scan follows the status of its domain, on whichever host the scan runs.
FOLLOW = """
CREATE OR REPLACE FUNCTION domain_update_scan_job() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE job SET
        state = CASE NEW.sitemap_analysis_status
            WHEN 'Processing' THEN 'processing'
            WHEN 'Queued' THEN state
            WHEN 'Completed' THEN 'completed'
            WHEN 'Skipped' THEN 'skipped'
            WHEN 'New' THEN 'cancelled'
            ELSE 'failed' END,
        progress = CASE WHEN NEW.sitemap_analysis_status IN ('Queued', 'Processing') THEN 0 ELSE 1 END,
        error = NEW.sitemap_analysis_error,
        finished_at = CASE WHEN NEW.sitemap_analysis_status IN ('Queued', 'Processing') THEN NULL ELSE now() END,
        updated_at = now()
    WHERE subject_id = NEW.id AND kind = 'sitemap_scan' AND state IN ('pending', 'processing');
    RETURN NULL;
END
$$"""


def upgrade() -> None:
    op.execute(STATES.replace("{more}", ", 'skipped'"))
    op.execute(FOLLOW)


def downgrade() -> None:
    op.execute(FOLLOW.replace("            WHEN 'Skipped' THEN 'skipped'\n", ""))
    op.execute("UPDATE job SET state = 'failed' WHERE state = 'skipped'")
    op.execute(STATES.replace("{more}", ""))
