"""The columns of the user's own table of web sites, which the file of leads repeats."""

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.cli.finding.site_list import SiteList
from scrapersky.store.privacy import suppressions

PREFIX = "own_"  # of a column that a file of leads has, too


@dataclass(frozen=True)
class OwnColumns:
    """The names of the columns in the file of leads with those in the table, and the cells of each web site."""

    names: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sites: SiteList | None, taken: Collection[str]) -> Self:
        """Return the columns of a list; a name that is `taken` by a file of leads, in any case, gets a prefix."""
        if sites is None:
            return cls()
        used = {name.casefold() for name in taken}
        names: dict[str, str] = {}
        for column in sites.columns:
            name = column
            while name.casefold() in used:
                name = PREFIX + name
            used.add(name.casefold())
            names[name] = column
        return cls(names, sites.cells)

    async def beside(
        self, session: AsyncSession, tenant_id: UUID, leads: AsyncIterator[dict[str, Any]]
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the leads with the cells of their web site, without those that may name somebody who is suppressed.

        Those are all cells of a site that name a withheld person of it; and where a cell has a suppressed address or
        number, whose owner may have any name, all cells of the site but ids: one word with a digit.
        """
        written = [(site, cell) for site, cells in self.cells.items() for cell in cells.values()]
        points = await suppressions.mentioning(session, tenant_id, (cell for _, cell in written))
        sites = {site for site, cell in written if cell in points}
        withheld = await suppressions.naming(session, tenant_id, written)
        withheld |= {(site, cell) for site, cell in written if cell in points or (site in sites and not _is_id(cell))}
        async for lead in leads:
            site = lead["domain"]
            cells = self.cells.get(site, {})
            own = ((name, cells.get(column)) for name, column in self.names.items())
            yield {**lead, **{name: None if (site, cell) in withheld else cell for name, cell in own}}


def _is_id(cell: str) -> bool:
    return " " not in cell and any(character.isdigit() for character in cell)
