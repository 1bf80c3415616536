"""Create the schema: the files of migrations/sql, in this order.

After a release these files do not change any more: a later revision brings its own statements.
"""

from pathlib import Path

from alembic import op

revision = "initial"
down_revision = None
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"
FILES = [
    "roles.sql",
    "privileges.sql",
    "queues.sql",
    "accounts.sql",
    "operations.sql",
    "line.sql",
    "search_results.sql",
    "leads.sql",
    "jobs.sql",
    "deliveries.sql",
    "suppression.sql",
    "quotas.sql",
    "money.sql",
    "first_rows.sql",
]


def upgrade() -> None:
    for name in FILES:
        run_file(name)


def downgrade() -> None:
    run_file("drop.sql")


def run_file(name: str) -> None:
    """Run a file of many statements; the driver takes more than one only without a prepared statement."""
    script = (SQL / name).read_text(encoding="utf-8")
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))
