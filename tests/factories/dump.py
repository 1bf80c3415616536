"""Everything a database holds, as text: what is not in it is not held."""

from typing import Any


async def dump(admin: Any) -> str:
    """Every row of every table, in small letters."""
    tables = await admin.fetch(
        "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables "
        "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    parts = [
        await admin.fetchval(f"SELECT string_agg('{row['name']}: ' || t::text, E'\\n') FROM {row['name']} t")
        for row in tables
    ]
    return "\n".join(part for part in parts if part).lower()


def lines_with(dumped: str, value: str) -> list[str]:
    """The lines of a dump that hold a value."""
    return [line[:300] for line in dumped.splitlines() if value.lower() in line]
