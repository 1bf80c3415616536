"""Which verified contacts go to a destination by themselves."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scrapersky.core.errors import BadRequest
from scrapersky.core.vocabularies import Curation, Verdict


class BadRule(BadRequest):
    """The rule of the destination does not do."""

    status_code = 422


class DeliveryRule(BaseModel):
    """Every condition must hold. Nothing goes by itself unless `auto` says so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    auto: bool = Field(False, strict=True, description="contacts go there by themselves once they are verified")
    verdicts: tuple[Verdict, ...] = Field(
        (Verdict.DELIVERABLE,), max_length=10, description="of which a letter would fare so"
    )
    min_confidence: float = Field(0.5, ge=0, le=1, description="how sure it is that they belong to the business")
    curation: tuple[Curation, ...] = Field(
        (Curation.SELECTED,), max_length=10, description="about which a person decided so"
    )


def checked_rule(given: Mapping[str, Any]) -> dict[str, Any]:
    """The rule as it is kept, every condition written out; an empty one stays empty."""
    try:
        rule = DeliveryRule.model_validate(dict(given))
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(str(part) for part in wrong["loc"])[:100]
        raise BadRule(f"rule.{where}: {wrong['msg']}.") from None
    return rule.model_dump(mode="json") if given else {}
