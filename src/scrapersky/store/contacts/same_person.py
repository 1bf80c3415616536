"""One person once per domain: rows of a page are stored under the contact that the domain has of the same person."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import asyncpg

from scrapersky.core.contact_fields import PERSON_FIELDS
from scrapersky.extract.emails.mailboxes import MailboxUse, mailbox_use
from scrapersky.extract.matching.person_names import any_fit, fit, read_name
from scrapersky.store.contacts import name_forms
from scrapersky.store.contacts.row_merge import RowMerge, own_name
from scrapersky.store.contacts.rows import RANKED_FIELDS, Row, is_of_name, mailbox_identity, person_identity

# One transaction at a time compares the people of a domain; all take the locks in one order.
_LOCK = """
SELECT pg_advisory_xact_lock(hashtextextended('people of domain ' || domain_id, 0))
FROM (SELECT DISTINCT domain_id FROM unnest($1::uuid[]) AS given(domain_id) ORDER BY domain_id) domains"""
_KNOWN = f"""
SELECT c.domain_id, c.identity, c.name_latin, c.email, c.email_kind, c.is_separate,
    c.edited_at IS NOT NULL AS is_edited,
    {own_name("c")} AS name, {own_name("kept")} AS kept_name, kept.identity AS kept_identity,
    c.is_merged_by_rule AND kept.edited_at IS NULL AS is_open
FROM contact c LEFT JOIN contact kept ON kept.id = c.merged_into_id
WHERE c.tenant_id = $1 AND c.domain_id = ANY ($2::uuid[]) AND (c.name IS NOT NULL OR c.email IS NOT NULL)
ORDER BY c.domain_id, c.identity COLLATE "C\""""  # noqa: S608 - own names
# The contact of the address stands for the person and takes each field of the better rank, but never an address.
_TAKEN = RowMerge("merged", [name for name in RANKED_FIELDS if name != "email"])
_OF_PERSON = (*PERSON_FIELDS, "phone")
_MOVED = RowMerge("moved", [name for name in RANKED_FIELDS if name in _OF_PERSON])
# What a person decided about the merged contact holds for the one that stands for it.
_MERGE = f"""
WITH found AS (
    SELECT contact.id, kept.id AS kept_id,
        CASE WHEN contact.merged_into_id IS NULL THEN contact.curation_status ELSE 'New' END AS decision
    FROM unnest($2::uuid[], $3::text[], $4::text[]) AS given(domain_id, identity, kept_identity)
    JOIN contact kept ON kept.tenant_id = $1 AND kept.domain_id = given.domain_id
        AND kept.identity = given.kept_identity
    JOIN contact ON contact.tenant_id = $1 AND contact.domain_id = given.domain_id AND contact.identity = given.identity
    WHERE contact.id <> kept.id AND (contact.merged_into_id IS NULL OR contact.is_merged_by_rule)
        AND contact.edited_at IS NULL
        AND contact.suppressed_at IS NULL AND NOT contact.is_separate AND NOT kept.is_separate
), merged AS (
    UPDATE contact SET merged_into_id = found.kept_id, is_merged_by_rule = true, curation_status = 'Archived',
        updated_at = now()
    FROM found WHERE contact.id = found.id
    RETURNING found.kept_id, found.decision, contact.*
)
UPDATE contact known SET {_TAKEN.set_clause},
    curation_status = CASE WHEN known.curation_status = 'New' THEN merged.decision ELSE known.curation_status END
FROM merged WHERE known.id = merged.kept_id"""  # noqa: S608 - own names
# The person moves to the contact of the better address; that of the other address stays as a mailbox.
_MOVE = f"""
WITH found AS (
    SELECT contact.id, kept.id AS kept_id
    FROM unnest($2::uuid[], $3::text[], $4::text[]) AS given(domain_id, identity, kept_identity)
    JOIN contact kept ON kept.tenant_id = $1 AND kept.domain_id = given.domain_id
        AND kept.identity = given.kept_identity
    JOIN contact ON contact.tenant_id = $1 AND contact.domain_id = given.domain_id AND contact.identity = given.identity
    WHERE contact.merged_into_id IS NULL AND kept.merged_into_id IS NULL AND contact.edited_at IS NULL
        AND contact.suppressed_at IS NULL AND NOT contact.is_separate AND NOT kept.is_separate
), moved AS (
    SELECT found.kept_id, contact.* FROM found JOIN contact ON contact.id = found.id
), cleared AS (
    UPDATE contact SET {", ".join(f"{name} = NULL" for name in _OF_PERSON)}, updated_at = now(),
        fact_ranks = nullif(fact_ranks - $5::text[], '{{}}'), sources = nullif(sources - $5::text[], '{{}}')
    FROM found WHERE contact.id = found.id
), followed AS (
    UPDATE contact SET merged_into_id = found.kept_id
    FROM found WHERE contact.merged_into_id = found.id AND contact.is_merged_by_rule
)
UPDATE contact known SET {_MOVED.set_clause},
    curation_status = CASE WHEN known.curation_status = 'New' THEN moved.curation_status ELSE known.curation_status END
FROM moved WHERE known.id = moved.kept_id"""  # noqa: S608 - own names
# The addresses of one person, the best first; of two of one kind the first in the alphabet.
_KINDS = ("personal", "free-mail", "other-domain", "role")


