"""A row of a file by business, made from the business and its contacts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scrapersky.extract.best_contact import Candidate, explain, explain_number, rank
from scrapersky.providers.category_words import category_words
from scrapersky.store.leads.columns import ADDRESS_COLUMNS, PERSON_COLUMNS

MAX_OTHER_PEOPLE = 50


def business_row(found: dict[str, Any], preferred: Sequence[str]) -> dict[str, Any]:
    """Return the row with its best contact, the reason for the choice, and the other contacts."""
    contacts = rank(found.pop("contacts") or (), preferred)
    mail = next((one for one in contacts if one.row["email"]), None)
    call = _call(contacts, found["phone"], mail)
    best = mail or call
    others = [one for one in contacts if one is not best]
    phone = call.row["phone"] if call is not None else found["phone"]
    why = explain(mail, others) if mail is not None else explain_number(call, others) if phone else None
    values = dict(best.row) if best is not None else {}
    return {
        **found,
        **{column: values.get(column) for column in (*ADDRESS_COLUMNS, *PERSON_COLUMNS)},
        "contact_id": values.get("id"),
        "why": why,
        "phone": phone,
        "other_people": _people(others),
        "other_emails": " ".join(
            _distinct(one.row["email"] for one in others if one.row["email"] != values.get("email"))
        ),
        "other_phones": "; ".join(sorted(set(_numbers(contacts)) - {phone})),
        "source": values.get("source_url"),
        "found_at": values.get("found_at"),
        "categories": category_words(found["categories"] or ()),
    }


def _call(contacts: Sequence[Candidate], main: str | None, mail: Candidate | None) -> Candidate | None:
    """Return the contact with the best number: without any address that of a senior person, else the main number."""
    numbers = [one for one in contacts if one.row["phone"] and not one.row["is_of_another_branch"]]
    if mail is None and (senior := next((one for one in numbers if one.is_senior), None)) is not None:
        return senior

    def order(one: Candidate) -> tuple[Any, ...]:
        row = one.row
        return (
            row["phone"] != main,
            row["person"] is not None,
            -(row["confidence"] or 0),
            row["phone"],
            row["source_url"] or "",
            row["identity"],
        )

    best = min(numbers, key=order, default=None)
    return best if best is None or main in (None, best.row["phone"]) else None


def _numbers(contacts: Iterable[Candidate]) -> Iterator[str]:
    """Yield the numbers, without those that the provider names for another branch."""
    yield from (one.row["phone"] for one in contacts if one.row["phone"] and not one.row["is_of_another_branch"])


def _people(others: Iterable[Candidate]) -> str | None:
    people = [one for one in others if one.row["person"]]
    people.sort(key=lambda one: (one.row["email"] is None, one.title.seniority, one.rank))
    texts = [_person(**{name: one.row[name] for name in ("person", "title", "email")}) for one in people]
    return "; ".join(texts[:MAX_OTHER_PEOPLE]) or None


def _person(person: str, title: str | None, email: str | None) -> str:
    return person + (f" ({title})" if title else "") + (f" <{email}>" if email else "")


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
