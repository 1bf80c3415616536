"""Findings: whoever once found a business or a domain keeps it, whichever search goes on with it later."""

import sqlalchemy as sa
from alembic import op

from scrapersky.engine.schema import protect_tenant

revision = "2026_11_16_findings"
down_revision = "2026_11_16_journal"
branch_labels = None
depends_on = None

FOUND = [("search_business", "local_business", "business_id"), ("search_domain", "domain", "domain_id")]

# A row knows the search that goes on with it now; the database writes down every one it ever had.
NOTED = """
CREATE FUNCTION {table}_found() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
BEGIN
    INSERT INTO {link} (search_id, {column}, tenant_id) VALUES (NEW.search_id, NEW.id, NEW.tenant_id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$body$"""
ON_INSERT = """
CREATE TRIGGER {table}_found_insert AFTER INSERT ON {table} FOR EACH ROW
WHEN (NEW.search_id IS NOT NULL) EXECUTE FUNCTION {table}_found()"""
ON_UPDATE = """
CREATE TRIGGER {table}_found_update AFTER UPDATE OF search_id ON {table} FOR EACH ROW
WHEN (NEW.search_id IS NOT NULL AND NEW.search_id IS DISTINCT FROM OLD.search_id)
EXECUTE FUNCTION {table}_found()"""
KNOWN = "INSERT INTO {link} SELECT search_id, id, tenant_id FROM {table} WHERE search_id IS NOT NULL"


def upgrade() -> None:
    for link, table, column in FOUND:
        create_link(link, table, column)
        # The owner of the tables is held by their walls, too, and must be let in to write down what is there.
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        for statement in (KNOWN, NOTED, ON_INSERT, ON_UPDATE):
            op.execute(statement.format(link=link, table=table, column=column))
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        for statement in protect_tenant(link):
            op.execute(statement)


def create_link(link: str, table: str, column: str) -> None:
    op.create_table(
        link,
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column(column, sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["search_id"], ["search.id"], name=op.f(f"{link}_search_id_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"{link}_{column}_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f(f"{link}_tenant_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("search_id", column, name=op.f(f"{link}_pkey")),
    )
    op.create_index(op.f(f"{link}_{column}"), link, [column])


def downgrade() -> None:
    for link, table, _ in reversed(FOUND):
        op.execute(f"DROP FUNCTION {table}_found() CASCADE")
        op.drop_table(link)
