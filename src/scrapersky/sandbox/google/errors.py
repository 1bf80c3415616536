"""The errors of Google Places: google.rpc.Status with its details."""

from typing import Any

from scrapersky.core.errors import ScraperSkyError
from scrapersky.sandbox.server.response import Response, json_response

SERVICE = "places.googleapis.com"
METHODS = {"searchText": "SearchText", "searchNearby": "SearchNearby", "details": "GetPlace"}


class GoogleError(ScraperSkyError):
    """An error answer of Google, raised where the request is read."""

    def __init__(self, code: int, status: str, message: str, reason: str | None = None, **metadata: str) -> None:
        super().__init__(message)
        self.code, self.status, self.message = code, status, message
        self.reason, self.metadata = reason, metadata

    def answer(self) -> Response:
        """Return the error as an HTTP response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        if self.reason is not None:
            error["details"] = [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": self.reason,
                    "domain": "googleapis.com",
                    "metadata": {"service": SERVICE, **self.metadata},
                },
                {
                    "@type": "type.googleapis.com/google.rpc.LocalizedMessage",
                    "locale": "en-US",
                    "message": self.message,
                },
            ]
        return json_response({"error": error}, self.code)


def invalid(message: str) -> GoogleError:
    """Build the error of an invalid request."""
    return GoogleError(400, "INVALID_ARGUMENT", message)


def key_invalid() -> GoogleError:
    """Build the error of an unknown API key."""
    message = "API key not valid. Please pass a valid API key."
    return GoogleError(400, "INVALID_ARGUMENT", message, "API_KEY_INVALID")


def no_key() -> GoogleError:
    """Build the error of a missing API key."""
    message = (
        "Method doesn't allow unregistered callers (callers without established identity). "
        "Please use API Key or other form of API consumer identity to call this API."
    )
    return GoogleError(403, "PERMISSION_DENIED", message)


def exhausted(method: str, unit: str, limit: int) -> GoogleError:
    """Build the error of too many calls per "minute" or per "day"."""
    name = f"{METHODS[method]}Request"
    message = (
        f"Quota exceeded for quota metric '{name}' and limit '{name} per {unit}' of service "
        f"'{SERVICE}' for consumer 'project_number:100000000001'."
    )
    return GoogleError(
        429,
        "RESOURCE_EXHAUSTED",
        message,
        "RATE_LIMIT_EXCEEDED",
        quota_limit=f"{name}Per{unit.capitalize()}PerProject",
        quota_limit_value=str(limit),
        quota_metric=f"{SERVICE}/{name}",
        quota_unit={"minute": "1/min/{project}", "day": "1/d/{project}"}[unit],
        consumer="projects/100000000001",
    )


def disabled() -> GoogleError:
    """Build the error of an API that is not enabled for the project."""
    message = (
        "Places API (New) has not been used in project 100000000001 before or it is disabled. "
        "Enable it, wait a few minutes for the action to propagate, and retry."
    )
    return GoogleError(403, "PERMISSION_DENIED", message, "SERVICE_DISABLED", consumer="projects/100000000001")


def billing_disabled() -> GoogleError:
    """Build the error of a project without billing."""
    message = "This API method requires billing to be enabled."
    return GoogleError(403, "PERMISSION_DENIED", message, "BILLING_DISABLED", consumer="projects/100000000001")


def blocked(method: str) -> GoogleError:
    """Build the error of a key that may not call this method."""
    message = f"Requests to this API {SERVICE} method google.maps.places.v1.Places.{METHODS[method]} are blocked."
    return GoogleError(403, "PERMISSION_DENIED", message, "API_KEY_SERVICE_BLOCKED")


def not_found() -> GoogleError:
    """Build the error of a place id that no longer exists."""
    message = "The Place ID is no longer valid. Please refresh cached Place IDs as per the documentation."
    return GoogleError(404, "NOT_FOUND", message)


def internal(code: int, status: str, message: str) -> GoogleError:
    """Build Google's internal error."""
    return GoogleError(code, status, message)
