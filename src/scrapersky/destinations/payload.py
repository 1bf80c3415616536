"""A contact as it is delivered, and the message that carries it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from scrapersky.core.contact_fields import DELIVERED_FIELDS, NAME_PARTS

# What a delivery may hold besides `contact_id` and `email`: fields of the contact, then of its business and its source.
# A contact with a phone number may lack the email address.
PAYLOAD_KEYS = (
    *DELIVERED_FIELDS,
    "business",
    "website",
    "domain",
    "city",
    "country",
    "source_url",
    "found_at",
    "confidence",
)


@dataclass(frozen=True, slots=True)
class ContactPayload:
    """One contact for one destination; `values` has a value for keys of PAYLOAD_KEYS, None for unknown ones."""

    contact_id: UUID
    email: str | None
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def facts(self) -> dict[str, Any]:
        """Every known value, as JSON can hold it."""
        known = {name: _plain(value) for name, value in self.values.items() if value is not None}
        return {
            **({"email": self.email} if self.email else {}),
            **known,
            "contact_id": str(self.contact_id),
            "profiles": dict(self.values.get("profiles") or {}),
        }

    @property
    def phone(self) -> str | None:
        """The phone number of the contact or of its business."""
        return self.values.get("phone")

    def mapped(self, fields: Mapping[str, str | None]) -> dict[str, str]:
        """Return the known values by the destination's names; a value without such a name is left out."""
        known = {**self.facts, **self._name_parts()}
        return {theirs: str(known[ours]) for ours, theirs in fields.items() if theirs and known.get(ours)}

    def _name_parts(self) -> dict[str, str]:
        """Return the parts of the name; where the order is not known, the whole name is the last name.

        A CRM has no other place for the name. A contact of an earlier version has no parts: they are found here.
        """
        if not (name := self.values.get("name")) or any(self.values.get(part) for part in NAME_PARTS):
            return {}
        from scrapersky.extract.people.name_parts import split_written_name  # the lists of names take 12 MB

        parts = split_written_name(name, region=self.values.get("country") or "")
        return parts._asdict() if any(parts) else {"last_name": name}


@dataclass(frozen=True, slots=True)
class Message:
    """A payload to deliver; `last_accepted_at` is when the destination last accepted this contact, if ever."""

    delivery_id: UUID
    payload: ContactPayload
    options: Mapping[str, Any] = field(default_factory=dict)
    last_accepted_at: datetime | None = None

    @property
    def fingerprint(self) -> str:
        """Hash of the content: a destination that has accepted the same content gets no second delivery."""
        content = json.dumps([self.payload.facts, dict(self.options)], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def message_id(self) -> str:
        """Id that is the same for every attempt and changes with the content, so that a receiver can deduplicate."""
        version = hashlib.sha256(f"{self.fingerprint} {self.last_accepted_at}".encode()).hexdigest()
        return f"dlv_{self.delivery_id.hex}_{version[:12]}"


@dataclass(frozen=True, slots=True)
class Event:
    """An event that is not a contact, such as the end of a run. It is sent once; every attempt has the same id."""

    name: str
    message_id: str
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Hash of the id: an event that was accepted is not sent again."""
        return hashlib.sha256(self.message_id.encode()).hexdigest()


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
