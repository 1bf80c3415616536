"""SQL conditions for rows that a step has left behind: skipped, failed or postponed; and for undecided ones.

Progress counts these rows and lists filter by them, so both use the same conditions.
"""

from itertools import pairwise

from scrapersky.store.steps import STEPS, LineStep

NO_REASON = "it is scheduled for a later day: a quota of the tenant"  # the schedule of quotas stores no reason
NOT_STORED = "no reason was stored"

# Host names and numbers differ from row to row; HTTP status codes and names of well-known files are part of a reason.
_SITE = (
    r"https?://[^[:space:]]*[^[:space:].,;:)]"
    r"|\m(?!robots[.]txt\M|sitemap[^[:space:]]*[.]xml\M)[[:alnum:]@_-]+([.][[:alnum:]@_-]+)*[.]([a-z]{2,}|[0-9]+)(:[0-9]+)?\M"
)
_NUMBER = r"\m(?![345][0-9][0-9]\M(?! (s|ms|seconds|minutes|bytes|KB|MB)\M))[0-9]+([.,][0-9]+)*"


def without_names(message: str) -> str:
    """Build the expression for a message without host names and numbers: equal for messages with the same reason."""
    return f"regexp_replace(regexp_replace({message}, '{_SITE}', 'a site', 'gi'), '{_NUMBER}', '…', 'g')"


def is_left_behind(queue: str, row: str) -> str:
    """Build the condition that a row was skipped, has failed, or waits for another try or for a later day."""
    status = f"{row}.{queue}_status"
    return (
        f"({status} IN ('Skipped', 'Error', 'Queued') "  # a list, which an index can look up
        f"AND ({status} <> 'Queued' OR {row}.{queue}_error IS NOT NULL OR {row}.{queue}_due_at > now()))"
    )


def reason_of(queue: str, row: str) -> str:
    """Build the expression for the reason of a row that was left behind."""
    otherwise = f"CASE WHEN {row}.{queue}_status = 'Queued' THEN '{NO_REASON}' ELSE '{NOT_STORED}' END"
    return f"coalesce({row}.{queue}_error, {otherwise})"


def is_undecided(step: LineStep, row: str) -> str:
    """Build the condition that a row could enter the step, and that neither a rule nor a person has let it."""
    before = next((one for one, after in pairwise(STEPS) if after is step and one.table == step.table), None)
    came = f"{before.was_passed(row)} AND " if before else ""
    return f"({came}{row}.curation_status = 'New' AND {row}.{step.queue}_status = 'New' AND {step.can_enter(row)})"
