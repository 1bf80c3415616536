"""The rule of a destination: which verified contacts are delivered automatically, and which events are."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scrapersky.core.errors import BadRequest
from scrapersky.core.vocabularies import Curation, Verdict


class BadRule(BadRequest):
    """The rule of the destination is not acceptable."""

    status_code = 422


class DeliveryRule(BaseModel):
    """The conditions of automatic delivery: all must hold, and `auto` must be true. Events are apart from them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    alarms: bool = Field(
        False, strict=True, description="send alarms of the engine; for a webhook or n8n of the operator tenant"
    )
    completions: bool = Field(
        False, strict=True, description="send an event when a run of a search or campaign ends; for a webhook or n8n"
    )
    auto: bool = Field(False, strict=True, description="deliver contacts automatically once they are verified")
    verdicts: tuple[Verdict, ...] = Field(
        (Verdict.DELIVERABLE,), max_length=10, description="only contacts with one of these verdicts"
    )
    phone_only: bool = Field(
        False, strict=True, description="also contacts that have a phone number and no email address, and so no verdict"
    )
    min_confidence: float = Field(
        0.5, ge=0, le=1, description="the lowest confidence that the contact belongs to the business"
    )
    curation: tuple[Curation, ...] = Field(
        (Curation.SELECTED,), max_length=10, description="only contacts with one of these curation states"
    )


def checked_rule(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rule as it is stored, with every condition; an empty rule stays empty. Raise BadRule."""
    try:
        rule = DeliveryRule.model_validate(dict(given))
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(str(part) for part in wrong["loc"])[:100]
        raise BadRule(f"rule.{where}: {wrong['msg']}.") from None
    return rule.model_dump(mode="json") if given else {}
