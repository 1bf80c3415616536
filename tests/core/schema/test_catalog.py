"""A database whose schema is not the one of its revision is refused, and the difference is named."""

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine

from scrapersky.core.schema.catalog import SchemaCatalog
from scrapersky.core.schema.migrations import SchemaDiffers, check_schema, migrate, migrations_folder
from tests.cli.conftest import Command, command, line

__all__ = ["command", "line"]  # fixtures

CHANGES = [
    ("ALTER TABLE contact DROP COLUMN degree", "missing: table contact: column degree text"),
    ("ALTER TABLE contact ALTER title SET NOT NULL", "unexpected: table contact: column title text not null"),
    ("ALTER TABLE place ALTER rating TYPE numeric", "unexpected: table place: column rating numeric"),
    ("ALTER TABLE contact ADD COLUMN note text NOT NULL", "unexpected: table contact: column note text not null"),
    ("ALTER TABLE contact ALTER priority DROP DEFAULT", "unexpected: table contact: column priority smallint not null"),
    ("ALTER TABLE contact NO FORCE ROW LEVEL SECURITY", "unexpected: table contact: row security t, forced f"),
    ("CREATE POLICY all_rows ON contact USING (true)", "unexpected: table contact: policy all_rows"),
    ("DROP POLICY tenant_rows ON contact", "missing: table contact: policy tenant_rows"),
    ("GRANT UPDATE ON contact TO scrapersky_engine", "table contact: grant SELECT, UPDATE to scrapersky_engine"),
    ("REVOKE SELECT ON contact FROM scrapersky_app", "table contact: grant DELETE, INSERT, UPDATE to scrapersky_app"),
    ("DROP INDEX contact_by_phone", "missing: index contact_by_phone"),
    ("ALTER TABLE contact DROP CONSTRAINT contact_verdict_check", "missing: constraint contact.contact_verdict_check"),
    ("DROP TRIGGER contact_suppression ON contact", "missing: trigger contact.contact_suppression"),
    ("ALTER TABLE contact DISABLE TRIGGER contact_suppression", "(disabled or changed)"),
    ("ALTER FUNCTION place_deep_scan_enqueue() OWNER TO CURRENT_USER", "owner login role"),
    ("ALTER FUNCTION place_deep_scan_enqueue() RESET search_path", "function place_deep_scan_enqueue()"),
    (
        "CREATE OR REPLACE FUNCTION place_deep_scan_clear_due_at() RETURNS trigger LANGUAGE plpgsql "
        "AS 'BEGIN RETURN NEW; END'",
        "missing: function place_deep_scan_clear_due_at(): returns trigger",
    ),
    ("DROP SEQUENCE place_deep_scan_notified", "missing: sequence place_deep_scan_notified"),
    ("DROP TABLE search_journal", "missing: table search_journal"),
]


OWN_ADDITIONS = [
    "CREATE INDEX contact_for_my_report ON contact (title)",
    "CREATE UNIQUE INDEX tenant_once ON tenant (lower(name))",
    "ALTER TABLE domain ADD CONSTRAINT no_bad CHECK (name <> 'bad.fi')",
    "CREATE TABLE my_report (contact_id uuid REFERENCES contact)",
    "CREATE FUNCTION my_note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "CREATE TRIGGER my_note AFTER INSERT ON contact EXECUTE FUNCTION my_note()",
]


async def differences_after(url: str, statements: list[str]) -> list[str]:
    """The differences that statements make; the statements are rolled back."""

    def compare(connection: Connection) -> list[str]:
        for statement in statements:
            connection.execute(text(statement))
        return SchemaCatalog.read(migrations_folder()).differences(connection)

    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://"))
    async with engine.connect() as connection:
        found = await connection.run_sync(compare)
    await engine.dispose()
    return found


async def test_each_change_of_the_schema_is_named(database_url):
    assert await differences_after(database_url, []) == []
    for statement, named in CHANGES:
        found = await differences_after(database_url, [statement])
        assert any(named in line for line in found), (statement, found)


async def test_own_tables_indexes_constraints_and_triggers_may_be_added(database_url):
    assert await differences_after(database_url, OWN_ADDITIONS) == []


async def test_another_schema_than_that_of_the_revision_is_refused_by_the_start_and_by_the_migration(database, admin):
    await check_schema(database)
    await admin.execute("ALTER TABLE contact DROP COLUMN degree")
    for act in (check_schema, migrate):
        with pytest.raises(SchemaDiffers, match=r"missing: table contact: column degree text.*Undo these changes"):
            await act(database)


async def test_a_command_says_in_one_sentence_what_differs(line: Command, admin):
    await admin.execute("ALTER TABLE contact DROP COLUMN degree")
    said = await line("status")
    assert said.code == 2
    assert "The schema of the database is not the one that its revision makes." in said.sentence
    assert "column degree text" in said.sentence
