"""The couriers: one for each destination that is being delivered to, kept while its address stays the same."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from scrapersky.crawl.errors import FetchError
from scrapersky.destinations.brevo import Brevo
from scrapersky.destinations.endpoint import Endpoint
from scrapersky.destinations.errors import Receipt
from scrapersky.destinations.http_sender import ClientSource, HttpSender
from scrapersky.destinations.hubspot.adapter import MAX_CONCURRENT, HubSpot
from scrapersky.destinations.n8n import N8n
from scrapersky.destinations.payload import Message
from scrapersky.destinations.webhook import Webhook

MAX_KEPT = 1_000


class DestinationAdapter(Protocol):
    """Knows the way to one destination."""

    async def deliver(self, parcel: Message) -> Receipt:
        """Hand over the contact: the same parcel twice is like once."""

    async def test(self) -> str:
        """See whether the way is open; what came back in our words."""


KINDS: dict[str, Callable[[HttpSender, Endpoint], DestinationAdapter]] = {
    "webhook": Webhook,
    "hubspot": HubSpot,
    "brevo": Brevo,
    "n8n": N8n,
}

AT_ONCE = {"hubspot": 2 * MAX_CONCURRENT}  # one batch on its way, the next one gathering; others have single requests


class DestinationAdapters:
    """Finds the courier for an address. A new secret or another option is another courier."""

    def __init__(self, client: ClientSource, post: HttpSender | None = None) -> None:
        self._client = client
        self._post = post or HttpSender(client)
        self._kept: OrderedDict[UUID, tuple[Endpoint, DestinationAdapter]] = OrderedDict()

    async def deliver(self, address: Endpoint, parcel: Message) -> Receipt:
        """Hand over a contact, or NotDelivered."""
        return await self._courier(address).deliver(parcel)

    async def test(self, address: Endpoint) -> str:
        """What the destination says to a test, or NotDelivered."""
        return await self._courier(address).test()

    async def may_reach(self, url: str) -> bool:
        """Whether the guard lets us out to this address, as it reads and as its name is known at this moment."""
        try:
            await (await self._client()).look_up(url)
        except FetchError:
            return False
        return True

    async def close(self) -> None:
        """Give up what is on its way."""
        for _, adapter in self._kept.values():
            if isinstance(adapter, HubSpot):
                await adapter.close()

    def _courier(self, address: Endpoint) -> DestinationAdapter:
        kept = self._kept.pop(address.destination_id, None)
        adapter = kept[1] if kept and kept[0] == address else KINDS[address.kind](self._post, address)
        self._kept[address.destination_id] = (address, adapter)
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return adapter
