"""The pipeline: the workflows in their order, looked up by name or queue."""

from collections.abc import Iterator, Sequence
from typing import Any

from scrapersky.core.errors import UnknownName
from scrapersky.engine.queue import Queue
from scrapersky.engine.workflow import Workflow


class UnknownWorkflow(UnknownName):
    """There is no workflow of this name."""


class Pipeline:
    """The workflows of the line. Construction checks unique names, known feeds and existing columns."""

    def __init__(self, workflows: Sequence[Workflow[Any, Any, Any]]) -> None:
        self._workflows = {workflow.name: workflow for workflow in workflows}
        if len(self._workflows) < len(workflows):
            raise TypeError("two workflows have the same name")
        self.queues = {workflow.name: Queue(workflow) for workflow in workflows}
        for workflow in workflows:
            for fed in (*filter(None, [workflow.feeds]), *workflow.also_feeds):
                if fed not in self._workflows:
                    raise TypeError(f"{workflow.name} feeds {fed}, which is not in the pipeline")

    def __iter__(self) -> Iterator[Workflow[Any, Any, Any]]:
        return iter(self._workflows.values())

    def __len__(self) -> int:
        return len(self._workflows)

    def __getitem__(self, name: str) -> Workflow[Any, Any, Any]:
        if name not in self._workflows:
            raise UnknownWorkflow(f"{name!r} is not one of {', '.join(self._workflows)}.")
        return self._workflows[name]

    def by_queue(self, queue: str) -> Workflow[Any, Any, Any] | None:
        """Return the workflow of `table.queue`, the name used in notifications and dead letters."""
        return next((workflow for workflow in self if self.queues[workflow.name].name == queue), None)

    def next_queue(self, workflow: Workflow[Any, Any, Any]) -> Queue | None:
        """Return the queue that this workflow feeds."""
        return self.queues[workflow.feeds] if workflow.feeds else None
