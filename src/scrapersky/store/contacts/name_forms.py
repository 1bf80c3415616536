"""One person whose name is written in several ways, or stands in an address of the site: one contact stands for all.

Every contact keeps the values of its own pages. The one that stands for the person shows values of the others beside
them; they are marked by their rank, so that they can be taken back when another page shows that these are two people.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from scrapersky.core.contact_fields import EVIDENCE, NAME_PARTS
from scrapersky.extract.emails.mailboxes import MailboxUse, mailbox_use
from scrapersky.extract.matching.person_names import Fit, PersonName, group, read_name
from scrapersky.extract.people.address_names import find_owners, find_owners_by_initials
from scrapersky.store.contacts.row_merge import BORROWED, INSTEAD_OF, is_borrowed, title_order
from scrapersky.store.contacts.rows import RANKED_FIELDS, Row, mailbox_identity, person_identity

_SHOWN = (*(name for name in RANKED_FIELDS if name != "email"), *NAME_PARTS, "fact_ranks", "sources")
_JSON = ("profiles", "fact_ranks", "sources")

_ROWS = f"""
SELECT c.id, c.identity, c.merged_into_id, c.email, c.email_kind, c.evidence_rank, c.domain_id,
    {", ".join(f"c.{name}::text AS {name}" if name in _JSON else f"c.{name}" for name in (*_SHOWN, *EVIDENCE))},
    c.edited_at IS NOT NULL OR c.is_separate OR c.suppressed_at IS NOT NULL AS is_closed,
    EXISTS (SELECT FROM contact m WHERE m.merged_into_id = c.id AND NOT m.is_merged_by_rule) AS is_merged_by_hand
FROM contact c
WHERE c.tenant_id = $1 AND c.domain_id = ANY ($2::uuid[]) AND (c.name IS NOT NULL OR c.email IS NOT NULL)
    AND (c.merged_into_id IS NULL OR c.is_merged_by_rule)"""  # noqa: S608 - own names
_SHOW = f"""
UPDATE contact known SET {", ".join(f"{name} = given.{name}" for name in _SHOWN)}, updated_at = now()
FROM jsonb_to_recordset($1::text::jsonb)
    AS given(id uuid, {", ".join(f"{name} {'jsonb' if name in _JSON else 'text'}" for name in _SHOWN)})
