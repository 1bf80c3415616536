"""HubSpot: contacts are upserted by their address, many at once; each learns its own fate."""

from collections.abc import Mapping, Sequence
from typing import Any

from scrapersky.destinations.endpoint import Endpoint
from scrapersky.destinations.errors import ContactRefused, NotDelivered, Receipt, TryLater
from scrapersky.destinations.gathering import Gathering
from scrapersky.destinations.http_sender import HttpResult, HttpSender, as_json
from scrapersky.destinations.hubspot.errors import refuse, refuse_contact
from scrapersky.destinations.payload import Message

BASE_URL = "https://api.hubapi.com"
UPSERT = "/crm/v3/objects/contacts/batch/upsert"
LOOK = "/crm/v3/objects/contacts?limit=1"
MAX_CONCURRENT = 100

# Which of our facts goes into which property; the option `fields` overrules it, null leaves a fact out.
FIELDS = {
    "first_name": "firstname",
    "last_name": "lastname",
    "title": "jobtitle",
    "phone": "phone",
    "business": "company",
    "website": "website",
    "city": "city",
    "country": "country",
}


class HubSpot:
    """One portal, spoken to with the token of a private app."""

    def __init__(self, post: HttpSender, address: Endpoint) -> None:
        self._post = post
        self._url = (address.url or BASE_URL).rstrip("/")
        self._token = next(iter(address.secrets), "")
        self._fields = {**FIELDS, **(address.options.get("fields") or {})}
        self._gathering: Gathering[Message, Receipt] = Gathering(
            self._upsert, lambda parcel: parcel.card.email.lower(), MAX_CONCURRENT
        )

    async def deliver(self, parcel: Message) -> Receipt:
        """Upsert the contact, together with whoever else is on the way there."""
        return await self._gathering.add(parcel)

    async def test(self) -> str:
        """Ask for one contact: writes nothing, and shows whether the token is good."""
        refuse(await self._ask("GET", LOOK))
        return "HubSpot knows the token."

    async def close(self) -> None:
        """Give up what is on its way."""
        await self._gathering.close()

    async def _upsert(self, parcels: Sequence[Message]) -> Sequence[Receipt | Exception]:
        inputs = [self._input(parcel) for parcel in parcels]
        answer = await self._ask("POST", UPSERT, as_json({"inputs": inputs}))
        if answer.status == 400 and len(parcels) > 1:
            return [await self._alone(parcel) for parcel in parcels]  # one of them spoils it for all
        refuse(answer)
        return _fates(parcels, answer.json)

    async def _alone(self, parcel: Message) -> Receipt | Exception:
        try:
            [fate] = await self._upsert([parcel])
        except NotDelivered as error:
            return error
        return fate

    def _input(self, parcel: Message) -> dict[str, Any]:
        card = parcel.card
        return {
            "idProperty": "email",
            "id": card.email.lower(),
            "objectWriteTraceId": parcel.message_id,
            "properties": {"email": card.email.lower(), **card.under(self._fields)},
        }

    async def _ask(self, method: str, path: str, body: bytes | None = None) -> HttpResult:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return await self._post.send(method, self._url + path, headers=headers, body=body)


def _fates(parcels: Sequence[Message], said: Mapping[str, Any]) -> Sequence[Receipt | Exception]:
    """What became of each: by the trace we sent along, else by the address."""
    done: dict[str, str] = {}
    for result in _objects(said.get("results")):
        found = str(result.get("id") or "")
        done[str(result.get("objectWriteTraceId"))] = found
        done[str((result.get("properties") or {}).get("email", "")).lower()] = found
    errors: dict[str, ContactRefused | TryLater] = {}
    for error in _objects(said.get("errors")):
        for name in _named_in(error):
            errors[name] = refuse_contact(error)
    return [_fate(parcel, done, errors) for parcel in parcels]


def _fate(parcel: Message, done: Mapping[str, str], errors: Mapping[str, Exception]) -> Receipt | Exception:
    for name in (parcel.message_id, parcel.card.email.lower()):
        if done.get(name):
            return Receipt(done[name])
        if name in errors:
            return errors[name]
    return TryLater("HubSpot does not say what became of it.")


def _named_in(error: Mapping[str, Any]) -> set[str]:
    """The traces and addresses that an error is about."""
    context = error.get("context") or {}
    named = [error.get("objectWriteTraceId"), *(value for values in context.values() for value in _listed(values))]
    return {str(name) for name in named if name} | {str(name).lower() for name in named if name}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in _listed(value) if isinstance(each, dict)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
