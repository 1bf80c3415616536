"""Give local businesses a queue for the web sites that no provider knows, and say how each site was found."""

from alembic import op

revision = "site_search"
down_revision = "browser_cost"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SELECT add_queue('local_business', 'site_search')")
    op.execute("""
ALTER TABLE local_business
    ADD COLUMN website_how text,
    ADD COLUMN website_confidence double precision,
    ADD COLUMN website_proof text,
    ADD COLUMN rejected_websites text[] NOT NULL DEFAULT '{}',
    ADD CONSTRAINT local_business_website_how_check
        CHECK (website_how IN ('email', 'record', 'name', 'search', 'person'))""")
    # Another record of the same business is found by its number.
    op.execute("CREATE INDEX local_business_by_phone ON local_business (tenant_id, phone) WHERE website IS NOT NULL")


def downgrade() -> None:
    op.execute("DROP INDEX local_business_by_phone")
    op.execute("""
ALTER TABLE local_business DROP COLUMN website_how, DROP COLUMN website_confidence, DROP COLUMN website_proof,
    DROP COLUMN rejected_websites""")
    op.execute("SELECT drop_queue('local_business', 'site_search')")
