"""Findings: whoever once found a business or a domain keeps it, whichever search goes on with it later."""

import sqlalchemy as sa
from alembic import op

from scrapersky.engine.queue_ddl import protect_tenant

revision = "2026_11_16_findings"
down_revision = "2026_11_16_journal"
branch_labels = None
depends_on = None

LINKS = [("search_business", "local_business", "business_id"), ("search_domain", "domain", "domain_id")]

# What is true of each link, as a query of what is there; the same words follow every change below.
WHO_FOUND = {
    "search_business": """
        SELECT b.search_id, b.id, b.tenant_id FROM local_business b WHERE b.search_id IS NOT NULL
        UNION SELECT f.search_id, b.id, b.tenant_id FROM search_place f
            JOIN local_business b ON b.place_id = f.place_id""",
    "search_domain": """
        SELECT d.search_id, d.id, d.tenant_id FROM domain d WHERE d.search_id IS NOT NULL
        UNION SELECT f.search_id, l.domain_id, l.tenant_id FROM search_business f
            JOIN business_domain l ON l.business_id = f.business_id""",
}
READ = ("search_place", "local_business", "business_domain", "domain")

# Whose row it is, and whoever found what it comes from: written down by the database, whoever writes the row.
NOTED = [
    (
        "local_business_found",
        "local_business",
        "OF search_id, place_id",
        """
    INSERT INTO search_business (search_id, business_id, tenant_id)
    SELECT search_id, NEW.id, NEW.tenant_id FROM search_place WHERE place_id = NEW.place_id
    UNION SELECT NEW.search_id, NEW.id, NEW.tenant_id WHERE NEW.search_id IS NOT NULL
    ON CONFLICT DO NOTHING;""",
    ),
    (
        "search_place_found",
        "search_place",
        None,
        """
    INSERT INTO search_business (search_id, business_id, tenant_id)
    SELECT NEW.search_id, id, NEW.tenant_id FROM local_business
    WHERE tenant_id = NEW.tenant_id AND place_id = NEW.place_id
    ON CONFLICT DO NOTHING;""",
    ),
    (
        "domain_found",
        "domain",
        "OF search_id",
        """
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT NEW.search_id, NEW.id, NEW.tenant_id WHERE NEW.search_id IS NOT NULL
    ON CONFLICT DO NOTHING;""",
    ),
    (
        "business_domain_found",
        "business_domain",
        None,
        """
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT search_id, NEW.domain_id, NEW.tenant_id FROM search_business WHERE business_id = NEW.business_id
    ON CONFLICT DO NOTHING;""",
    ),
    (
        "search_business_found",
        "search_business",
        None,
        """
    INSERT INTO search_domain (search_id, domain_id, tenant_id)
    SELECT NEW.search_id, domain_id, NEW.tenant_id FROM business_domain WHERE business_id = NEW.business_id
    ON CONFLICT DO NOTHING;""",
    ),
]


def upgrade() -> None:
    for link, table, column in LINKS:
        create_link(link, table, column)
    write_down_what_is_there()
    for name, table, columns, body in NOTED:
        op.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS "
            f"$body$\nBEGIN{body}\n    RETURN NULL;\nEND\n$body$"
        )
        when = f"INSERT OR UPDATE {columns}" if columns else "INSERT"
        op.execute(f"CREATE TRIGGER {name} AFTER {when} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")
    for link, *_ in LINKS:
        for statement in protect_tenant(link):
            op.execute(statement)


def write_down_what_is_there() -> None:
    """The owner of the tables is held by their walls, too, and must be let in to read what is there."""
    for table in READ:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    for link, _, column in LINKS:
        op.execute(f"INSERT INTO {link} (search_id, {column}, tenant_id) {WHO_FOUND[link]}")
    for table in READ:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


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
    for name, *_ in NOTED:
        op.execute(f"DROP FUNCTION {name}() CASCADE")
    for link, *_ in reversed(LINKS):
        op.drop_table(link)