WHERE known.id = given.id"""  # noqa: S608 - own names
# What a person decided about the hidden contact holds for the one that stands for it.
_HIDE = """
WITH hidden AS (
    SELECT contact.id, given.kept_id,
        CASE WHEN contact.merged_into_id IS NULL THEN contact.curation_status ELSE 'New' END AS decision
    FROM unnest($1::uuid[], $2::uuid[]) AS given(id, kept_id) JOIN contact ON contact.id = given.id
), merged AS (
    UPDATE contact SET merged_into_id = hidden.kept_id, is_merged_by_rule = true, curation_status = 'Archived',
        updated_at = now()
    FROM hidden WHERE contact.id = hidden.id
)
UPDATE contact known SET curation_status = decided.decision
FROM (SELECT kept_id, min(decision) AS decision FROM hidden WHERE decision <> 'New' GROUP BY kept_id) decided
WHERE known.id = decided.kept_id AND known.curation_status = 'New'"""
_RELEASE = """
UPDATE contact SET merged_into_id = NULL, is_merged_by_rule = false, curation_status = 'New', updated_at = now()
WHERE id = ANY ($1::uuid[])"""


@dataclass(frozen=True)
class Decision:
    """What is to be shown, which contacts to hide behind which, and which to show again."""

    shown: list[Row]
    hidden: dict[UUID, UUID]
    released: list[UUID]


async def apply(driver: asyncpg.Connection, tenant_id: UUID, domain_ids: Iterable[UUID]) -> None:
    """Let one contact stand for each person of these domains whose name is written in several ways."""
    domains: dict[UUID, list[Row]] = {domain_id: [] for domain_id in domain_ids}
    if not domains:
        return
    for record in await driver.fetch(_ROWS, tenant_id, sorted(domains)):
        parsed = {name: json.loads(record[name] or "null") for name in _JSON}
        domains[record["domain_id"]].append({**record, **parsed})
    for _, rows in sorted(domains.items()):
        decision = decide(rows)
        if decision.released:
            await driver.execute(_RELEASE, decision.released)
        if decision.hidden:
            await driver.execute(_HIDE, list(decision.hidden), list(decision.hidden.values()))
        if decision.shown:
            given = [{name: row[name] for name in ("id", *_SHOWN)} for row in decision.shown]
            await driver.execute(_SHOW, json.dumps(given, default=str))


def decide(rows: Sequence[Row]) -> Decision:
    """Decide which contacts of one domain are one person; the order of the rows does not matter."""
    rows = sorted(rows, key=lambda row: str(row["identity"]))
    own = {row["id"]: _own(row) for row in rows}
    people = [row for row in own.values() if row["name"] and not _is_same_as_kept(row, own)]
    shown, hidden = dict(own), dict[UUID, UUID]()
    for kept, others in _stand_ins(people, _open_mailboxes(own.values(), people)):
        shown[kept["id"]] = _combined(kept, others)
        hidden |= {row["id"]: kept["id"] for row in others}
    return Decision(
        [shown[row["id"]] for row in rows if any(shown[row["id"]][name] != row[name] for name in _SHOWN)],
        {id_: kept for id_, kept in hidden.items() if own[id_]["merged_into_id"] != kept},
        [row["id"] for row in people if row["merged_into_id"] and row["id"] not in hidden],
    )


def _own(row: Row) -> Row:
    """Return the row with the values of its own pages only."""
    ranks, sources = dict(row["fact_ranks"] or {}), dict(row["sources"] or {})
    borrowed = [] if row["is_closed"] else [name for name, rank in ranks.items() if is_borrowed(rank)]
    if not borrowed:
        return row
    values: Row = {}
    for name in borrowed:
        former = sources.pop(name, {}).get(INSTEAD_OF) or {}
        values |= {name: None, **(dict.fromkeys(NAME_PARTS) if name == "name" else {}), **former.get("values", {})}
        if former and (former["rank"], former["source"]["url"]) != (row["evidence_rank"], row["source_url"]):
            ranks[name], sources[name] = former["rank"], former["source"]
        else:
            del ranks[name]
    return {**row, **values, "fact_ranks": ranks or None, "sources": sources or None}


def _is_same_as_kept(row: Row, own: Mapping[UUID, Row]) -> bool:
    """Return whether the row is merged into a contact of the same name, or one that this module leaves alone."""
    if row["merged_into_id"] is None:
        return False
    kept = own.get(row["merged_into_id"])
    if kept is None or kept["is_closed"]:
        return True
    return bool(kept["name"]) and person_identity(kept["name"]) == person_identity(row["name"])


def _open_mailboxes(rows: Iterable[Row], people: Sequence[Row]) -> dict[str, Row]:
    """Return the mailboxes that no page gives to anybody and that may be one person's, the best first."""
    taken = {row["email"] for row in people}
    found = {
        row["email"]: row
        for row in rows
        if row["email"] and row["identity"] == mailbox_identity(row["email"]) and row["email"] not in taken
    }
    return {
        email: row
        for email, row in sorted(found.items(), key=lambda one: (_ADDRESS_KINDS.get(one[1]["email_kind"], 0), one[0]))
        if not (row["name"] or row["is_closed"] or row["merged_into_id"])
        # info@ and roe@roe-dental.com are the business's
        and mailbox_use(email) is MailboxUse.UNKNOWN
    }


_ADDRESS_KINDS = {"free-mail": 1, "other-domain": 2, "role": 3}


