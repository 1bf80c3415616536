"""The couriers: one for each destination that is being delivered to, kept while its address stays the same."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from scrapersky.crawl.errors import FetchError
from scrapersky.destinations.brevo import Brevo
from scrapersky.destinations.endpoint import Address
from scrapersky.destinations.errors import Receipt
from scrapersky.destinations.http_sender import ClientSource, Post
from scrapersky.destinations.hubspot.adapter import MOST_AT_ONCE, HubSpot
from scrapersky.destinations.n8n import N8n
from scrapersky.destinations.payload import Parcel
from scrapersky.destinations.webhook import Webhook

MOST_KEPT = 1_000


class Courier(Protocol):
    """Knows the way to one destination."""

    async def deliver(self, parcel: Parcel) -> Receipt:
        """Hand over the contact: the same parcel twice is like once."""

    async def test(self) -> str:
        """See whether the way is open; what came back in our words."""


KINDS: dict[str, Callable[[Post, Address], Courier]] = {
    "webhook": Webhook,
    "hubspot": HubSpot,
    "brevo": Brevo,
    "n8n": N8n,
}

AT_ONCE = {"hubspot": 2 * MOST_AT_ONCE}  # one batch on its way, the next one gathering; others have single requests


class Couriers:
    """Finds the courier for an address. A new secret or another option is another courier."""

    def __init__(self, client: ClientSource, post: Post | None = None) -> None:
        self._client = client
        self._post = post or Post(client)
        self._kept: OrderedDict[UUID, tuple[Address, Courier]] = OrderedDict()

    async def deliver(self, address: Address, parcel: Parcel) -> Receipt:
        """Hand over a contact, or NotDelivered."""
        return await self._courier(address).deliver(parcel)

    async def test(self, address: Address) -> str:
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
        for _, courier in self._kept.values():
            if isinstance(courier, HubSpot):
                await courier.close()

    def _courier(self, address: Address) -> Courier:
        kept = self._kept.pop(address.destination_id, None)
        courier = kept[1] if kept and kept[0] == address else KINDS[address.kind](self._post, address)
        self._kept[address.destination_id] = (address, courier)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return courier
