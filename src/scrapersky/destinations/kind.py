"""The declaration of a kind of destination: its endpoint, secret, options, limits and adapter."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from scrapersky.core.errors import BadRequest
from scrapersky.destinations.errors import DestinationClosed, Receipt
from scrapersky.destinations.http_sender import HttpSender
from scrapersky.destinations.payload import Message

MAX_IN_FLIGHT = 20
MAX_SECRET_LENGTH = 2_000


class BadDestination(BadRequest):
    """A value of the destination is missing or not acceptable."""

    status_code = 422


class NotReachable(BadDestination):
    """The URL of the destination is not allowed."""


class BadOptions(BadDestination):
    """An option of the destination is not acceptable."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The URL, options and decrypted secrets of one destination. Secrets are printed as stars."""

    destination_id: UUID
    kind: str
    url: str | None = None
    secret: SecretStr | None = None
    previous_secret: SecretStr | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets in force: two while the secret is rotated."""
        both = (self.secret, self.previous_secret)
        return tuple(secret.get_secret_value() for secret in both if secret is not None)


class DestinationAdapter(ABC):
    """Sends contacts to one destination."""

    def __init__(self, http: HttpSender, endpoint: Endpoint) -> None:
        self._http = http
        self._endpoint = endpoint

    @abstractmethod
    async def deliver(self, message: Message) -> Receipt:
        """Send the contact or raise NotDelivered; the same message twice has the effect of one."""

    @abstractmethod
    async def test(self) -> str:
        """Check the connection and the secret; return a sentence about the result or raise NotDelivered."""

    async def notify(self, event: str, message_id: str, facts: dict[str, Any]) -> None:
        """Send an event that is not a contact, or raise NotDelivered; only kinds with `takes_alarms` do."""
        raise DestinationClosed(f"A {self._endpoint.kind} destination takes contacts only.")

    async def close(self) -> None:  # noqa: B027 - most adapters have nothing to cancel
        """Cancel what is in flight."""


class Options(BaseModel):
    """The options of a kind that has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class SecretRule:
    """What the secret of a kind is. A generated secret signs messages: it is never sent, and two can be in force."""

    description: str
    is_required: bool = True
    generate: Callable[[], str] | None = None
    check: Callable[[str], object] | None = None  # raises when the secret has the wrong form


@dataclass(frozen=True)
class DestinationKind:
    """Everything the project knows about a kind: validation, API, command line and delivery are derived from it."""

    name: str
    label: str
    protocol: str  # what is sent
    adapter: type[DestinationAdapter]
    secret: SecretRule
    url: str = "of the receiver"
    base_url: str | None = None  # for destinations without a `url`; None: the `url` is required
    options: type[Options] = Options
    takes_alarms: bool = False  # whether its adapter can send alarms, and other events that are no contact
    max_in_flight: int = MAX_IN_FLIGHT  # deliveries of one process to one destination

    def check_url(self, url: str | None) -> None:
        """Raise BadDestination if this kind needs a URL and there is none."""
        if not url and self.base_url is None:
            raise BadDestination(f"A {self.name} destination needs the `url` of its receiver.")

    def check_secret(self, secret: str) -> str:
        """Return the secret without surrounding blanks, or raise when it cannot be used."""
        plain = secret.strip()
        if not plain or len(plain) > MAX_SECRET_LENGTH or not (plain.isascii() and plain.isprintable()):
            raise BadDestination(
                f"The secret is empty, longer than {MAX_SECRET_LENGTH} characters, or has characters that no key has. "
                "Copy it again."
            )
        if self.secret.check is not None:
            self.secret.check(plain)
        return plain

    def new_secret(self) -> str | None:
        """Generate a secret; return None if this kind generates none and needs none, else raise BadDestination."""
        if self.secret.generate is not None:
            return self.secret.generate()
        if self.secret.is_required:
            raise BadDestination(f"A {self.name} destination needs a `secret`: {self.secret.description}.")
        return None

    def check_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options as they are stored, or raise BadOptions naming the first one that is not acceptable."""
        try:
            return self.options.model_validate(dict(given)).model_dump(exclude_unset=True)
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(str(part) for part in wrong["loc"])[:100]
            known = ", ".join(self.options.model_fields) or "none"
            raise BadOptions(f"options.{where}: {wrong['msg']}. A {self.name} destination has: {known}.") from None
