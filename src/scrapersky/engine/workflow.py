"""A workflow: one declaration and three short methods; everything else is derived from it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

import asyncpg
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.engine.tuning import Tuning

RowT = TypeVar("RowT")
TaskT = TypeVar("TaskT")
FoundT = TypeVar("FoundT")


class Claimed(asyncpg.Record):  # type: ignore[misc]  # asyncpg has no types
    """A claimed row as `read` sees it: the columns named in `reads`, by attribute."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{name} was not read; add it to `reads` of the workflow") from None


@dataclass(frozen=True)
class Produced:
    """The rows that the next workflow gets, and by name the rows that workflows in `also_feeds` get."""

    next: Iterable[UUID]
    also: Mapping[str, Sequence[UUID]] = field(default_factory=dict)


class Workflow(ABC, Generic[RowT, TaskT, FoundT]):
    """One step of the line.

    `read` runs inside the claim, `work` has no database session, `write` shares the transaction of the state change.
    """

    number: ClassVar[int]
    name: ClassVar[str]
    model: ClassVar[type[Any]]
    reads: ClassVar[tuple[str, ...]] = ()
    feeds: ClassVar[str | None] = None
    also_feeds: ClassVar[tuple[str, ...]] = ()  # further workflows; `write_batch` names their rows in Produced
    queue: ClassVar[str] = ""  # the prefix of the columns; defaults to the name
    settings_prefix: ClassVar[str] = ""  # the prefix of the settings; defaults to NAME_SCHEDULER_
    tuning: ClassVar[Tuning] = Tuning()
    reason_code_column: ClassVar[str] = (
        ""  # the column for the `reason_code` of the error that a row was skipped or failed with
    )
    visits_sites: ClassVar[bool] = False  # each row visits a web site: a timeout is the site's, not ours

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "name" in cls.__dict__:
            cls.queue = cls.__dict__.get("queue", cls.name)
            cls.settings_prefix = cls.__dict__.get("settings_prefix", f"{cls.name.upper()}_SCHEDULER_")

    @property
    def table(self) -> str:
        """The table of the rows this workflow processes."""
        return str(self.model.__tablename__)

    @property
    def title(self) -> str:
        """The name as people read it: Deep Scan."""
        return self.name.replace("_", " ").title()

    @property
    def job_id(self) -> str:
        """The id of the scheduler's job."""
        return f"process_{self.name}_queue"

    @property
    def job_name(self) -> str:
        """The name of the scheduler's job."""
        return f"WF{self.number} - {self.title} Queue Processor"

    @property
    def summary(self) -> str:
        """The first line of the class's docstring."""
        return (type(self).__doc__ or "").strip().splitlines()[0]

    @abstractmethod
    def read(self, row: Claimed) -> TaskT:
        """Return what `work` needs from the row; the connection is released right after."""

    @abstractmethod
    async def work(self, task: TaskT) -> FoundT:
        """Do the slow part, without a session. Raise Skip, Later or GiveUp; any other exception is a failure."""

    async def write(self, session: AsyncSession, row: RowT, found: FoundT) -> Iterable[UUID]:
        """Store the result in the transaction that completes the row, as the row's tenant.

        Return the ids of the rows that the next workflow gets: they are queued in the same transaction.
        """
        raise TypeError(f"{self.name} stores nothing: it needs a `write` or a `write_batch`")

    async def write_batch(
        self, session: AsyncSession, found: Sequence[tuple[RowT, FoundT]]
    ) -> Iterable[UUID] | Produced:
        """Store a batch of one tenant; calls `write` for each row unless a workflow overrides it."""
        products: list[UUID] = []
        for row, result in found:
            products.extend(await self.write(session, row, result))
        return products

    @property
    def writes(self) -> bool:
        """Whether completing a row stores anything besides its state."""
        kind = type(self)
        return kind.write is not Workflow.write or kind.write_batch is not Workflow.write_batch
