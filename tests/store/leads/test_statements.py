"""The statements of leads are complete: EXPLAIN takes them as they are."""

from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from scrapersky.core.database import Database
from scrapersky.store.leads.read import LOWEST_ID
from scrapersky.store.leads.statements import FILES, PAGES

PARAMETERS = {"search": uuid4(), "key": LOWEST_ID, "subkey": LOWEST_ID, "max_rows": 50}
STATEMENTS = {
    f"{form} by {per}, part {part}": statement
    for form, kinds in (("file", FILES), ("page", PAGES))
    for per, statements in kinds.items()
    for part, statement in enumerate(statements)
}


@pytest.mark.parametrize("name", STATEMENTS)
async def test_explain_takes_every_statement_and_shows_the_bodies_of_its_functions(
    database: Database, tenant: UUID, name: str
) -> None:
    statement = str(STATEMENTS[name])
    given = {key: value for key, value in PARAMETERS.items() if f":{key}" in statement}
    async with database.session(tenant) as session:
        plan = "\n".join(await session.scalars(text(f"EXPLAIN (VERBOSE, COSTS OFF) {statement}"), given))
    assert "regexp_replace" in plan
    for function in ("business_name(", "without_tracking(", "without_home_page_words(", "business_status_text("):
        assert function not in plan
