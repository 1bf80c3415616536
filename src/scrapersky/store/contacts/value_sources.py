"""The source of each value of a contact."""

from collections.abc import Iterable, Mapping
from typing import Any

from scrapersky.core.contact_fields import BY_HAND
from scrapersky.models import Contact
from scrapersky.store.contacts.rows import RANKED_FIELDS

Source = dict[str, Any]  # url, snippet, found_by, confidence


def value_sources(columns: Mapping[str, Any]) -> dict[str, Source]:
    """Return the source of each field that has a value: its own, or the evidence of the contact."""
    evidence = {
        "url": columns["source_url"],
        "snippet": columns["snippet"],
        "found_by": columns["found_by"],
        "confidence": columns["confidence"],
    }
    own = columns["sources"] or {}
    return {name: own.get(name, evidence) for name in RANKED_FIELDS if columns[name]}


def mark_by_hand(contact: Contact, names: Iterable[str]) -> None:
    """Mark fields as written by a person: no page changes them or fills them again."""
    marks = {name: {"found_by": BY_HAND} for name in names if name in RANKED_FIELDS}
    contact.sources = {**(contact.sources or {}), **marks} or None
