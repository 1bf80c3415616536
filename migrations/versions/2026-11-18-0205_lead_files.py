"""Record which leads were in a file, and which pages have a contact form."""

from alembic import op

revision = "lead_files"
down_revision = "expired_businesses"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
CREATE TABLE exported_lead (
    lead_id uuid PRIMARY KEY,  -- of the business, of the domain of a web site without one, or of the contact
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    file text NOT NULL,  -- the first file that had it
    exported_at timestamptz NOT NULL DEFAULT now()
)""")
    op.execute("CREATE INDEX exported_lead_by_tenant ON exported_lead (tenant_id, exported_at)")
    op.execute("SELECT protect_tenant('exported_lead')")
    op.execute("ALTER TABLE page ADD COLUMN has_contact_form boolean")
    op.execute("CREATE INDEX page_contact_form ON page (domain_id) WHERE has_contact_form")
    op.execute("GRANT UPDATE (has_contact_form) ON page TO scrapersky_engine")


def downgrade() -> None:
    op.execute("ALTER TABLE page DROP COLUMN has_contact_form")
    op.execute("DROP TABLE exported_lead")
