"""The statements of leads are complete: EXPLAIN takes them as they are."""

from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from scrapersky.core.database import Database
from scrapersky.store.leads.filters import LEAD_FILTERS
from scrapersky.store.leads.read import LOWEST_ID, LeadQuery
from scrapersky.store.leads.statements import Searches, file_statements, page_statements

VALUES = {"flag": True, "moment": "2026-11-15T12:00:00+00:00", "rating": 4.5}
ALL = {name: VALUES.get(each.kind, ["fi"]) for name, each in LEAD_FILTERS.items()}
PARAMETERS = {
    **LeadQuery((uuid4(),), filters=ALL).parameters,
    "key": LOWEST_ID,
    "subkey": LOWEST_ID,
    "max_rows": 50,
}
STATEMENTS = {
    f"{form} by {per}, part {part}, {len(names)} filters, of {'one' if is_one else 'several'}": statement
    for per in ("business", "contact")
    for names in ((), tuple(sorted(ALL)))
    for is_one in (True, False)
    for form, statements in (
        ("file", file_statements(per, names, (), Searches(is_one))),
        ("sorted file", file_statements(per, names, ("-business", "domain"), Searches(is_one))),
        ("page", page_statements(per, names, Searches(is_one))),
    )
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
    if "file by business" in name:
        assert plan.startswith("Nested Loop"), "the rows are not sorted: they are read in the order of their owners"
    for function in ("business_name(", "without_tracking(", "without_home_page_words(", "business_status_text("):
        assert function not in plan
