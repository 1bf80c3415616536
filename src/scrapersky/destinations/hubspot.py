"""HubSpot: contacts are upserted by email address, many in one request; each contact has its own result."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from scrapersky.core.batcher import Batcher
from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.destinations.errors import (
    ContactRefused,
    DestinationClosed,
    NotDelivered,
    Receipt,
    Throttled,
    TryLater,
)
from scrapersky.destinations.field_mapping import Fact, fields_of
from scrapersky.destinations.http_sender import HttpResult, HttpSender, as_json
from scrapersky.destinations.kind import DestinationAdapter, DestinationKind, Endpoint, Options, SecretRule
from scrapersky.destinations.payload import Message

BASE_URL = "https://api.hubapi.com"
UPSERT = "/crm/v3/objects/contacts/batch/upsert"
CONTACTS, SEARCH = "/crm/v3/objects/contacts", "/crm/v3/objects/contacts/search"
ONE_CONTACT = f"{CONTACTS}?limit=1"
BATCH_SIZE = 100
IDLE_SECONDS = 0.15  # a queue hands out its rows in several chunks: wait for the next chunk before a batch is sent

ERROR_CODE = re.compile(r"\b[A-Z]{3,30}(?:_[A-Z]{1,30}){0,6}\b")
DEFAULT_WAIT = timedelta(seconds=10)
DAILY_WAIT = timedelta(hours=1)  # the quota of the day is used up: try again once an hour
NO_PROPERTY = "PROPERTY_DOESNT_EXIST"

# The default property of each fact.
FIELDS = {
    **{each.name: each.hubspot for each in CONTACT_FIELDS if each.hubspot},
    "business": "company",
    "website": "website",
    "city": "city",
    "country": "country",
}


class HubSpotOptions(Options):
    """The property of each fact; null leaves the fact out."""

    fields: dict[Fact, Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,99}$")] | None] = Field(
        default_factory=dict
    )


class HubSpot(DestinationAdapter):
    """One portal, accessed with the token of a private app."""

    def __init__(self, http: HttpSender, endpoint: Endpoint) -> None:
        super().__init__(http, endpoint)
        self._fields = fields_of(endpoint, FIELDS)
        self._batcher: Batcher[Message, Receipt] = Batcher(
            self._upsert,
            key=_email_of,
            max_size=BATCH_SIZE,
            idle_seconds=IDLE_SECONDS,
        )

    async def deliver(self, message: Message) -> Receipt:
        """Upsert the contact, in one request with others that are delivered at the same time."""
        if message.payload.email is None:
            return await self._write_by_phone(message)
        return await self._batcher.add(message)

    async def test(self) -> str:
        """Read one contact: this changes nothing and shows whether the token is accepted."""
        raise_for_status(await self._send("GET", ONE_CONTACT))
        return "HubSpot accepts the access token."

    async def close(self) -> None:
        """Cancel what is in flight."""
        await self._batcher.close()

    async def _upsert(self, messages: Sequence[Message]) -> Sequence[Receipt | Exception]:
        response = await self._send("POST", UPSERT, as_json({"inputs": [self._input(each) for each in messages]}))
        if response.status == 400 and len(messages) > 1:
            return [await self._upsert_alone(message) for message in messages]  # one of them makes all of them fail
        raise_for_status(response)
        return _results(messages, response.json)

    async def _write_by_phone(self, message: Message) -> Receipt:
        """Update the contact that has this phone number, else create one: an upsert needs an email address."""
        phone, name = message.payload.phone, self._fields.get("phone")
        if not phone or not name:
            raise ContactRefused("Without an email address HubSpot needs a phone number: map `phone` in `fields`.")
        same = {"propertyName": name, "operator": "EQ", "value": phone}
        found = await self._send("POST", SEARCH, as_json({"filterGroups": [{"filters": [same]}], "limit": 1}))
        raise_for_status(found)
        known = next((str(each.get("id")) for each in _objects(found.json.get("results"))), "")
        method, path = ("PATCH", f"{CONTACTS}/{known}") if known.isalnum() else ("POST", CONTACTS)
        written = await self._send(method, path, as_json({"properties": message.payload.mapped(self._fields)}))
        raise_for_status(written)
        return Receipt(str(written.json.get("id") or "") or None)

    async def _upsert_alone(self, message: Message) -> Receipt | Exception:
        try:
            [result] = await self._upsert([message])
        except NotDelivered as error:
            return error
        return result

    def _input(self, message: Message) -> dict[str, Any]:
        email = _email_of(message)
        return {
            "idProperty": "email",
            "id": email,
            "objectWriteTraceId": message.message_id,
            "properties": {"email": email, **message.payload.mapped(self._fields)},
        }

    async def _send(self, method: str, path: str, body: bytes | None = None) -> HttpResult:
        url = (self._endpoint.url or BASE_URL).rstrip("/") + path
        token = next(iter(self._endpoint.secrets), "")
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        return await self._http.send(method, url, headers=headers, body=body)


HUBSPOT = DestinationKind(
    name="hubspot",
    label="HubSpot",
    protocol=f"batch upsert of contacts by email address, up to {BATCH_SIZE} in a request; by phone number without one",
    adapter=HubSpot,
    secret=SecretRule(
        "access token of a private app with the scopes `crm.objects.contacts.read` and `crm.objects.contacts.write`"
    ),
    url="only for another base URL",
    base_url=BASE_URL,
    options=HubSpotOptions,
    max_in_flight=2 * BATCH_SIZE,  # one batch in flight while the next one is collected
)


def _results(messages: Sequence[Message], response: Mapping[str, Any]) -> Sequence[Receipt | Exception]:
    """Return the result of each message, found by the trace id that was sent, else by the email address."""
    ids: dict[str, str] = {}
    for result in _objects(response.get("results")):
        external_id = str(result.get("id") or "")
        ids[str(result.get("objectWriteTraceId"))] = external_id
        ids[str((result.get("properties") or {}).get("email", "")).lower()] = external_id
    errors = {name: _contact_error(error) for error in _objects(response.get("errors")) for name in _named_in(error)}
    return [_result(message, ids, errors) for message in messages]


def _result(message: Message, ids: Mapping[str, str], errors: Mapping[str, Exception]) -> Receipt | Exception:
    for name in (message.message_id, _email_of(message)):
        if ids.get(name):
            return Receipt(ids[name])
        if name in errors:
            return errors[name]
    return TryLater("The response of HubSpot has no result for this contact.")


def _email_of(message: Message) -> str:
    return (message.payload.email or "").lower()


def _named_in(error: Mapping[str, Any]) -> set[str]:
    """Return the trace ids and email addresses that an error refers to."""
    context = error.get("context") or {}
    named = [error.get("objectWriteTraceId"), *(value for values in context.values() for value in _as_list(values))]
    return {str(name) for name in named if name} | {str(name).lower() for name in named if name}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in _as_list(value) if isinstance(each, dict)]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# -- errors ------------------------------------------------------------------------------------------------------------


def raise_for_status(response: HttpResult) -> None:
    """Raise the error that a status other than success stands for, for the whole request."""
    if response.is_success:
        return
    match response.status:
        case 401:
            raise DestinationClosed(
                "HubSpot rejects the access token (401). Set the access token of the private app as the `secret`."
            )
        case 403:
            raise DestinationClosed(
                "HubSpot does not permit this access token (403). Give the private app the scopes "
                "crm.objects.contacts.read and crm.objects.contacts.write."
            )
        case 429:
            raise _throttled(response)
        case 400:
            raise _bad_request(response.json)
    raise TryLater(f"HubSpot responded with status {response.status}.", response.retry_after)


def _contact_error(error: Mapping[str, Any]) -> ContactRefused | TryLater:
    """Build the error of one contact of a batch."""
    codes = _error_codes(error)
    refused = _refused(codes)
    return refused if "VALIDATION_ERROR" in codes or not codes else TryLater(str(refused))


def _throttled(response: HttpResult) -> Throttled:
    if str(response.json.get("policyName")) == "DAILY":
        return Throttled("The quota of HubSpot requests in a day is used up.", DAILY_WAIT)
    interval = response.headers.get("X-HubSpot-RateLimit-Interval-Milliseconds", "")
    wait = timedelta(milliseconds=int(interval[:9])) if interval.isascii() and interval.isdigit() else DEFAULT_WAIT
    return Throttled("HubSpot limits the rate of requests (429).", response.retry_after or wait)


def _bad_request(body: Mapping[str, Any]) -> ContactRefused | DestinationClosed:
    codes = _error_codes(body)
    if NO_PROPERTY in codes:
        return DestinationClosed(
            f"HubSpot has no property of a name that is written ({NO_PROPERTY}). "
            "Create the property there, or leave it out with the option `fields`."
        )
    return _refused(codes)


def _refused(codes: Sequence[str]) -> ContactRefused:
    return ContactRefused(f"HubSpot refuses this contact: {', '.join(codes) or 'no known reason'}.")


def _error_codes(body: Mapping[str, Any]) -> list[str]:
    """Return the error codes in order. Other text of the response can contain anything and is not repeated."""
    details = [each for each in body.get("errors") or [] if isinstance(each, dict)]
    texts = [body.get("category"), body.get("subCategory"), *(each.get("code") for each in details)]
    texts += [body.get("message"), *(each.get("message") for each in details)]
    codes = (code for text in texts for code in ERROR_CODE.findall(str(text or "")[:2000]) if "_" in code)
    return list(dict.fromkeys(codes))[:4]