def _stand_ins(people: Sequence[Row], mailboxes: Mapping[str, Row]) -> list[tuple[Row, list[Row]]]:
    """Return the contacts that stand for a person of several contacts, with the other ones."""
    names = [_name_of(row) for row in people]

    def may_join(one: int, other: int, found: Fit) -> bool:
        return not _contradict(people[one], people[other], found)

    groups = [sorted(found, key=lambda index: _place(people[index], names[index])) for found in group(names, may_join)]
    fullest = [max(found, key=lambda index: names[index].fullness) for found in groups]
    called = [people[index]["name_latin"] or people[index]["name"] for index in fullest]
    by_initials = [email for email, row in mailboxes.items() if row["email_kind"] == "personal"]
    owners = find_owners_by_initials(called, by_initials)
    owners |= {number: address for number, (_, address) in find_owners(called, mailboxes).items()}
    stand_ins = []
    for number, found in enumerate(groups):
        members = [people[index] for index in found if not people[index]["is_closed"]]
        has_address = any(_address(people[index]) for index in found)
        if number in owners and not has_address and members:
            members = [mailboxes[owners[number]], *members]
        others = [row for row in members[1:] if not row["is_merged_by_hand"]]
        if others:
            stand_ins.append((members[0], others))
    return stand_ins


def _name_of(row: Row) -> PersonName:
    return read_name(row["name"], row["first_name"] or "", row["name_latin"] or "")


def _contradict(one: Row, other: Row, found: Fit) -> bool:
    """Return whether addresses or numbers show that two contacts are two people although their names fit."""
    addresses = {_address(one), _address(other)} - {""}
    numbers = {one["phone"], other["phone"]} - {None} if found is Fit.SHORT_FORM else ()
    return len(addresses) > 1 or len(numbers) > 1


def _address(row: Row) -> str:
    """Return the address of this person alone, or ""."""
    return row["email"] if row["email"] and row["email_kind"] != "role" else ""


def _place(row: Row, name: PersonName) -> tuple[bool, bool, list[int], str]:
    """Return the place among the contacts of one person: that of an address first, then the fullest name."""
    is_of_address = row["email"] and row["identity"] == mailbox_identity(row["email"])
    return not is_of_address, not row["email"], [-count for count in name.fullness], row["identity"]


def _combined(kept: Row, others: Sequence[Row]) -> Row:
    """Return the row with the fullest name, the most senior title, and of other fields the value of the best page."""
    row = {**kept, "fact_ranks": dict(kept["fact_ranks"] or {}), "sources": dict(kept["sources"] or {})}
    for name in RANKED_FIELDS:
        found = [one for one in (kept, *others) if one[name] and (name != "email" or one[name] == kept[name])]
        best = min(found, key=lambda one: (*_order_of(one, name), one is not kept, one["identity"]), default=kept)
        if best is not kept:
            _borrow(row, best, name, NAME_PARTS if name == "name" else ())
    return {**row, "fact_ranks": row["fact_ranks"] or None, "sources": row["sources"] or None}


def _order_of(row: Row, name: str) -> tuple[list[int], str]:
    fullness = [-count for count in _name_of(row).fullness] if name == "name" else []
    return fullness, title_order(_rank(row, name)) if name == "title" else _rank(row, name)


def _borrow(row: Row, other: Row, name: str, parts: Sequence[str] = ()) -> None:
    """Show a value of another contact, and remember the own one."""
    source = _source(other, name)
    if row[name]:
        former = {"values": {one: row[one] for one in (name, *parts)}, "rank": _rank(row, name)}
        without_text = {key: value for key, value in _source(row, name).items() if key != "snippet"}
        source |= {INSTEAD_OF: {**former, "source": without_text}}
    rank = _rank(other, name)
    row["fact_ranks"][name], row["sources"][name] = BORROWED.get(rank[0], "5") + rank[1:], source
    row |= {one: other[one] for one in (name, *parts)}


def _rank(row: Row, name: str) -> str:
    return (row["fact_ranks"] or {}).get(name) or row["evidence_rank"] or "~"


def _source(row: Row, name: str) -> dict[str, Any]:
    evidence = {"url": row["source_url"], **{key: row[key] for key in ("snippet", "found_by", "confidence")}}
    return dict((row["sources"] or {}).get(name) or evidence)
