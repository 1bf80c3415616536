"""The dump, the picture and the page of the schema are up to date."""

import asyncio
import re
from pathlib import Path

from scripts.draw_schema import draw
from scripts.dump_schema import dump, migrate_empty

from scrapersky.core.schema.catalog import FILE_NAME
from scrapersky.core.schema.migrations import migrations_folder
from scrapersky.models import Base
from tests.conftest import Server, numbers

DOCS = Path(__file__).parents[3] / "docs"
CURE = "run `make schema` and commit what it wrote"


async def test_the_dump_is_that_of_a_migrated_database(server: Server) -> None:
    name = f"dump_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name}")
    catalog = await migrate_empty(server.url(name))
    dumped = await asyncio.to_thread(dump, server.url(name))
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    assert dumped == (DOCS / "schema.sql").read_text(), CURE
    assert catalog.text == (migrations_folder() / FILE_NAME).read_text(), CURE


def test_the_picture_shows_every_table_and_every_foreign_key() -> None:
    picture = draw()
    assert picture == (DOCS / "schema.svg").read_text(), CURE
    tables = Base.metadata.tables.values()
    assert {table.name for table in tables} == set(re.findall(r'class="name"[^>]*>(\w+)<', picture))
    keys = {f"{key.parent.table.name}.{key.parent.name}" for table in tables for key in table.foreign_keys}
    drawn = set(re.findall(r"<title>([\w.]+) ", picture))
    assert {key for key in keys if not key.endswith(".tenant_id")} == drawn
    assert {key for key in keys if key.endswith(".tenant_id")} == {
        f"{table.name}.tenant_id" for table in tables if "tenant_id" in table.columns
    }, "the picture shows the tenant by colour: each tenant_id must refer to the tenant"


def test_the_page_has_a_sentence_for_every_table() -> None:
    section = (DOCS / "schema.md").read_text().partition("## Tables")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \| \S.*\|$", section, re.MULTILINE)
    assert sorted(listed) == sorted(Base.metadata.tables)
