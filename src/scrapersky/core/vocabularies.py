"""The vocabularies of the line: what a machine has done with a row, what a person wants done with it, who gets mail."""

from enum import StrEnum

from sqlalchemy import CheckConstraint


class Status(StrEnum):
    """Where a row stands in one queue."""

    NEW = "New"
    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETED = "Completed"
    SKIPPED = "Skipped"
    ERROR = "Error"


class Curation(StrEnum):
    """What a person has decided about a row."""

    NEW = "New"
    SELECTED = "Selected"
    MAYBE = "Maybe"
    NOT_A_FIT = "Not a Fit"
    ARCHIVED = "Archived"


UNWANTED = (Curation.NOT_A_FIT, Curation.ARCHIVED)  # what a person has turned down: the line goes no further with it


class Verdict(StrEnum):
    """Whether a letter to an address would arrive, as far as can be told without sending one."""

    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"
    UNKNOWN = "unknown"


def check_words(column: str, words: type[StrEnum]) -> CheckConstraint:
    """The CHECK that keeps a text column to one vocabulary."""
    listed = ", ".join(f"'{word.value}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_word")


EXPIRED_NAME = (
    "(expired under the provider's terms)"  # the name of a business whose provider data may no longer be kept
)