@dataclass
class KnownPeople:
    """The people and addresses of one domain: the identities under which they are stored."""

    by_person: dict[str, str] = field(default_factory=dict)  # identity of the name -> identity of the contact
    by_email: dict[str, tuple[str, str]] = field(default_factory=dict)  # address -> its contact, and whose name it has
    edited: dict[str, str] = field(default_factory=dict)  # identity of an edited contact -> its name
    separate: set[str] = field(default_factory=set)  # identities of contacts that a person split
    addresses: dict[str, tuple[int, str]] = field(default_factory=dict)  # identity -> the order of its address

    names: set[str] = field(default_factory=set)  # also those in Latin letters

    def add(self, name: str | None, email: str | None, kind: str | None, identity: str, latin: str | None) -> None:
        """Remember a contact. The contact of an address is known before a person's row that shares it."""
        self.names.update(filter(None, (name, latin)))
        if email and identity == mailbox_identity(email):
            self.addresses[identity] = _address_order(email, kind)
        person = person_identity(name) if name else ""
        if person and (is_of_name(identity) or identity not in self.separate):
            self.by_person.setdefault(person, identity)
        if email and (email not in self.by_email or identity == mailbox_identity(email)):
            self.by_email[email] = (identity, person)

    def add_known(self, row: asyncpg.Record) -> None:
        """Remember a stored contact, and what a person decided about it.

        A merged contact is known by the identity of the contact that stands for it, unless that one is of another form
        of the name: then it has the values of its own pages (`name_forms.py`).
        """
        is_form = row["is_open"] and not _is_same(row["name"], row["kept_name"])
        identity = row["identity"] if is_form or not row["kept_identity"] else row["kept_identity"]
        if row["is_separate"]:
            self.separate.add(identity)
        if row["is_edited"] and not row["kept_identity"]:
            self.edited[identity] = row["name"] or ""
        self.add(
            row["name"], None if row["kept_identity"] else row["email"], row["email_kind"], identity, row["name_latin"]
        )

    def add_row(self, row: Row) -> None:
        """Remember a row that is going to be stored."""
        self.add(row.get("name"), row.get("email"), row.get("email_kind"), row["identity"], row.get("name_latin"))

    def stored_under(self, name: str) -> str:
        """Return the identity of the contact of a person; "" if there is none.

        The spelling that a person wrote by hand is one with that of the pages.
        """
        person = person_identity(name)
        if person in self.by_person:
            return self.by_person[person]
        spelt = [
            identity for identity, other in self.edited.items() if other and fit(read_name(name), read_name(other))
        ]
        return spelt[0] if len(spelt) == 1 else ""

    @property
    def may_have_forms(self) -> bool:
        """Whether two contacts of the domain may be one person: most domains have none."""
        may_be_a_persons = any(
            not owner and mailbox_use(email) is MailboxUse.UNKNOWN for email, (_, owner) in self.by_email.items()
        )
        return bool(self.names) and (may_be_a_persons or any_fit([read_name(name) for name in self.names]))

    def is_worse(self, identity: str, email: str, kind: str | None) -> bool:
        """Return whether a person moves from the contact of this identity to that of a better address."""
        if identity in self.edited or identity not in self.addresses:
            return False
        return _address_order(email, kind) < self.addresses[identity]

    def move(self, person: str, former: str, identity: str) -> None:
        """Remember that the person is now stored under another identity; the former contact is a mailbox."""
        self.by_person[person] = identity
        self.by_email = {email: (of, "" if of == former else owner) for email, (of, owner) in self.by_email.items()}

    def is_decided(self, identity: str, name: str) -> bool:
        """Return whether a person split the contact of this identity, or gave it the name of somebody else."""
        edited = self.edited.get(identity)
        return identity in self.separate or bool(edited and not fit(read_name(name), read_name(edited)))


