"""The kinds of values that requests about people may hold: names, passwords, tokens."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, WithJsonSchema

from scrapersky.api.schemas.fields import CONTROLS, check_text, max_length
from scrapersky.core import passwords

NAME_LENGTH = 100
TOKEN_LENGTH = 200


def _secret(given: SecretStr) -> SecretStr:
    check_text(given.get_secret_value())
    return given


def _described(least: int, most: int) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "type": "string",
            "format": "password",
            "minLength": least,
            "maxLength": most,
            "pattern": f"^[^{CONTROLS}]*$",
            "writeOnly": True,
        }
    )


Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=NAME_LENGTH),
    max_length(NAME_LENGTH),
    AfterValidator(check_text),
    WithJsonSchema(
        {
            "type": "string",
            "minLength": 1,
            "maxLength": NAME_LENGTH,
            "pattern": f"^[^{CONTROLS}]*[^\\s{CONTROLS}][^{CONTROLS}]*$",
        }
    ),
]
# Longer ones are refused before they are hashed: that is slow, and slower the longer they are.
Password = Annotated[
    SecretStr,
    Field(min_length=1, max_length=passwords.MAX_LENGTH),
    AfterValidator(_secret),
    _described(1, passwords.MAX_LENGTH),
]
NewPassword = Annotated[
    SecretStr,
    Field(min_length=passwords.MIN_LENGTH, max_length=passwords.MAX_LENGTH),
    AfterValidator(_secret),
    _described(passwords.MIN_LENGTH, passwords.MAX_LENGTH),
]
Token = Annotated[
    SecretStr, Field(min_length=1, max_length=TOKEN_LENGTH), AfterValidator(_secret), _described(1, TOKEN_LENGTH)
]
