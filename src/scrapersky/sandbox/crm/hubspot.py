"""A fake of HubSpot's contacts API: batch upsert, partial success, two kinds of limits, and errors."""

import json
import re
from collections.abc import Callable
from typing import Any

from scrapersky.sandbox.crm.service import FakeService, ServiceError
from scrapersky.sandbox.server.response import Request, Response, json_response

DEFAULT_TOKEN = "pat-eu1-sandbox-token"  # noqa: S105  # nosec B105 # of the sandbox
UPSERT, CONTACTS = "/crm/v3/objects/contacts/batch/upsert", "/crm/v3/objects/contacts"
SEARCH = f"{CONTACTS}/search"
MAX_INPUTS = 100
EMAIL = re.compile(r"[^@\s]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}")
PROPERTIES = frozenset(
    {
        "email",
        "firstname",
        "lastname",
        "salutation",
        "degree",
        "jobtitle",
        "phone",
        "company",
        "website",
        "city",
        "country",
        "lead_source",
    }
)
CORRELATION = "sandbox"
LIMIT_HEADERS = {
    "X-HubSpot-RateLimit-Daily": "250000",
    "X-HubSpot-RateLimit-Interval-Milliseconds": "10000",
    "X-HubSpot-RateLimit-Max": "100",
}


class HubSpotError(ServiceError):
    """An error answer of HubSpot."""

    def __init__(self, status: int, category: str, message: str, **more: Any) -> None:
        body = {"status": "error", "message": message, "correlationId": CORRELATION, "category": category}
        super().__init__(status, message, {**body, **more})


def limited(policy: str) -> Response:
    """Build the 429 response of the ten-second or the daily limit."""
    body = {
        "status": "error",
        "message": f"You have reached your {policy.lower()} limit.",
        "errorType": "RATE_LIMIT",
        "correlationId": CORRELATION,
        "policyName": policy,
    }
    headers = {**LIMIT_HEADERS, "X-HubSpot-RateLimit-Remaining": "0"}
    return Response(429, json.dumps(body).encode(), "application/json", headers)


FAULTS: dict[str, Callable[[], Response]] = {
    "ten_secondly": lambda: limited("TEN_SECONDLY_ROLLING"),
    "daily": lambda: limited("DAILY"),
    "missing_scopes": lambda: HubSpotError(
        403, "MISSING_SCOPES", "This app hasn't been granted all required scopes to make this call."
    ).answer(),
    "conflict": lambda: HubSpotError(409, "CONFLICT", "Contact already exists. Existing ID: 101").answer(),
    "internal": lambda: HubSpotError(500, "INTERNAL_ERROR", "internal error").answer(),
    "bad_gateway": lambda: Response(502, b"<html>Bad Gateway</html>"),
}


class FakeHubSpot(FakeService):
    """One portal. `strict` refuses a whole batch for one bad contact, as older portals do."""

    def __init__(self, token: str = DEFAULT_TOKEN) -> None:
        super().__init__(FAULTS)
        self.token = token
        self.strict = False
        self.contacts: dict[str, dict[str, Any]] = {}  # by address, else by id
        self.batches: list[int] = []  # the sizes of the upserts that were let in

    def _answered(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            raise HubSpotError(401, "INVALID_AUTHENTICATION", "Authentication credentials not found.")
        if fault := self._fault():
            return fault
        if (request.method, request.path) == ("POST", UPSERT):
            return self._upsert(_read(request))
        if (request.method, request.path) == ("GET", CONTACTS):
            return json_response({"results": list(self.contacts.values())[:1]})
        if (request.method, request.path) == ("POST", SEARCH):
            return self._search(json.loads(request.body))
        if request.method in ("POST", "PATCH") and request.path.startswith(CONTACTS):
            return self._write(request.path.removeprefix(CONTACTS).strip("/"), json.loads(request.body)["properties"])
        raise HubSpotError(404, "OBJECT_NOT_FOUND", "No such path")

    def _search(self, asked: dict[str, Any]) -> Response:
        [same] = asked["filterGroups"][0]["filters"]
        found = [
            each for each in self.contacts.values() if each["properties"].get(same["propertyName"]) == same["value"]
        ]
        return json_response({"total": len(found), "results": found[: asked["limit"]]})

    def _write(self, contact_id: str, properties: dict[str, Any]) -> Response:
        """Create a contact, or change the one with this id; no email address is needed for either."""
        if unknown := set(properties) - PROPERTIES:
            raise _no_property(sorted(unknown)[0])
        known = next((each for each in self.contacts.values() if each["id"] == contact_id), None)
        if contact_id and known is None:
            raise HubSpotError(404, "OBJECT_NOT_FOUND", "No such contact")
        if known is None:
            known = {"id": str(101 + len(self.contacts)), "properties": {}}
            self.contacts[f"id {known['id']}"] = known
        known["properties"].update(properties)
        return json_response(known, 200 if contact_id else 201)

    def _upsert(self, inputs: list[dict[str, Any]]) -> Response:
        if len(inputs) > MAX_INPUTS:
            raise HubSpotError(400, "VALIDATION_ERROR", f"Batch size {len(inputs)} exceeds the limit of {MAX_INPUTS}")
        ids = [str(each["id"]).lower() for each in inputs]
        if len(set(ids)) < len(ids):
            raise HubSpotError(400, "VALIDATION_ERROR", "Duplicate IDs found in batch input")
        for each in inputs:
            if unknown := set(each["properties"]) - PROPERTIES:
                raise _no_property(sorted(unknown)[0])
        bad = [each for each in inputs if not EMAIL.fullmatch(str(each["id"]).lower())]
        if bad and (self.strict or len(bad) == len(inputs)):
            raise HubSpotError(400, "VALIDATION_ERROR", "Invalid input", errors=[_invalid(bad[0])])
        self.batches.append(len(inputs))
        results = [self._store(each) for each in inputs if each not in bad]
        body = {"status": "COMPLETE", "results": results, "startedAt": "", "completedAt": ""}
        if not bad:
            return json_response(body)
        return json_response({**body, "numErrors": len(bad), "errors": [_partial(each) for each in bad]}, 207)

    def _store(self, wanted: dict[str, Any]) -> dict[str, Any]:
        email = str(wanted["id"]).lower()
        is_new = email not in self.contacts
        known = self.contacts.setdefault(email, {"id": str(101 + len(self.contacts)), "properties": {}})
        known["properties"].update(wanted["properties"])
        return {**known, "archived": False, "new": is_new, "objectWriteTraceId": wanted.get("objectWriteTraceId")}


def _read(request: Request) -> list[dict[str, Any]]:
    try:
        inputs = json.loads(request.body)["inputs"]
        if all(each["idProperty"] == "email" and isinstance(each["properties"], dict) for each in inputs):
            return list(inputs)
    except (ValueError, KeyError, TypeError):
        pass
    raise HubSpotError(400, "VALIDATION_ERROR", "Invalid input JSON")


def _no_property(name: str) -> HubSpotError:
    detail = {"isValid": False, "message": f'Property "{name}" does not exist', "error": "PROPERTY_DOESNT_EXIST"}
    return HubSpotError(400, "VALIDATION_ERROR", f"Property values were not valid: {json.dumps([detail])}")


def _invalid(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"message": f"Email address {wanted['id']} is invalid", "code": "INVALID_EMAIL", "in": "email"}


def _partial(wanted: dict[str, Any]) -> dict[str, Any]:
    return {
        "status": "error",
        "category": "VALIDATION_ERROR",
        "message": "Property values were not valid",
        "context": {"ids": [wanted["id"]]},
        "errors": [_invalid(wanted)],
    }
