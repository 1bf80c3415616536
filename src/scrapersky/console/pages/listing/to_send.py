"""How many contacts of a list can be delivered, before they are."""

from datetime import datetime
from uuid import UUID

from scrapersky.api.deliveries import deliveries
from scrapersky.api.deliveries.deliveries import SendMatching, SendResult
from scrapersky.api.schemas.fields import RequestModel
from scrapersky.console.gates import PageRequest


async def count_to_send(asked: PageRequest, destination_id: UUID, wanted: RequestModel, as_of: datetime) -> SendResult:
    """Count the contacts that match, and those among them that no delivery takes."""
    body = SendMatching.model_validate(
        {"destination_id": destination_id, "filter": wanted, "as_of": as_of.isoformat(), "preview": True}
    )
    answer = await deliveries.create_deliveries(body, asked.application, asked.actor)
    return SendResult.model_validate_json(bytes(answer.body))
