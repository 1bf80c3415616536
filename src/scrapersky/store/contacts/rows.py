"""Rows of the table `contact`, built from what a page or a provider names, and the statement that inserts them."""

import json
from collections.abc import Sequence
from typing import Any

from scrapersky.core.contact_fields import EVIDENCE, FACTS, NAME_PARTS, PERSON_FIELDS
from scrapersky.core.vocabularies import BY_PROVIDER
from scrapersky.extract.matching.person_names import read_name
from scrapersky.extract.people.seniority import Seniority, title_meaning
from scrapersky.extract.results import Contacts

Row = dict[str, Any]

MAX_IDENTITY = 300
NO_TITLE = max(Seniority) + 1
FOUND_FIELDS = (*FACTS, "email_kind")
RANKED_FIELDS = tuple(name for name in FACTS if name not in NAME_PARTS)  # with a source of their own
COLUMNS = ("id", "domain_id", "page_id", "business_id", "identity", *FOUND_FIELDS, *EVIDENCE, "evidence_rank")
_TYPES = {"id": "uuid", "domain_id": "uuid", "page_id": "uuid", "business_id": "uuid", "confidence": "float8"}

# $1 is the tenant, the next parameters are one array for each of COLUMNS.
INSERT = f"""
INSERT INTO contact AS known (tenant_id, {", ".join(COLUMNS)})
SELECT $1, {", ".join("profiles::jsonb" if name == "profiles" else name for name in COLUMNS)}
FROM unnest({", ".join(f"${n}::{_TYPES.get(name, 'text')}[]" for n, name in enumerate(COLUMNS, 2))})
    AS given({", ".join(COLUMNS)})"""  # noqa: S608 - names of this module


def contact_rows(found: Contacts) -> dict[str, Row]:
    """Return one row per email address, number, profile, postal address or person, by identity.

    A person with an email address of their own is the contact of that address. People who share an address, or have
    a role's, are contacts of their own with that address.
    """
    rows: dict[str, Row] = {}
    kinds = {email.address: email.kind for email in found.emails}
    for email in found.emails:
        rows[mailbox_identity(email.address)] = {
            "email": email.address,
            "email_kind": email.kind,
            **_evidence(email),
        }
    phones_of_people = set()
    for person in found.people:
        identity = mailbox_identity(person.email) if person.email else ""
        if not identity or kinds.get(person.email) == "role" or rows.get(identity, {}).get("name"):
            identity = person_identity(person.name)
        phones_of_people.add(person.phone)
        rows[identity] = {
            **_evidence(person),
            **rows.get(identity, {}),
            **{name: getattr(person, name) or None for name in PERSON_FIELDS},
            "phone": person.phone or None,
        }
        if person.email:
            rows[identity].setdefault("email", person.email)
            rows[identity].setdefault("email_kind", kinds.get(person.email))
    for phone in found.phones:
        if phone.number in phones_of_people:
            continue
        column = "fax" if phone.kind == "fax" else "phone"
        rows.setdefault(f"{column}:{phone.number}", {column: phone.number, **_evidence(phone)})
    for social in found.socials:
        rows[f"social:{social.url}"] = {"profiles": {social.platform: social.url}, **_evidence(social)}
    for address in found.addresses:
        rows[f"address:{address.text.casefold()[:300]}"] = {"address": address.text, **_evidence(address)}
    return {identity: {**row, "identity": identity} for identity, row in rows.items()}


def mailbox_identity(address: str) -> str:
    """Return the identity of the contact of an email address."""
    return f"email:{address}"


def person_identity(name: str) -> str:
    """Return the identity of a person by name: its words and initials in any order, without accents and capitals."""
    return f"person:{read_name(name).key}"


def is_of_name(identity: str) -> bool:
    """Return whether this is the identity of a person without an address of their own."""
    return identity.startswith("person:")


def evidence_rank(row: Row) -> str:
    """Return the rank of the evidence for a row, as text that is compared byte by byte; the lowest is the best.

    A page comes before a provider, the more certain evidence before the less certain one, of equally certain ones (to
    a tenth) the most senior title, then the page nearest to the root, the shortest URL, and the first in the alphabet:
    never the page that was read first.
    """
    doubt = 1 - (row.get("confidence") or 0)
    seniority = title_meaning(row["title"]).seniority if row.get("title") else NO_TITLE
    certainty = f"{round(doubt * 10_000) // 1000:02} {seniority:d} {round(doubt * 10_000):05}"
    url = row.get("source_url") or ""
    depth, is_provider = min(url.rstrip("/").count("/"), 999), row.get("found_by") == BY_PROVIDER
    return f"{is_provider:d} {certainty} {depth:03} {min(len(url), 99_999):05} {url}"


def arrays_of(rows: Sequence[Row]) -> list[list[Any]]:
    """Return one array for each of COLUMNS, as INSERT takes them."""
    arrays = {name: [row.get(name) for row in rows] for name in COLUMNS}
    arrays["profiles"] = [value and json.dumps(value) for value in arrays["profiles"]]
    return list(arrays.values())


def _evidence(value: Any) -> Row:
    return {"snippet": value.snippet or None, "found_by": value.how, "confidence": value.confidence}