Change = tuple[UUID, str, str]  # domain, identity, identity of the contact that stands for the person


@dataclass(frozen=True)
class Resolved:
    """Rows with the identities to store them under, the contacts to merge, and those whose person moves."""

    rows: list[Row]
    merges: list[Change]
    moves: list[Change]
    with_forms: list[UUID]  # domains on which names may be written in several ways


async def resolve(driver: asyncpg.Connection, tenant_id: UUID, rows: Sequence[Row]) -> Resolved:
    """Return the rows under the identities of the people that their domains have already."""
    if not any(row.get("name") or row.get("email") for row in rows):
        return Resolved(list(rows), [], [], [])
    domain_ids = [row["domain_id"] for row in rows]
    await driver.execute(_LOCK, domain_ids)
    known: dict[UUID, KnownPeople] = {domain_id: KnownPeople() for domain_id in domain_ids}
    for one in await driver.fetch(_KNOWN, tenant_id, list(known)):
        known[one["domain_id"]].add_known(one)
    resolved: list[Row] = []
    merges: list[Change] = []
    moves: list[Change] = []
    for row in rows:
        people = known[row["domain_id"]]
        if former := _moves_from(row, people):
            people.move(person_identity(row["name"]), former, row["identity"])
            moves.append((row["domain_id"], former, row["identity"]))
        for stored, merged in _resolve_row(row, people):
            if merged:
                merges.append((row["domain_id"], merged, stored["identity"]))
                people.by_person[person_identity(row["name"])] = stored["identity"]
            if not stored.get("name") or not people.is_decided(stored["identity"], stored["name"]):
                people.add_row(stored)
            resolved.append(stored)
    with_forms = [domain_id for domain_id, people in known.items() if people.may_have_forms]
    return Resolved(resolved, merges, moves, with_forms)


async def merge(driver: asyncpg.Connection, tenant_id: UUID, resolved: Resolved) -> None:
    """Merge contacts that turned out to be the same person, and move people to their better addresses."""
    if merges := sorted(set(resolved.merges)):
        await driver.execute(_MERGE, tenant_id, *[list(column) for column in zip(*merges, strict=True)])
    for change in resolved.moves:  # rare, and a person may move twice: one after the other
        await driver.execute(_MOVE, tenant_id, *[[value] for value in change], list(_OF_PERSON))
    await name_forms.apply(driver, tenant_id, resolved.with_forms)


def _moves_from(row: Row, people: KnownPeople) -> str:
    """Return the identity of the contact from which the person of this row moves to its better address, or ""."""
    name, email, identity = row.get("name"), row.get("email"), row["identity"]
    if not name or not email or identity != mailbox_identity(email):
        return ""
    stored, owner = people.stored_under(name), people.by_email.get(email, ("", ""))[1]
    if not stored or is_of_name(stored) or stored == identity:
        return ""
    if owner not in ("", person_identity(name)) or people.is_decided(identity, name):
        return ""
    return stored if people.is_worse(stored, email, row.get("email_kind")) else ""


def _resolve_row(row: Row, people: KnownPeople) -> list[tuple[Row, str]]:
    """Return the rows to store for one row, each with the identity of a contact that it replaces, or ""."""
    name, email, identity = row.get("name"), row.get("email"), row["identity"]
    if not name:
        return [(row, "")]
    person = person_identity(name)
    if people.is_decided(identity, name):
        return [(row, "")]
    stored = people.stored_under(name)
    has_own_address = bool(stored) and not is_of_name(stored)
    owner = people.by_email.get(email, ("", ""))[1] if email else ""
    if identity == person or (owner and owner != person):  # no address, or one that others have, too
        return [(_without_email(row, stored) if has_own_address else {**row, "identity": stored or person}, "")]
    if has_own_address and stored != identity:
        return [(_without_email(row, stored), ""), (_mailbox(row), "")]  # a second address of the same person
    return [(row, stored if is_of_name(stored) else "")]


def _is_same(name: str | None, other: str | None) -> bool:
    return bool(name and other) and person_identity(str(name)) == person_identity(str(other))


def _address_order(email: str, kind: str | None) -> tuple[int, str]:
    return (_KINDS.index(kind) if kind in _KINDS else len(_KINDS), email)


def _without_email(row: Row, identity: str) -> Row:
    return {**row, "identity": identity, "email": None, "email_kind": None}


def _mailbox(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in (*PERSON_FIELDS, "phone")}
