"""Whether the search of a row lets a browser read its pages."""

from uuid import UUID

from sqlalchemy import text

from scrapersky.core.database import Database

# A row without a search follows the default rules.
_MAY_DRAW = text("""
SELECT coalesce(s.rules ->> 'browser', 'needed') <> 'off' FROM domain d LEFT JOIN search s ON s.id = d.search_id
WHERE d.id = :domain""")


class BrowserRules:
    """Reads the rule `browser` of searches; asked only for the few pages that hide."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def may_draw(self, tenant_id: UUID, domain_id: UUID) -> bool:
        """Return whether the search that works on the domain allows a browser."""
        async with self._database.session(tenant_id) as session:
            return bool(await session.scalar(_MAY_DRAW, {"domain": domain_id}))
