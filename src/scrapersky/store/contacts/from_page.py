"""What a page said, as rows: one contact per address, number, profile or person."""

from typing import Any

from scrapersky.extract.results import Contacts


def contact_rows(found: Contacts) -> dict[str, dict[str, Any]]:
    """The contacts of a page by identity. A person with an address is that address's contact; the rest stand alone."""
    rows: dict[str, dict[str, Any]] = {}
    for email in found.emails:
        rows[f"email:{email.address}"] = {"email": email.address, "email_kind": email.kind, **_evidence(email)}
    owned_phones = set()
    for person in found.people:
        identity = f"email:{person.email}" if person.email else f"person:{person.name.casefold()}"
        owned_phones.add(person.phone)
        rows[identity] = {
            **_evidence(person),
            **rows.get(identity, {}),
            "name": person.name,
            "title": person.title or None,
            "phone": person.phone or None,
        }
        if person.email:
            rows[identity].setdefault("email", person.email)
    for phone in found.phones:
        if phone.number in owned_phones:
            continue
        column = "fax" if phone.kind == "fax" else "phone"
        rows.setdefault(f"{column}:{phone.number}", {column: phone.number, **_evidence(phone)})
    for social in found.socials:
        rows[f"social:{social.url}"] = {"profiles": {social.platform: social.url}, **_evidence(social)}
    for address in found.addresses:
        rows[f"address:{address.text.casefold()[:300]}"] = {"address": address.text, **_evidence(address)}
    return {identity: {**row, "identity": identity} for identity, row in rows.items()}


def _evidence(value: Any) -> dict[str, Any]:
    return {"snippet": value.snippet or None, "found_by": value.how, "confidence": value.confidence}
