"""A row of a file by business, made from the business and its contacts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scrapersky.extract.best_contact import Candidate, explain, explain_number, rank
from scrapersky.providers.category_words import category_words
from scrapersky.store.leads.columns import ADDRESS_COLUMNS, PERSON_COLUMNS

MAX_OTHER_PEOPLE = 50


def business_row(found: dict[str, Any], preferred: Sequence[str] = (), *, people_first: bool = False) -> dict[str, Any]:
    """Return the row with its best contact, the reason for the choice, and the other contacts.

    Without an address a number is the best contact, with `people_first` a person: filters have chosen the people.
    """
    contacts = rank(found.pop("contacts") or (), preferred)
    mail = next((one for one in contacts if one.row["email"]), None)
    call = _call(contacts, found["phone"], mail)
    person = next((one for one in contacts if one.row["person"]), None) if people_first else None
    best = mail or person or call
    others = [one for one in contacts if one is not best]
    phone = call.row["phone"] if call is not None else found["phone"]
    why = None
    if mail is not None:
        why = explain(mail, others)
    elif phone:
        why = explain_number(call, [one for one in contacts if one is not call])
    values = dict(best.row) if best is not None else {}
    people = _people(others)
    return {
        **found,
        **{column: values.get(column) for column in (*ADDRESS_COLUMNS, *PERSON_COLUMNS)},
        "contact_id": values.get("id"),
        "why": why,
        "phone": phone,
        "other_people": "; ".join(map(_in_words, people)) or None,
        "people": people,  # the same for programs
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


def _people(others: Iterable[Candidate]) -> list[dict[str, str | None]]:
    """Return name, title and address of the people, those with an address first, then the most senior."""
    people = [one for one in others if one.row["person"]]
    people.sort(key=lambda one: (one.row["email"] is None, one.title.seniority, one.rank))
    return [
        {"name": one.row["person"], "title": one.row["title"], "email": one.row["email"]}
        for one in people[:MAX_OTHER_PEOPLE]
    ]


def _in_words(person: dict[str, str | None]) -> str:
    title, email = person["title"], person["email"]
    return f"{person['name']}" + (f" ({title})" if title else "") + (f" <{email}>" if email else "")


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
