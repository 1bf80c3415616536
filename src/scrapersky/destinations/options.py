"""What may be set about a destination of each kind, checked before it is kept."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from scrapersky.core.errors import BadRequest

Kind = Literal["webhook", "hubspot", "brevo", "n8n"]
Fact = Literal[
    "first_name",
    "last_name",
    "name",
    "title",
    "phone",
    "email_kind",
    "address",
    "business",
    "website",
    "domain",
    "city",
    "country",
    "source_url",
    "confidence",
    "verdict",
    "contact_id",
]
# What belongs to the message itself, and to nobody's secret.
RESERVED_HEADERS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"}
)


class BadOptions(BadRequest):
    """An option of the destination does not do."""

    status_code = 422


def _free_header(name: str) -> str:
    if name.lower() in RESERVED_HEADERS:
        raise ValueError("must be a header that is not the message's own")
    return name


class Options(BaseModel):
    """Nothing can be set."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class N8nOptions(Options):
    """The header that the node asks for."""

    header: Annotated[str, StringConstraints(pattern="^[A-Za-z][A-Za-z0-9-]{0,59}$"), AfterValidator(_free_header)] = (
        "Authorization"
    )


class HubSpotOptions(Options):
    """Which fact goes into which property; null leaves it out."""

    fields: dict[Fact, Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,99}$")] | None] = Field(
        default_factory=dict
    )


class BrevoOptions(Options):
    """The lists of new contacts, and which fact goes into which attribute."""

    list_ids: list[Annotated[int, Field(ge=1, le=2**53)]] = Field(default_factory=list, max_length=50)
    fields: dict[Fact, Annotated[str, StringConstraints(pattern="^[A-Z][A-Z0-9_]{0,99}$")] | None] = Field(
        default_factory=dict
    )


OPTIONS: Mapping[str, type[Options]] = {
    "webhook": Options,
    "hubspot": HubSpotOptions,
    "brevo": BrevoOptions,
    "n8n": N8nOptions,
}


def checked_options(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options as they are kept, or BadOptions naming the first that does not do."""
    try:
        return OPTIONS[kind].model_validate(dict(given)).model_dump(exclude_unset=True)
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(str(part) for part in wrong["loc"])[:100]
        known = ", ".join(OPTIONS[kind].model_fields) or "none"
        raise BadOptions(f"options.{where}: {wrong['msg']}. A {kind} destination knows: {known}.") from None
