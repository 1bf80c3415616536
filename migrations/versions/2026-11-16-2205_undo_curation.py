"""Create the tables of curations that can be undone: the actions, and the state of each row before its change."""

from alembic import op

revision = "undo_curation"
down_revision = "search_progress"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
CREATE TABLE curation_action (
    id uuid PRIMARY KEY,  -- of a job, if a job changes the rows
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    resource text NOT NULL,
    curation_status text NOT NULL,
    actor text NOT NULL,
    row_count integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    undone_at timestamptz,
    undone_by text
)""")
    op.execute("CREATE INDEX curation_action_by_time ON curation_action (tenant_id, created_at, id)")
    op.execute("SELECT protect_tenant('curation_action')")
    op.execute("""
CREATE TABLE curation_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    action_id uuid NOT NULL REFERENCES curation_action ON DELETE CASCADE,
    resource text NOT NULL,  -- deliveries, too, which follow from the curation of contacts
    row_id uuid NOT NULL,
    before jsonb NOT NULL,  -- columns and their values
    after jsonb NOT NULL  -- what the action set: only a row that still has it is restored
)""")
    op.execute("CREATE UNIQUE INDEX curation_change_by_action ON curation_change (action_id, resource, row_id)")
    op.execute("CREATE INDEX curation_change_by_row ON curation_change (tenant_id, row_id, id)")
    op.execute("SELECT protect_tenant('curation_change')")


def downgrade() -> None:
    op.execute("DROP TABLE curation_change")
    op.execute("DROP TABLE curation_action")
