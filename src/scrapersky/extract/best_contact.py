"""The best contact of a business: whom to write to, and why (docs/leads.md has the rule)."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from scrapersky.core.vocabularies import BY_PROVIDER, Verdict
from scrapersky.extract.emails.mailboxes import MailboxUse, mailbox_use
from scrapersky.extract.people.seniority import Seniority, TitleMeaning, functions_in, title_meaning
from scrapersky.extract.text import fold

Row = Mapping[str, Any]  # a contact: the columns of a lead file, and those that the statement adds


class ContactTier(IntEnum):
    """The order of the contacts of a business; the lowest is the best."""

    SENIOR = 1  # at the own domain: senior, of a preferred function, or the only person of the site
    GENERAL = 2  # the general mailbox of the own domain
    SENIOR_ELSEWHERE = 3  # the same people with free mail or at another domain
    BUSINESS = 4  # other mailboxes that the business reads
    STAFF = 5
    JUNIOR = 6
    UNSUITABLE = 7


_PEOPLE = {
    Seniority.OWNER: "Owner or founder",
    Seniority.CHIEF: "Head of the business",
    Seniority.EXECUTIVE: "Member of the management",
    Seniority.HEAD: "Head of a department or team",
    Seniority.STAFF: "Employee",
    Seniority.JUNIOR: "Junior employee",
    Seniority.OUTSIDE: "Person with another task",
}
_MAILBOXES = {
    MailboxUse.HEAD: "Mailbox of the head of the business",
    MailboxUse.GENERAL: "General mailbox",
    MailboxUse.CUSTOMERS: "Mailbox for customers",
    MailboxUse.UNKNOWN: "Mailbox without a name",
    MailboxUse.UNSUITABLE: "Mailbox for another purpose",
}
_TIERS = {
    MailboxUse.HEAD: ContactTier.GENERAL,
    MailboxUse.GENERAL: ContactTier.GENERAL,
    MailboxUse.CUSTOMERS: ContactTier.BUSINESS,
    MailboxUse.UNKNOWN: ContactTier.STAFF,
    MailboxUse.UNSUITABLE: ContactTier.UNSUITABLE,
}
_ELSEWHERE = {"free-mail": "free mail", "other-domain": "another domain"}
_DISTANCES = {kind: number for number, kind in enumerate(_ELSEWHERE, 1)}  # from the own domain, which has 0
_NO_TITLE = TitleMeaning(Seniority.STAFF)
_OTHER_PEOPLE = {Seniority.JUNIOR: ContactTier.JUNIOR, Seniority.OUTSIDE: ContactTier.UNSUITABLE}
# How bad a verdict is, and whether it is less than deliverable.
_VERDICTS = {Verdict.RISKY: (1, True), Verdict.UNDELIVERABLE: (2, True), Verdict.DELIVERABLE: (0, False)}
_NO_VERDICT = (0, True)
_VERDICT_WORDS = {None: "not verified", Verdict.UNKNOWN: "not known whether mail arrives"}


class Candidate:
    """A contact of the business, with what decides how suitable it is."""

    __slots__ = ("domain", "function", "is_only_person", "preferred", "row", "title", "use")

    def __init__(self, row: Row, preferred: Sequence[str] = (), is_only_person: bool = False) -> None:
        """Take the functions that the user prefers, the most preferred first."""
        self.row, self.preferred, self.is_only_person = row, preferred, is_only_person
        # What the title says; that of an employee without one.
        self.title: TitleMeaning = title_meaning(row["title"]) if row["title"] else _NO_TITLE
        self.use = self._use()
        self.domain = _DISTANCES.get(row["email_kind"], 0)
        self.function = self._function() if preferred else None

    def _use(self) -> MailboxUse:
        """Return what the mailbox is for. One that the provider names for the business is read by the business."""
        found = mailbox_use(self.row["email"] or "")
        is_named = found is MailboxUse.UNKNOWN and self.row["found_by"] == BY_PROVIDER
        return MailboxUse.GENERAL if is_named else found

    def _function(self) -> str | None:
        """Return the preferred function of this contact; none of people who cannot decide."""
        if self.row["person"]:
            found = self.title.functions if self.title.seniority <= Seniority.STAFF else ()
        else:
            found = functions_in(self.row["email"].partition("@")[0]) if self.row["email"] else ()
        return next((function for function in self.preferred if function in found), None)

    @property
    def is_senior(self) -> bool:
        """Whether this person is at least the head of a department, or the only person of the site."""
        is_only = self.is_only_person and self.title.seniority <= Seniority.STAFF
        return bool(self.row["person"]) and (self.title.seniority <= Seniority.HEAD or is_only)

    @property
    def tier(self) -> ContactTier:
        """The tier of this contact among those of the business."""
        if self.function or self.is_senior:
            return ContactTier.SENIOR_ELSEWHERE if self.domain else ContactTier.SENIOR
        if self.row["person"]:
            return _OTHER_PEOPLE.get(self.title.seniority, ContactTier.STAFF)
        if self.domain and (self.use <= MailboxUse.GENERAL or self.row["email_kind"] == "free-mail"):
            return ContactTier.UNSUITABLE if self.use is MailboxUse.UNSUITABLE else ContactTier.BUSINESS
        return _TIERS[self.use]

    @property
    def rank(self) -> tuple[Any, ...]:
        """The place among the contacts of the business; the lowest is the best."""
        row = self.row
        is_bad, is_not_sure = _VERDICTS.get(row["verdict"], _NO_VERDICT)
        preferred = self.preferred.index(self.function) if self.function else len(self.preferred)
        level = self.title.seniority if row["person"] else Seniority.OUTSIDE + self.use
        return (
            is_bad,
            row["is_of_another_branch"],
            self.tier,
            preferred,
            level,
            self.domain,
            is_not_sure,
            -(row["confidence"] or 0),
            row["email"] or "",
            row["person"] or "",
            row["source_url"] or "",
            row["id"],
        )


def rank(contacts: Iterable[Row], preferred: Sequence[str] = ()) -> list[Candidate]:
    """Return the contacts of a business, the best first."""
    rows = list(contacts)
    is_only = len({fold(row["person"]) for row in rows if row["person"]}) == 1
    return sorted((Candidate(row, preferred, is_only) for row in rows), key=lambda one: one.rank)


def explain(best: Candidate, others: Sequence[Candidate]) -> str:
    """Return why this contact with an address was chosen."""
    where = _ELSEWHERE.get(best.row["email_kind"], "own domain")
    verdict = best.row["verdict"]
    sentence = f"{_who(best)}, {where}, {_VERDICT_WORDS.get(verdict, verdict)}."
    addresses = {one.row["email"] for one in (best, *others)} - {None}
    only = " The only address." if len(addresses) == 1 else ""
    return sentence + only + _passed_over(best, others)


def explain_number(best: Candidate | None, others: Sequence[Candidate]) -> str:
    """Return why a phone number was chosen: no address is known."""
    if best is not None and best.is_senior:
        who = _who(best)
        return f"No address is known. Number of {who[0].lower()}{who[1:]}."
    who = "Number of a person" if best is not None and best.row["person"] else "Main number"
    return f"No address is known. {who}.{_passed_over(best, others)}"


def _who(one: Candidate) -> str:
    title = f" ({one.row['title']})" if one.row["title"] else ""
    if one.function:
        name = one.function.upper() if len(one.function) == 2 else one.function.capitalize()
        return f"{name} as preferred{title}" if one.row["person"] else f"{name} mailbox as preferred"
    if not one.row["person"]:
        is_of_business = one.row["email_kind"] == "free-mail" and one.use is not MailboxUse.UNSUITABLE
        return "Mailbox of the business" if is_of_business else _MAILBOXES[one.use]
    if one.title.seniority == Seniority.STAFF and one.is_only_person:
        return f"The only person of the site{title}"
    return f"{_PEOPLE[one.title.seniority]}{title}" if title else "Person without a title"


def _passed_over(best: Candidate | None, others: Sequence[Candidate]) -> str:
    """Return the sentence about the most senior person who was not chosen, or ""."""
    if best is not None and best.function:
        return ""
    level = best.title.seniority if best is not None and best.is_senior else Seniority.STAFF
    name = best.row["person"] if best is not None else None
    senior = [one for one in others if one.row["person"] and one.title.seniority < level and one.row["person"] != name]
    if not senior:
        return ""
    person = min(senior, key=lambda one: (one.title.seniority, one.row["email"] is None, one.rank))
    return f" {person.row['person']} ({person.row['title']}) has {_shortcoming(person)}."


def _shortcoming(person: Candidate) -> str:
    if person.row["email"] is None:
        return "no address"
    if person.row["verdict"] in (Verdict.RISKY, Verdict.UNDELIVERABLE):
        return f"a{'n' if person.row['verdict'] == Verdict.UNDELIVERABLE else ''} {person.row['verdict']} address"
    if person.row["is_of_another_branch"]:
        return "an address of another branch"
    return {"free-mail": "free mail only"}.get(person.row["email_kind"], "an address at another domain only")
