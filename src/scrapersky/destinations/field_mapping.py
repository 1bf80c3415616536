"""Field mappings of CRMs: which fact of a contact goes into which property or attribute."""

from collections.abc import Mapping
from typing import Literal

from scrapersky.destinations.kind import Endpoint

Fact = Literal[
    "first_name",
    "last_name",
    "name",
    "title",
    "phone",
    "email_kind",
    "address",
    "business",
    "website",
    "domain",
    "city",
    "country",
    "source_url",
    "confidence",
    "verdict",
    "contact_id",
]


def fields_of(endpoint: Endpoint, defaults: Mapping[str, str]) -> dict[str, str | None]:
    """Merge the option `fields` into the defaults of the kind; a fact mapped to None is not sent."""
    return {**defaults, **(endpoint.options.get("fields") or {})}
