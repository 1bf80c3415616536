"""The registered kinds of destinations, and the adapters of the destinations that are delivered to."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from scrapersky.crawl.errors import FetchError
from scrapersky.destinations.brevo import BREVO
from scrapersky.destinations.errors import Receipt
from scrapersky.destinations.http_sender import PRIVATE_RECEIVERS, ClientSource, HttpSender
from scrapersky.destinations.hubspot import HUBSPOT
from scrapersky.destinations.kind import DestinationAdapter, Endpoint, NotReachable
from scrapersky.destinations.n8n import N8N
from scrapersky.destinations.payload import Message
from scrapersky.destinations.webhook import WEBHOOK

REGISTERED = (
    WEBHOOK,
    HUBSPOT,
    BREVO,
    N8N,
)
KINDS = {kind.name: kind for kind in REGISTERED}
# The name of a kind, for the API and the command line.
if TYPE_CHECKING:
    KindName = str
else:
    KindName = Literal[tuple(KINDS)]

MAX_ADAPTERS = 1_000


def describe_options() -> str:
    """Name the options of every kind that has some."""
    options = {name: ", ".join(f"`{option}`" for option in kind.options.model_fields) for name, kind in KINDS.items()}
    return "; ".join(f"{name}: {listed}" for name, listed in options.items() if listed)


class DestinationAdapters:
    """Keeps the adapter of each destination while its endpoint stays the same."""

    def __init__(self, client: ClientSource, http: HttpSender | None = None) -> None:
        self._client = client
        self._http = http or HttpSender(client)
        self._kept: OrderedDict[UUID, tuple[Endpoint, DestinationAdapter]] = OrderedDict()

    async def deliver(self, endpoint: Endpoint, message: Message) -> Receipt:
        """Send a contact to the destination, or raise NotDelivered."""
        return await self._adapter(endpoint).deliver(message)

    async def test(self, endpoint: Endpoint) -> str:
        """Test the destination; return the result in a sentence or raise NotDelivered."""
        return await self._adapter(endpoint).test()

    async def notify(self, endpoint: Endpoint, event: str, message_id: str, facts: dict[str, Any]) -> None:
        """Send an event that is not a contact, or raise NotDelivered."""
        await self._adapter(endpoint).notify(event, message_id, facts)

    async def check_url(self, url: str | None) -> None:
        """Raise NotReachable unless the guarded client permits the URL, with the addresses that its host has now.

        One sentence for every case: it reveals nothing about a network.
        """
        try:
            if url is not None:
                await (await self._client()).check(url)
        except FetchError:
            raise NotReachable(
                f"Use the http(s) URL of a host on the public internet, without a user name. {PRIVATE_RECEIVERS}"
            ) from None

    async def close(self) -> None:
        """Cancel what is in flight."""
        for _, adapter in self._kept.values():
            await adapter.close()

    def _adapter(self, endpoint: Endpoint) -> DestinationAdapter:
        kept = self._kept.pop(endpoint.destination_id, None)
        adapter = kept[1] if kept and kept[0] == endpoint else KINDS[endpoint.kind].adapter(self._http, endpoint)
        self._kept[endpoint.destination_id] = (endpoint, adapter)
        if len(self._kept) > MAX_ADAPTERS:
            self._kept.popitem(last=False)
        return adapter
