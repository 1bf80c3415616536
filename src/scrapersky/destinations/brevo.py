"""Brevo: contacts are created or updated one by one, with the attributes that exist there and no others."""

import time
from datetime import timedelta
from typing import Any

from scrapersky.destinations.endpoint import Endpoint
from scrapersky.destinations.errors import ContactRefused, DestinationClosed, Receipt, Throttled, TryLater
from scrapersky.destinations.http_sender import HttpResult, HttpSender, as_json
from scrapersky.destinations.payload import Message

BASE_URL = "https://api.brevo.com"
CONTACTS, ATTRIBUTES = "/v3/contacts", "/v3/contacts/attributes"
REMEMBERED_SECONDS = 600.0  # how long the names of the attributes are taken to be the same
MANY = timedelta(seconds=60)
SOON = timedelta(seconds=10)
BEYOND_ONE_CONTACT = {  # codes that are about the account, not about a contact, and the cure
    "document_not_found": "Brevo does not know a list of the option `list_ids`. Correct it.",
    "permission_denied": "Brevo does not let this key in. Make a new key and enter it.",
    "account_under_validation": "Brevo is still looking at the account. Enable the destination when that is over.",
}
KNOWN_CODES = frozenset(
    {"invalid_parameter", "missing_parameter", "duplicate_parameter", "out_of_range", "method_not_allowed"}
)

# Which of our facts goes into which attribute; the option `fields` overrules it, null leaves a fact out. A number is
# no SMS by default: Brevo takes mobile numbers only there, and each for one contact only.
FIELDS = {
    "first_name": "FIRSTNAME",
    "last_name": "LASTNAME",
    "title": "JOB_TITLE",
    "phone": "PHONE",
    "business": "COMPANY",
    "website": "WEBSITE",
    "city": "CITY",
    "country": "COUNTRY",
    "source_url": "SOURCE_URL",
}


class Brevo:
    """One account, spoken to with an API key.

    One by one: its batch updates only whom it knows, and its import never says what became of each.
    """

    def __init__(self, post: HttpSender, address: Endpoint) -> None:
        self._post = post
        self._url = (address.url or BASE_URL).rstrip("/")
        self._key = next(iter(address.secrets), "")
        self._lists = list(address.options.get("list_ids") or [])
        self._fields = {**FIELDS, **(address.options.get("fields") or {})}
        self._known: frozenset[str] = frozenset()
        self._known_until = 0.0

    async def deliver(self, parcel: Message) -> Receipt:
        """Create the contact, or update the one that has this address."""
        known = await self._attributes()
        filled = parcel.card.under(self._fields)
        body: dict[str, Any] = {
            "email": parcel.card.email.lower(),
            "attributes": {name: value for name, value in filled.items() if name in known},
            "updateEnabled": True,
        }
        if self._lists:
            body["listIds"] = self._lists
        answer = await self._ask("POST", CONTACTS, as_json(body))
        refuse(answer)
        found = answer.json.get("id")  # an update answers without
        return Receipt(str(found) if found is not None else None)

    async def test(self) -> str:
        """Ask which attributes there are: writes nothing, and shows whether the key is good."""
        self._known_until = 0.0
        there = await self._attributes()
        missing = sorted({theirs for theirs in self._fields.values() if theirs} - there)
        return "Brevo knows the key." + (f" It lacks the attributes {', '.join(missing)}." if missing else "")

    async def _attributes(self) -> frozenset[str]:
        if time.monotonic() >= self._known_until:
            answer = await self._ask("GET", ATTRIBUTES)
            refuse(answer)
            listed = answer.json.get("attributes") or []
            self._known = frozenset(str(each.get("name")) for each in listed if isinstance(each, dict))
            self._known_until = time.monotonic() + REMEMBERED_SECONDS
        return self._known

    async def _ask(self, method: str, path: str, body: bytes | None = None) -> HttpResult:
        headers = {"api-key": self._key, "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return await self._post.send(method, self._url + path, headers=headers, body=body)


def refuse(answer: HttpResult) -> None:
    """Raise what a status other than success means."""
    if answer.is_success:
        return
    code = str(answer.json.get("code", ""))
    if answer.status == 401:
        raise DestinationClosed("Brevo does not know the key (401). Enter an API key of the account anew.")
    if code in BEYOND_ONE_CONTACT or answer.status == 403:
        raise DestinationClosed(BEYOND_ONE_CONTACT.get(code, BEYOND_ONE_CONTACT["permission_denied"]))
    if answer.status == 429:
        raise Throttled("Brevo asks for patience (429).", _reset(answer) or MANY)
    if answer.status == 425 or code == "account_in_process":
        raise TryLater(f"Brevo is not ready for it yet ({answer.status}).", SOON)
    if answer.status == 400:
        why = code if code in KNOWN_CODES else "it does not say why"
        raise ContactRefused(f"Brevo does not take this contact: {why}.")
    raise TryLater(f"Brevo answers {answer.status}.", answer.retry_after)


def _reset(answer: HttpResult) -> timedelta | None:
    """When the next window begins: Brevo says it in seconds, in a header of its own."""
    said = answer.headers.get("x-sib-ratelimit-reset", "").strip()
    return timedelta(seconds=int(said[:9])) if said.isascii() and said.isdigit() else answer.retry_after
