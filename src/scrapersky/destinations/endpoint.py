"""Where a destination is and how it is spoken to, with its secrets opened: for the way out only, never shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One destination. Its secrets print as stars."""

    destination_id: UUID
    kind: str
    url: str | None = None
    secret: SecretStr | None = None
    former_secret: SecretStr | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that are in force: two while the receiver changes over."""
        both = (self.secret, self.former_secret)
        return tuple(secret.get_secret_value() for secret in both if secret is not None)
