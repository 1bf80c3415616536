"""A contact as it leaves the house: plain facts, nothing invented, and the name of its message."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ContactPayload:
    """One contact for one destination. What is not known is None, never a word that stands for it."""

    contact_id: UUID
    email: str
    name: str | None = None
    title: str | None = None
    phone: str | None = None
    email_kind: str | None = None
    profiles: Mapping[str, Any] | None = None
    address: str | None = None
    business: str | None = None
    website: str | None = None
    domain: str | None = None
    city: str | None = None
    country: str | None = None
    source_url: str | None = None
    found_at: datetime | None = None
    confidence: float | None = None
    verdict: str | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that is known, as JSON can hold it."""
        return {
            name: _plain(value)
            for name, value in asdict(self).items()
            if value is not None and name not in ("profiles", "contact_id")
        } | {"contact_id": str(self.contact_id), "profiles": dict(self.profiles or {})}

    @property
    def first_name(self) -> str | None:
        """All of the name but its last word; the name itself where it is one word."""
        words = (self.name or "").split()
        return " ".join(words[:-1] or words) or None

    @property
    def last_name(self) -> str | None:
        """The last word of a name of several."""
        words = (self.name or "").split()
        return words[-1] if len(words) > 1 else None

    def under(self, fields: Mapping[str, str | None]) -> dict[str, str]:
        """What is known, under the other side's names. What is not known, or has no name there, is not told."""
        known = {**self.facts, "first_name": self.first_name, "last_name": self.last_name}
        return {theirs: str(known[ours]) for ours, theirs in fields.items() if theirs and known.get(ours)}


@dataclass(frozen=True, slots=True)
class Message:
    """A card on its way. `last_accepted_at` is when the destination last took this contact, if ever."""

    delivery_id: UUID
    card: ContactPayload
    options: Mapping[str, Any] = field(default_factory=dict)
    last_accepted_at: datetime | None = None

    @property
    def fingerprint(self) -> str:
        """Of what the destination would be told: the same is not told twice."""
        told = json.dumps([self.card.facts, dict(self.options)], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(told.encode()).hexdigest()

    @property
    def message_id(self) -> str:
        """The same for every try, so that a receiver can tell; another one when there is something new to tell."""
        seen = hashlib.sha256(f"{self.fingerprint} {self.last_accepted_at}".encode()).hexdigest()
        return f"dlv_{self.delivery_id.hex}_{seen[:12]}"


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
