"""What the fakes of CRMs have in common: they go wrong to order, and say no with a document."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from scrapersky.core.errors import ScraperSkyError
from scrapersky.sandbox.server.fault_injection import FaultInjector
from scrapersky.sandbox.server.response import Request, Response, json_answer


class SaysNo(ScraperSkyError):
    """An error answer, raised where the request is read."""

    def __init__(self, status: int, message: str, document: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status, self.document = status, dict(document)

    def answer(self) -> Response:
        """The error as it goes over the wire."""
        return json_answer(self.document, self.status)


class FakeService(ABC):
    """One account at somebody else's."""

    def __init__(self, mishaps: Mapping[str, Callable[[], Response]]) -> None:
        self._answers = mishaps
        self._mishaps = FaultInjector(mishaps)

    def fail(self, kind: str, times: int = 1) -> None:
        """The next calls go wrong in this way; see MISHAPS for the ways."""
        self._mishaps.order(kind, times)

    def answer(self, request: Request) -> Response:
        """What it says to a request."""
        try:
            return self._answered(request)
        except SaysNo as error:
            return error.answer()

    def _mishap(self) -> Response | None:
        """What goes wrong this time, if anything does."""
        kind = self._mishaps.next()
        return self._answers[kind]() if kind else None

    @abstractmethod
    def _answered(self, request: Request) -> Response: ...
