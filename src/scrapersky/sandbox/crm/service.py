"""What the fakes of CRMs share: faults on request, and errors as JSON documents."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from scrapersky.core.errors import ScraperSkyError
from scrapersky.sandbox.server.fault_injection import FaultInjector
from scrapersky.sandbox.server.response import Request, Response, json_response


class ServiceError(ScraperSkyError):
    """An error answer, raised where the request is read."""

    def __init__(self, status: int, message: str, document: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status, self.document = status, dict(document)

    def answer(self) -> Response:
        """Return the error as an HTTP response."""
        return json_response(self.document, self.status)


class FakeService(ABC):
    """One account of an external service."""

    def __init__(self, faults: Mapping[str, Callable[[], Response]]) -> None:
        self._answers = faults
        self._faults = FaultInjector(faults)

    def fail(self, kind: str, times: int = 1) -> None:
        """Let the next calls fail in this way, one of FAULTS."""
        self._faults.order(kind, times)

    def answer(self, request: Request) -> Response:
        """Respond to a request."""
        try:
            return self._answered(request)
        except ServiceError as error:
            return error.answer()

    def _fault(self) -> Response | None:
        """Return the injected fault of this call, or None."""
        kind = self._faults.next()
        return self._answers[kind]() if kind else None

    @abstractmethod
    def _answered(self, request: Request) -> Response: ...
