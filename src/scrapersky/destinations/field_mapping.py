"""Field mappings of CRMs: which fact of a contact goes into which property or attribute."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from scrapersky.destinations.kind import Endpoint
from scrapersky.destinations.payload import PAYLOAD_KEYS

_UNMAPPED = ("profiles", "found_at")  # values that no property of a CRM holds
FACTS = (*(key for key in PAYLOAD_KEYS if key not in _UNMAPPED), "contact_id")
if TYPE_CHECKING:
    Fact = str
else:
    Fact = Literal[FACTS]


def fields_of(endpoint: Endpoint, defaults: Mapping[str, str]) -> dict[str, str | None]:
    """Merge the option `fields` into the defaults of the kind; a fact mapped to None is not sent."""
    return {**defaults, **(endpoint.options.get("fields") or {})}
