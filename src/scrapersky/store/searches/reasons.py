"""Why rows of a search were left behind: the sentence they have in common, without what differs from row to row."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.searches.searches import PARTS

Reason = tuple[str, str, str, int]  # step, status, reason, rows


async def top_reasons(session: AsyncSession, search_id: UUID, most: int = 8) -> list[Reason]:
    """Why rows of this search were skipped, given up or put off, the commonest first."""
    rows = await session.execute(_REASONS, {"search": search_id, "most": most})
    return [(row.workflow, row.status, row.reason, row.rows) for row in rows]


# Sites and numbers differ from row to row; the sentence around them is the reason, with what a server said.
_SITE = (
    r"https?://[^[:space:]]*[^[:space:].,;:)]"
    r"|\m(?!robots[.]txt\M|sitemap[^[:space:]]*[.]xml\M)[[:alnum:]@_-]+([.][[:alnum:]@_-]+)*[.]([a-z]{2,}|[0-9]+)(:[0-9]+)?\M"
)
_NUMBER = r"\m(?![345][0-9][0-9]\M(?! (s|ms|seconds|minutes|bytes|KB|MB)\M))[0-9]+([.,][0-9]+)*"


def _reasons_of(workflow: str, table: str, queue: str, mine: str) -> str:
    said = f"coalesce(t.{queue}_error, '')"
    reason = f"regexp_replace(regexp_replace({said}, '{_SITE}', 'a site', 'gi'), '{_NUMBER}', '…', 'g')"
    return (
        f"SELECT '{workflow}' AS workflow, t.{queue}_status AS status, {reason} AS reason, {said} AS said "  # noqa: S608
        f"FROM {table} t WHERE {mine} AND (t.{queue}_status IN ('Skipped', 'Error') "
        f"OR (t.{queue}_status = 'Queued' AND t.{queue}_error IS NOT NULL))"
    )


_REASONS = text(
    "SELECT workflow, status, CASE WHEN min(said) = max(said) THEN min(said) ELSE reason END AS reason, "  # noqa: S608
    f"count(*) AS rows FROM ({' UNION ALL '.join(_reasons_of(*p) for p in PARTS)}) r "
    "GROUP BY workflow, status, r.reason ORDER BY 4 DESC, 1, 3 LIMIT :most"
)
