"""Names that a command gives: the same as the API takes, so that whoever is made here can be named there."""

from pydantic import TypeAdapter, ValidationError

from scrapersky.api.schemas.account_fields import NAME_LENGTH, Name
from scrapersky.core.errors import BadRequest

_NAME = TypeAdapter[str](Name)


class BadName(BadRequest):
    """The name does not do."""


def plain_name(given: str) -> str:
    """The name without blanks around it, or BadName."""
    try:
        return _NAME.validate_python(given)
    except ValidationError:
        raise BadName(f"It needs 1 to {NAME_LENGTH} characters, none of which ends a line or moves a cursor.") from None
