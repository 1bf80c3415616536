"""Brevo: contacts are created or updated one by one, with the attributes that exist in the account."""

import time
from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.destinations.errors import ContactRefused, DestinationClosed, Receipt, Throttled, TryLater
from scrapersky.destinations.field_mapping import Fact, fields_of
from scrapersky.destinations.http_sender import HttpResult, HttpSender, as_json
from scrapersky.destinations.kind import DestinationAdapter, DestinationKind, Endpoint, Options, SecretRule
from scrapersky.destinations.payload import Message

BASE_URL = "https://api.brevo.com"
CONTACTS, ATTRIBUTES = "/v3/contacts", "/v3/contacts/attributes"
ATTRIBUTES_SECONDS = 600.0  # how long the names of the attributes are cached
DEFAULT_WAIT = timedelta(seconds=60)
SHORT_WAIT = timedelta(seconds=10)
ACCOUNT_ERRORS = {  # codes about the account, not about one contact
    "document_not_found": "Brevo has no list with an id of the option `list_ids`. Correct the option.",
    "permission_denied": "Brevo does not permit this API key to write contacts. Set another API key as the `secret`.",
    "account_under_validation": "Brevo is validating the account. Enable the destination when this is finished.",
}
CONTACT_ERRORS = frozenset(
    {"invalid_parameter", "missing_parameter", "duplicate_parameter", "out_of_range", "method_not_allowed"}
)

# The default attribute of each fact.
FIELDS = {
    **{each.name: each.brevo for each in CONTACT_FIELDS if each.brevo},
    "business": "COMPANY",
    "website": "WEBSITE",
    "city": "CITY",
    "country": "COUNTRY",
    "source_url": "SOURCE_URL",
}


class BrevoOptions(Options):
    """The lists that new contacts are added to, and the attribute of each fact."""

    list_ids: list[Annotated[int, Field(ge=1, le=2**53)]] = Field(default_factory=list, max_length=50)
    fields: dict[Fact, Annotated[str, StringConstraints(pattern="^[A-Z][A-Z0-9_]{0,99}$")] | None] = Field(
        default_factory=dict
    )


class Brevo(DestinationAdapter):
    """One account. Its batch update skips unknown contacts and its import reports no single results: one by one."""

    def __init__(self, http: HttpSender, endpoint: Endpoint) -> None:
        super().__init__(http, endpoint)
        self._fields = fields_of(endpoint, FIELDS)
        self._attributes: frozenset[str] = frozenset()
        self._attributes_until = 0.0

    async def deliver(self, message: Message) -> Receipt:
        """Create the contact, or update the one with this email address."""
        existing = await self._existing_attributes()
        values = message.payload.mapped(self._fields)
        email = message.payload.email
        body: dict[str, Any] = {
            # Without an email address, our own id makes an update of what would be a second contact.
            **({"email": email.lower()} if email else {"ext_id": str(message.payload.contact_id)}),
            "attributes": {name: value for name, value in values.items() if name in existing},
            "updateEnabled": True,
        }
        if list_ids := self._endpoint.options.get("list_ids"):
            body["listIds"] = list(list_ids)
        response = await self._send("POST", CONTACTS, as_json(body))
        external_id = response.json.get("id")  # the response to an update has none
        return Receipt(str(external_id) if external_id is not None else None)

    async def test(self) -> str:
        """Read the attributes: this changes nothing and shows whether the API key is accepted."""
        self._attributes_until = 0.0
        existing = await self._existing_attributes()
        missing = sorted({name for name in self._fields.values() if name} - existing)
        return "Brevo accepts the API key." + (f" It has no attributes {', '.join(missing)}." if missing else "")

    async def _existing_attributes(self) -> frozenset[str]:
        if time.monotonic() >= self._attributes_until:
            listed = (await self._send("GET", ATTRIBUTES)).json.get("attributes") or []
            self._attributes = frozenset(str(each.get("name")) for each in listed if isinstance(each, dict))
            self._attributes_until = time.monotonic() + ATTRIBUTES_SECONDS
        return self._attributes

    async def _send(self, method: str, path: str, body: bytes | None = None) -> HttpResult:
        url = (self._endpoint.url or BASE_URL).rstrip("/") + path
        headers = {"api-key": next(iter(self._endpoint.secrets), ""), "Accept": "application/json"}
        response = await self._http.send(method, url, headers=headers, body=body)
        raise_for_status(response)
        return response


BREVO = DestinationKind(
    name="brevo",
    label="Brevo",
    protocol="create or update a contact and add it to lists, one contact per request",
    adapter=Brevo,
    secret=SecretRule("API key"),
    url="only for another base URL",
    base_url=BASE_URL,
    options=BrevoOptions,
)


def raise_for_status(response: HttpResult) -> None:
    """Raise the error that a status other than success stands for."""
    if response.is_success:
        return
    code = str(response.json.get("code", ""))
    if response.status == 401:
        raise DestinationClosed("Brevo rejects the API key (401). Set an API key of the account as the `secret`.")
    if code in ACCOUNT_ERRORS or response.status == 403:
        raise DestinationClosed(ACCOUNT_ERRORS.get(code, ACCOUNT_ERRORS["permission_denied"]))
    if response.status == 429:
        raise Throttled("Brevo limits the rate of requests (429).", _rate_limit_reset(response) or DEFAULT_WAIT)
    if response.status == 425 or code == "account_in_process":
        raise TryLater(f"Brevo is not ready for this request yet ({response.status}).", SHORT_WAIT)
    if response.status == 400:
        raise ContactRefused(f"Brevo refuses this contact: {code if code in CONTACT_ERRORS else 'no known reason'}.")
    raise TryLater(f"Brevo responded with status {response.status}.", response.retry_after)


def _rate_limit_reset(response: HttpResult) -> timedelta | None:
    """Return the time until the next rate limit window: Brevo gives it in seconds in its own header."""
    seconds = response.headers.get("x-sib-ratelimit-reset", "").strip()
    return timedelta(seconds=int(seconds[:9])) if seconds.isascii() and seconds.isdigit() else response.retry_after
