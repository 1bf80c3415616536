"""How HubSpot says no, and what is to be done about it; its own words are kept to their codes."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from scrapersky.destinations.errors import ContactRefused, DestinationClosed, Throttled, TryLater
from scrapersky.destinations.http_sender import HttpResult

CODE = re.compile(r"\b[A-Z]{3,30}(?:_[A-Z]{1,30}){0,6}\b")
TEN_SECONDS = timedelta(seconds=10)
TODAY = timedelta(hours=1)  # the day's quota is used up: look again once an hour
NO_PROPERTY = "PROPERTY_DOESNT_EXIST"


def refuse(answer: HttpResult) -> None:
    """Raise what a status other than success means for the whole request."""
    if answer.is_success:
        return
    said = answer.json
    match answer.status:
        case 401:
            raise DestinationClosed(
                "HubSpot does not know the token (401). Enter the access token of the private app anew."
            )
        case 403:
            raise DestinationClosed(
                "HubSpot does not let this token in (403). Give the private app the scopes "
                "crm.objects.contacts.read and crm.objects.contacts.write."
            )
        case 429:
            raise _too_many(answer, said)
        case 400:
            raise _bad_request(said)
        case 408 | 409 | 423 | 425:
            raise TryLater(f"HubSpot answers {answer.status}.", answer.retry_after)
    raise TryLater(f"HubSpot answers {answer.status}.", answer.retry_after)


def refuse_contact(error: Mapping[str, Any]) -> ContactRefused | TryLater:
    """The error of one contact among others."""
    codes = _codes(error)
    told = f"HubSpot does not take this contact: {', '.join(codes) or 'it does not say why'}."
    if "VALIDATION_ERROR" in codes or not codes:
        return ContactRefused(told)
    return TryLater(told)


def _too_many(answer: HttpResult, said: Mapping[str, Any]) -> Throttled:
    if str(said.get("policyName")) == "DAILY":
        return Throttled("HubSpot has had all the requests it takes in a day.", TODAY)
    interval = answer.headers.get("X-HubSpot-RateLimit-Interval-Milliseconds", "")
    wait = timedelta(milliseconds=int(interval[:9])) if interval.isascii() and interval.isdigit() else TEN_SECONDS
    return Throttled("HubSpot asks for patience (429).", answer.retry_after or wait)


def _bad_request(said: Mapping[str, Any]) -> ContactRefused | DestinationClosed:
    codes = _codes(said)
    if NO_PROPERTY in codes:
        return DestinationClosed(
            f"HubSpot lacks a property that is written to ({NO_PROPERTY}). "
            "Make it there, or leave it out with the option `fields`."
        )
    return ContactRefused(f"HubSpot does not take this contact: {', '.join(codes) or 'it does not say why'}.")


def _codes(said: Mapping[str, Any]) -> list[str]:
    """Their codes in the order in which they come; what is no code may hold anything and is not repeated."""
    details = [each for each in said.get("errors") or [] if isinstance(each, dict)]
    texts = [said.get("category"), said.get("subCategory"), *(each.get("code") for each in details)]
    texts += [said.get("message"), *(each.get("message") for each in details)]
    codes = (code for text in texts for code in CODE.findall(str(text or "")[:2000]) if "_" in code)
    return list(dict.fromkeys(codes))[:4]
