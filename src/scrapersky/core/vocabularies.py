"""The vocabularies of the line: status in a queue, curation by people, deliverability of an address."""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import CheckConstraint


class Status(StrEnum):
    """The status of a row in one queue."""

    NEW = "New"
    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETED = "Completed"
    SKIPPED = "Skipped"
    ERROR = "Error"


class WaitsFor(StrEnum):
    """What a postponed row waits for, where an event ends the wait."""

    TENANT = "tenant"  # until its tenant is enabled
    MONEY = "money"  # until the budget of its search or the quota of its tenant is raised


class Curation(StrEnum):
    """What a person has decided about a row."""

    NEW = "New"
    SELECTED = "Selected"
    MAYBE = "Maybe"
    NOT_A_FIT = "Not a Fit"
    ARCHIVED = "Archived"


REJECTED = (Curation.NOT_A_FIT, Curation.ARCHIVED)  # a rejected row goes no further on the line


class HiddenReason(StrEnum):
    """Why a page or a site shows nothing to a reader without a browser, an account or consent."""

    JAVASCRIPT = "javascript"  # drawn by JavaScript: the HTML is a shell without text
    BOT_CHECK = "bot_check"  # asks for a proof that the visitor is human, or refuses robots
    LOGIN = "login"  # asks for a password
    CONSENT = "consent"  # asks for consent to cookies, or for the visitor's age
    PARKED = "parked"  # the domain is for sale, or has the placeholder page of a registrar
    UNFINISHED = "unfinished"  # under construction, in maintenance, suspended, or the default page of a server


class WebsiteHow(StrEnum):
    """How the web site of a business was found that its provider does not know."""

    EMAIL = "email"  # the domain of its email address
    RECORD = "record"  # another record of the same business has it
    NAME = "name"  # the domain has its name, and the page proves it
    SEARCH = "search"  # a web search returned it, and the page proves it
    PERSON = "person"  # set by hand: nothing overwrites it


class JoinedBy(StrEnum):
    """What decided that two records are one business."""

    RULE = "rule"
    PERSON = "person"  # no rule undoes it


class Verdict(StrEnum):
    """Whether mail to an address would arrive, judged without sending any."""

    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"
    UNKNOWN = "unknown"


class JobFunction(StrEnum):
    """What a person or a mailbox of a business is for; data/functions.toml has the words for each."""

    MARKETING = "marketing"
    SALES = "sales"
    IT = "it"
    FINANCE = "finance"
    HR = "hr"
    PURCHASING = "purchasing"
    OPERATIONS = "operations"
    LEGAL = "legal"
    COMMUNICATIONS = "communications"
    SUPPORT = "support"
    TECHNICAL = "technical"


def parse_functions(text: str) -> tuple[JobFunction, ...]:
    """Return the functions of a comma separated list, in its order, each once. Raises ValueError with the choices."""
    words = [word for part in text[:1000].split(",") if (word := part.strip().lower())]
    if unknown := [word for word in words if word not in set(JobFunction)]:
        raise ValueError(f"has no function {unknown[0][:60]!r}: choose from {', '.join(JobFunction)}")
    return tuple(dict.fromkeys(map(JobFunction, words)))


def check_vocabulary(column: str, words: type[StrEnum]) -> "CheckConstraint":
    """Build the CHECK constraint that limits a text column to one vocabulary."""
    from sqlalchemy import CheckConstraint  # here: parser processes read these words, and need no SQLAlchemy

    listed = ", ".join(f"'{word.value}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_check")


# Shown as the name of a place or business whose provider data may no longer be kept; `expired_at` has the state.
EXPIRED_NAME = "(expired under the provider's terms)"
CAMPAIGN = "campaign"  # `provider` of a search that groups other searches; it calls no provider
SITES = "domains"  # `provider` of a search that is a list of web sites
BY_PROVIDER = "provider"  # `found_by` of a contact that its provider names, and no page
