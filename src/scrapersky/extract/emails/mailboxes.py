"""What a mailbox without a person is for, by the part of its address before the @ (data/functions.toml)."""

import re
from enum import IntEnum
from functools import cache, lru_cache

from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table

_BREAK = re.compile(r"[._+-]")


class MailboxUse(IntEnum):
    """The use of a mailbox; the lowest number is the best to write to."""

    HEAD = 0  # of the head of the business: director@, vicar@
    GENERAL = 1
    CUSTOMERS = 2  # sales, booking, service
    UNKNOWN = 3  # a person's, or a department's that no list has
    UNSUITABLE = 4  # applications, invoices, press, privacy, web master


def mailbox_use(address: str) -> MailboxUse:
    """Return the use of a mailbox. One with the name of its domain is a general one: acme@acme.com."""
    local, _, domain = fold(address[:320]).rpartition("@")
    known, plain = _use_by_name(local)
    if known is not None:
        return known
    site = domain.rpartition(".")[0].replace("-", "").replace(".", "")
    return MailboxUse.GENERAL if len(plain) > 2 and plain in site else MailboxUse.UNKNOWN


@lru_cache(10_000)
def _use_by_name(local: str) -> tuple[MailboxUse | None, str]:
    """Return the use that the words before the @ name, if they name one, and these words as one."""
    uses, words = _uses(), [word for word in _BREAK.split(local) if word]
    known = [use for word in words if (use := uses.get(word)) is not None]
    return uses.get(local, max(known, default=None)), "".join(words)


def is_function(local: str) -> bool:
    """Return whether each word before the @ names a function; the mailbox of a head belongs to a person."""
    folded = fold(local[:320])
    uses = [_uses().get(word) for word in ([folded] if folded in _uses() else _BREAK.split(folded))]
    return None not in uses and MailboxUse.HEAD not in uses


@cache
def _uses() -> dict[str, MailboxUse]:
    table = load_table("functions")["mailboxes"]
    uses = {
        "heads": MailboxUse.HEAD,
        "customers": MailboxUse.CUSTOMERS,
        "unsuitable": MailboxUse.UNSUITABLE,
        "general": MailboxUse.GENERAL,
    }
    return {fold(word): use for name, use in uses.items() for word in table[name].replace(",", " ").split()}
