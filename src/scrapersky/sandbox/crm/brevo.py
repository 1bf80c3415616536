"""A fake of Brevo's contacts API: create or update a contact, attributes, limits and errors."""

import json
import re
from collections.abc import Callable
from typing import Any

from scrapersky.sandbox.crm.service import FakeService, ServiceError
from scrapersky.sandbox.server.response import Request, Response, json_response

DEFAULT_KEY = "xkeysib-sandbox-key"
CONTACTS, ATTRIBUTES = "/v3/contacts", "/v3/contacts/attributes"
EMAIL = re.compile(r"[^@\s]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}")


class BrevoError(ServiceError):
    """An error answer of Brevo."""

    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(status, message, {"code": code, "message": message, **more})


def limited() -> Response:
    """Build the 429 response: Brevo's own header instead of Retry-After."""
    headers = {"x-sib-ratelimit-limit": "10", "x-sib-ratelimit-remaining": "0", "x-sib-ratelimit-reset": "7"}
    return Response(429, b'{"code":"too_many_requests","message":"Rate limit"}', "application/json", headers)


FAULTS: dict[str, Callable[[], Response]] = {
    "rate_limit": limited,
    "too_early": lambda: BrevoError(425, "too_early", "Request is being processed").answer(),
    "in_process": lambda: BrevoError(400, "account_in_process", "Account is being processed").answer(),
    "internal": lambda: Response(500, b"", "application/json"),
    "odd_code": lambda: BrevoError(400, "<script>alert(1)</script>", "odd").answer(),
}


class FakeBrevo(FakeService):
    """One account. An attribute that does not exist, or a value of the wrong type, is ignored without an error."""

    def __init__(self, key: str = DEFAULT_KEY) -> None:
        super().__init__(FAULTS)
        self.key = key
        self.attributes = {"FIRSTNAME", "LASTNAME", "SMS"}  # what a new account has
        self.lists = {1, 2}
        self.contacts: dict[str, dict[str, Any]] = {}  # by address, else by ext_id
        self.told: list[dict[str, Any]] = []  # the request bodies

    def _answered(self, request: Request) -> Response:
        if request.headers.get("api-key") != self.key:
            raise BrevoError(401, "unauthorized", "Key not found")
        if (request.method, request.path) == ("GET", ATTRIBUTES):
            listed = [{"name": name, "category": "normal", "type": "text"} for name in sorted(self.attributes)]
            return json_response({"attributes": listed})
        if fault := self._fault():
            return fault
        if (request.method, request.path) == ("POST", CONTACTS):
            return self._create(json.loads(request.body))
        raise BrevoError(405, "method_not_allowed", "Method not allowed")

    def _create(self, asked: dict[str, Any]) -> Response:
        self.told.append(asked)
        email = str(asked.get("email") or asked.get("ext_id", "")).lower()
        if not EMAIL.fullmatch(email) and "email" in asked:
            raise BrevoError(400, "invalid_parameter", "Invalid email address")
        if not email:
            raise BrevoError(400, "missing_parameter", "email, SMS or ext_id is missing")
        if set(asked.get("listIds", [])) - self.lists:
            raise BrevoError(404, "document_not_found", "List ID does not exist")
        if email in self.contacts and not asked.get("updateEnabled"):
            raise self._duplicate("email")
        mobile = asked.get("attributes", {}).get("SMS")
        if mobile and any(known["SMS"] == mobile for mail, known in self.contacts.items() if mail != email):
            raise self._duplicate("SMS")
        is_new = email not in self.contacts
        known = self.contacts.setdefault(email, {"id": 1 + len(self.contacts), "lists": set(), "SMS": None})
        filled = {name: value for name, value in asked.get("attributes", {}).items() if name in self.attributes}
        known.update(filled)
        known["lists"] |= set(asked.get("listIds", []))
        return json_response({"id": known["id"]}, 201) if is_new else Response(204, b"", "application/json")

    def _duplicate(self, what: str) -> BrevoError:
        message = f"{what} is already associated with another Contact"
        return BrevoError(400, "duplicate_parameter", message, metadata={"duplicate_identifiers": [what]})
