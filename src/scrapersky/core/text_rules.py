"""Text that requests and commands may contain: bounded, without control characters."""

import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from scrapersky.core.errors import BadRequest

CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f"
# Control characters and lone surrogates: PostgreSQL, logs or terminals cannot take them.
FORBIDDEN_CHARACTERS = re.compile(r"[\u0000-\u001f\u007f-\u009f\ud800-\udfff]")
MAX_TEXT_LENGTH = 500
MAX_NAME_LENGTH = 100
MAX_ANY_TEXT = 10_000  # of a value that may be refused alone


class BadName(BadRequest):
    """The name is not acceptable."""


def check_text(text: str) -> str:
    """Return text that can be stored, logged and shown. Raises ValueError."""
    if FORBIDDEN_CHARACTERS.search(text):
        raise ValueError("must not contain control characters or lone surrogates")
    return text


def max_length(length: int) -> BeforeValidator:
    """Limit the length of text as it was sent: surrounding whitespace counts, as in the JSON schema."""

    def check(value: object) -> object:
        if isinstance(value, str) and len(value) > length:
            raise ValueError(f"must have at most {length} characters")
        return value

    return BeforeValidator(check)


def _json_schema(length: int) -> WithJsonSchema:
    pattern = f"^[^{CONTROLS}]*[^\\s{CONTROLS}][^{CONTROLS}]*$"
    return WithJsonSchema({"type": "string", "minLength": 1, "maxLength": length, "pattern": pattern})


Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT_LENGTH),
    max_length(MAX_TEXT_LENGTH),
    AfterValidator(check_text),
    _json_schema(MAX_TEXT_LENGTH),
]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_LENGTH),
    max_length(MAX_NAME_LENGTH),
    AfterValidator(check_text),
    _json_schema(MAX_NAME_LENGTH),
]
# Of one row among many, which may be empty or too long: the row is refused then, not the request.
AnyText = Annotated[
    str,
    Field(max_length=MAX_ANY_TEXT),
    AfterValidator(check_text),
    WithJsonSchema({"type": "string", "maxLength": MAX_ANY_TEXT, "pattern": f"^[^{CONTROLS}]*$"}),
]
_NAME = TypeAdapter[str](Name)


def clean_name(name: str) -> str:
    """Return the name of a user or tenant without surrounding whitespace. Raises BadName."""
    try:
        return _NAME.validate_python(name)
    except ValidationError:
        raise BadName(f"A name needs 1 to {MAX_NAME_LENGTH} characters, without control characters.") from None
