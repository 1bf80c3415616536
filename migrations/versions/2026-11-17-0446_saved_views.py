"""Create the table of saved views: the filters and the sort of a list under a name, for one person or for all."""

from alembic import op

revision = "saved_views"
down_revision = "lists_of_the_console"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
CREATE TABLE saved_view (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    updated_at timestamptz NOT NULL DEFAULT now(),
    user_id uuid NOT NULL REFERENCES "user" ON DELETE CASCADE,
    noun text NOT NULL,
    name text NOT NULL,
    query text NOT NULL,  -- of the list's address: curation_status=New&sort=name
    shared boolean NOT NULL DEFAULT false,  -- with everybody of the tenant
    UNIQUE (user_id, noun, name)
)""")
    op.execute("CREATE INDEX saved_view_by_name ON saved_view (tenant_id, noun, name, id)")
    op.execute("SELECT protect_tenant('saved_view')")


def downgrade() -> None:
    op.execute("DROP TABLE saved_view")
