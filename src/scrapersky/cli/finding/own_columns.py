"""The columns of the user's own table of web sites, which come back in the file of leads."""

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
        """Yield the leads with the cells of their web site, without those that name a suppressed address or number."""
        withheld = await suppressions.mentioning(
            session, tenant_id, (cell for cells in self.cells.values() for cell in cells.values())
        )
        async for lead in leads:
            cells = self.cells.get(lead["domain"], {})
            own = ((name, cells.get(column)) for name, column in self.names.items())
            yield {**lead, **{name: None if cell in withheld else cell for name, cell in own}}
