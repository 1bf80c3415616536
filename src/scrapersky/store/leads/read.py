"""The leads of a search, streamed for a file or read page by page: one row per business or one per contact."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import BadRequest, UnknownName
from scrapersky.core.vocabularies import JobFunction, parse_functions
from scrapersky.store.leads.business_row import business_row
from scrapersky.store.leads.columns import BUSINESS_COLUMNS, BUSINESS_FACTS, CONTACT_COLUMNS
from scrapersky.store.leads.filters import LEAD_FILTERS, Filters, bound_values
from scrapersky.store.leads.statements import Searches, file_statements, page_statements

Per = Literal["business", "contact"]


class UnknownFunction(BadRequest):
    """There is no such function."""

    status_code = 422
    fields = ("prefer",)


def preferred_functions(given: str | None, default: str) -> tuple[JobFunction, ...]:
    """Return the functions that were given, else those of the setting. Raises UnknownFunction with the choices."""
    try:
        return parse_functions(default if given is None else given)
    except ValueError as error:
        raise UnknownFunction(f"prefer {error}.") from None


LOWEST_ID = UUID(int=0)
ROWS_PER_FETCH = 500
FILE_SECONDS = 300  # of a statement that sorts all leads of a search; requests and commands have less for others
_TIMEOUT = text("SELECT current_setting('statement_timeout')")
_SET_TIMEOUT = text("SELECT set_config('statement_timeout', :timeout, true)")


@dataclass(frozen=True)
class Position:
    """The position of a row in the list of leads: the part, and the two ids that order the rows of that part."""

    part: int = 0
    key: UUID = LOWEST_ID
    subkey: UUID = LOWEST_ID


class UnknownColumn(UnknownName):
    """There is no such column."""

    status_code = 422


class RepeatedColumn(BadRequest):
    """A column is named twice."""

    status_code = 422


@dataclass(frozen=True)
class LeadQuery:
    """Which leads are wanted: of these searches, those that match all filters, each with its best contact."""

    searches: tuple[UUID, ...]
    per: Per = "business"
    preferred: Sequence[str] = ()  # functions whose contacts are the best, such as marketing
    filters: Filters = field(default_factory=dict)
    sort: tuple[str, ...] = ()  # columns of `sorts_of`, those to be sorted from the last to the first with a minus sign

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the filters, in one order."""
        return tuple(sorted(self.filters))

    @property
    def chooses_contacts(self) -> bool:
        """Whether its filters choose among the contacts of a business."""
        return any(not LEAD_FILTERS[name].of_business for name in self.filters if LEAD_FILTERS[name].of_contact)

    @property
    def parameters(self) -> dict[str, Any]:
        """The values that its statements bind."""
        return {"searches": list(self.searches), **bound_values(self.filters)}


def columns_of(per: Per) -> Mapping[str, str]:
    """Return the columns of a file with one row per business or per contact, each with its meaning."""
    return BUSINESS_COLUMNS if per == "business" else CONTACT_COLUMNS


def sorts_of(per: Per) -> list[str]:
    """Return the columns that a file can be sorted by."""
    if per == "business":
        return [fact.name for fact in BUSINESS_FACTS.values() if fact.is_sortable]
    return [name for name in CONTACT_COLUMNS if name != "snippet"]


def chosen_columns(per: Per, given: str | None, own: Iterable[str] = ()) -> list[str]:
    """Return the columns of a file in the order that was given, else all, the own ones first. Raises UnknownColumn."""
    every = [*own, *columns_of(per)]
    return _known(given, every, f"columns of leads per {per}") or every


def parse_sort(per: Per, given: str | None) -> tuple[str, ...]:
    """Return the sort keys that were given. Raises UnknownColumn."""
    return tuple(_known(given, sorts_of(per), f"columns that leads per {per} can be sorted by", sign="-"))


def _known(given: str | None, names: Sequence[str], what: str, sign: str = "") -> list[str]:
    """Return the names of a list with commas, in any case. Raises UnknownColumn if one is none of these names, or
    RepeatedColumn."""
    words = [word for each in (given or "").split(",") if (word := each.strip())]
    any_case = {name.casefold(): name for name in reversed(names)}
    found: dict[str, str] = {}
    for word in words:
        asked = word.removeprefix(sign) if sign else word
        name = asked if asked in names else any_case.get(asked.casefold())
        if name is None:
            raise UnknownColumn(f"{word[:60]!r} is not one of the {what}: {', '.join(names)}.")
        if name in found:
            raise RepeatedColumn(f"{name!r} is named twice: leave it out once.")
        found[name] = word.removesuffix(asked) + name
    return list(found.values())


async def leads(
    session: AsyncSession, search: LeadQuery | UUID | str, per: Per = "business", preferred: Sequence[str] = ()
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the rows of a query, or of one search, from a server-side cursor, in the order of a file."""
    query = _query(search, per, preferred)
    before = await session.scalar(_TIMEOUT)
    await session.execute(_SET_TIMEOUT, {"timeout": f"{FILE_SECONDS}s"})
    people_first = query.chooses_contacts
    for statement in file_statements(query.per, query.names, query.sort, Searches(len(query.searches) == 1)):
        result = await session.stream(statement, query.parameters, execution_options={"yield_per": ROWS_PER_FETCH})
        names = list(result.keys())
        # Without its size a partition has all rows.
        async for rows in result.partitions(ROWS_PER_FETCH):
            for row in rows:
                lead = dict(zip(names, row, strict=True))
                del lead["list_key"], lead["list_subkey"]
                yield lead if query.per == "contact" else business_row(lead, query.preferred, people_first=people_first)
    await session.execute(_SET_TIMEOUT, {"timeout": before})


async def page(
    session: AsyncSession,
    search: LeadQuery | UUID | str,
    per: Per,
    after: Position,
    max_rows: int,
    preferred: Sequence[str] = (),
) -> list[tuple[dict[str, Any], Position]]:
    """Return up to `max_rows` rows after a position, each with its own position, so that no row comes twice."""
    query = _query(search, per, preferred)
    found: list[tuple[dict[str, Any], Position]] = []
    statements = page_statements(query.per, query.names, Searches(len(query.searches) == 1))
    for part, statement in enumerate(statements):
        if part < after.part or len(found) == max_rows:
            continue
        start = after if part == after.part else Position(part)
        values = {"key": start.key, "subkey": start.subkey, "max_rows": max_rows - len(found)}
        rows = await session.execute(statement, {**query.parameters, **values})
        found += [_lead({**row}, part, query) for row in rows.mappings()]
    return found


def _query(search: LeadQuery | UUID | str, per: Per, preferred: Sequence[str]) -> LeadQuery:
    """Return the query; of one search, if only its id is given."""
    return search if isinstance(search, LeadQuery) else LeadQuery((UUID(str(search)),), per, preferred)


def _lead(lead: dict[str, Any], part: int, query: LeadQuery) -> tuple[dict[str, Any], Position]:
    position = Position(part, lead.pop("list_key"), lead.pop("list_subkey"))
    if query.per == "business":
        lead = business_row(lead, query.preferred, people_first=query.chooses_contacts)
    return lead, position
