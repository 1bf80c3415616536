"""Records of one business are joined: candidates by indexed keys, decisions by the rules of extract/matching.

No row is deleted or overwritten. `same_as_id` of a record names the record that is shown, which is always the one that
was stored first; all records of a group name it directly.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import REJECTED, Curation, JoinedBy
from scrapersky.extract.matching.chains import are_branches, brand_key
from scrapersky.extract.matching.groups import Groups, Join, KnownRecord
from scrapersky.extract.matching.match import PlaceRecord, block_keys, stored_keys
from scrapersky.models import LocalBusiness
from scrapersky.store.steps import steps_of

MAX_CANDIDATES = 5_000  # of a batch; a key that more records have, such as a mall's site, proves little
MAX_OF_CHAIN = 200  # records of one site or brand that are looked at
SITE, BRAND = "site ", "brand "


@dataclass(frozen=True)
class StoredRecord:
    """A record of the database as it is compared."""

    known: KnownRecord
    brand: str | None

    @property
    def keys(self) -> list[str]:
        """The keys by which it is found, those of chains included."""
        return stored_keys(self.known.record) + ([f"{BRAND}{self.brand}"] if self.brand else [])


async def lock(session: AsyncSession, tenant_id: UUID) -> None:
    """Lock the groups of a tenant until the transaction ends, before any business is written.

    Without the lock two workers would store two records of one business at the same time, and neither would see the
    other's.
    """
    await session.execute(_LOCK, {"tenant": str(tenant_id)})


async def compare(session: AsyncSession, tenant_id: UUID, ids: Sequence[UUID]) -> list[Join]:
    """Store the keys of these records, join them with records of the same business, and mark chains.

    The caller holds the lock. Expired records have no keys: nothing is known about them. Return the joins.
    """
    asked = {"tenant": tenant_id, "ids": list(ids)}
    new = [_record(row) for row in await session.execute(_RECORDS, asked)]
    keys = [(key, UUID(one.known.key)) for one in new for key in one.keys]
    stored = {"keys": [key for key, _ in keys], "owners": [owner for _, owner in keys]}
    await session.execute(_STORE_KEYS, {"tenant": tenant_id, **stored})
    await session.execute(_COMPARED, asked)
    joins = await _join(session, tenant_id, [one.known for one in new])
    await _mark_chains(session, tenant_id, {key for key, _ in keys if key.startswith((SITE, BRAND))})
    return joins


async def _join(session: AsyncSession, tenant_id: UUID, new: Sequence[KnownRecord]) -> list[Join]:
    wanted = {"keys": sorted({key for one in new for key in block_keys(one.record)}), "max_rows": MAX_CANDIDATES}
    rows = await session.execute(_CANDIDATES, {"tenant": tenant_id, **wanted})
    known = {one.known.key: one.known for one in map(_record, rows)}
    joins = Groups.of(known.values()).add([known.get(one.key, one) for one in new], list(known.values()))
    if joins:
        saved = _joined(tenant_id, joins)
        await session.execute(_SAVE_JOINS, saved)
        await share_decision(session, tenant_id, saved["groups"])
    return joins


async def share_decision(session: AsyncSession, tenant_id: UUID, shown_ids: Iterable[UUID]) -> None:
    """Give all records of these businesses the decision of a person about one of them.

    Waiting work of a record that is rejected by it is withdrawn. Of two decisions, as only a person can join them, the
    one that rejects is taken.
    """
    await session.execute(_SHARE_DECISION, {"tenant": tenant_id, "shown": sorted(set(shown_ids))})


def _joined(tenant_id: UUID, joins: Sequence[Join]) -> dict[str, Any]:
    """Return the parameters of the update; a group that joined another one which joined a third is in the third."""
    groups: dict[str, str] = {}
    for join in joins:
        groups = {key: join.group if group == join.key else group for key, group in groups.items()}
        groups[join.key] = join.group
    return {
        "tenant": tenant_id,
        "joined": [UUID(join.key) for join in joins],
        "groups": [UUID(groups[join.key]) for join in joins],
        "reasons": [join.why.reason for join in joins],
        "confidences": [join.why.confidence for join in joins],
        "by": JoinedBy.RULE.value,
    }


async def _mark_chains(session: AsyncSession, tenant_id: UUID, keys: Iterable[str]) -> None:
    """Write the brand or the site into `chain` of all its branches, if it has branches in several places."""
    wanted = {"tenant": tenant_id, "keys": sorted(keys), "max_rows": MAX_OF_CHAIN}
    of_key: dict[str, list[PlaceRecord]] = {}
    for row in await session.execute(_OF_CHAIN, wanted):
        of_key.setdefault(row.key, []).append(_record(row).known.record)
    chains = [key for key, found in of_key.items() if are_branches(found, of_brand=key.startswith(BRAND))]
    if chains:
        await session.execute(_SAVE_CHAINS, {"tenant": tenant_id, "keys": chains})


def _record(row: Any) -> StoredRecord:
    key = str(row.id)
    record = PlaceRecord(
        key,
        row.provider,
        row.name,
        row.phone,
        row.website,
        row.latitude,
        row.longitude,
        row.street,
        row.postcode,
    )
    separate = frozenset(map(str, row.separate_from))
    decision = None if row.curation_status == Curation.NEW else row.curation_status
    known = KnownRecord(record, str(row.same_as_id or row.id), separate, decision)
    return StoredRecord(known, brand_key(row.brand))


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('businesses of ' || :tenant, 0))")

# A site that we have found ourselves from another record does not prove that the two are one.
_COLUMNS = """b.id, b.same_as_id, b.separate_from, b.name, b.phone, b.latitude, b.longitude, b.street, b.postcode,
    CASE WHEN b.website_how IS DISTINCT FROM 'record' THEN b.website END AS website, b.details ->> 'brand' AS brand,
    b.curation_status, coalesce(p.provider, 'import') AS provider"""
_BUSINESSES = "local_business b LEFT JOIN place p ON p.id = b.place_id"
_RECORDS = text(f"""
SELECT {_COLUMNS} FROM {_BUSINESSES}
WHERE b.tenant_id = :tenant AND b.id = ANY (CAST(:ids AS uuid[])) AND b.expired_at IS NULL ORDER BY b.id""")  # noqa: S608
_STORE_KEYS = text("""
INSERT INTO match_key (tenant_id, key, business_id)
SELECT DISTINCT CAST(:tenant AS uuid), key, owner
FROM unnest(CAST(:keys AS text[]), CAST(:owners AS uuid[])) AS known(key, owner) ON CONFLICT DO NOTHING""")
_COMPARED = text("""
UPDATE local_business SET compared_at = now() WHERE tenant_id = :tenant AND id = ANY (CAST(:ids AS uuid[]))""")

# The records with one of the keys, and all records of their groups.
_CANDIDATES = text(f"""
WITH alike AS MATERIALIZED (
    SELECT DISTINCT k.business_id FROM match_key k WHERE k.tenant_id = :tenant AND k.key = ANY (CAST(:keys AS text[]))
    ORDER BY k.business_id LIMIT :max_rows
), shown AS MATERIALIZED (
    SELECT DISTINCT coalesce(b.same_as_id, b.id) AS id FROM alike JOIN local_business b ON b.id = alike.business_id
)
SELECT {_COLUMNS} FROM shown JOIN {_BUSINESSES} ON b.id = shown.id WHERE b.tenant_id = :tenant
UNION ALL
SELECT {_COLUMNS} FROM shown JOIN {_BUSINESSES} ON b.same_as_id = shown.id WHERE b.tenant_id = :tenant
ORDER BY 1""")  # noqa: S608 - own names

# The first record of a group that joins another one gets the reason; records that named it name the other one now.
# Rows are locked in one order for all processes.
_SAVE_JOINS = text("""
WITH joined AS (
    SELECT * FROM unnest(CAST(:joined AS uuid[]), CAST(:groups AS uuid[]), CAST(:reasons AS text[]),
        CAST(:confidences AS float8[])) AS j(id, shown, reason, confidence)
), locked AS MATERIALIZED (
    SELECT b.id, j.id = b.id AS is_first, j.shown, j.reason, j.confidence
    FROM joined j JOIN local_business b ON b.id = j.id OR b.same_as_id = j.id
    WHERE b.tenant_id = :tenant ORDER BY b.id FOR NO KEY UPDATE OF b
)
UPDATE local_business b SET same_as_id = locked.shown, updated_at = now(),
    same_reason = CASE WHEN is_first THEN locked.reason ELSE b.same_reason END,
    same_confidence = CASE WHEN is_first THEN locked.confidence ELSE b.same_confidence END,
    same_by = CASE WHEN is_first THEN :by ELSE b.same_by END
FROM locked WHERE b.id = locked.id""")

_DECISIONS = (Curation.NOT_A_FIT, Curation.ARCHIVED, Curation.SELECTED, Curation.MAYBE)  # the first of them holds


def _words(words: Iterable[Curation]) -> str:
    return ", ".join(f"'{word.value}'" for word in words)


def _withdrawn(queue: str, back: str) -> str:
    """Build the new values of a queue for a record that is rejected: waiting work ends, work in flight is the last."""
    status, is_rejected = f"{queue}_status", f"decided.decision IN ({_words(REJECTED)})"
    is_waiting = f"{is_rejected} AND b.{status} = 'Queued'"
    kept = ", ".join(
        f"{queue}_{part} = CASE WHEN NOT ({is_waiting}) THEN b.{queue}_{part} END" for part in ("error", "due_at")
    )
    reverted = f"CASE WHEN {is_rejected} AND b.{status} = 'Processing' THEN {back} ELSE b.{queue}_revert_to END"
    return f"""{status} = CASE WHEN {is_waiting} THEN {back} ELSE b.{status} END, {kept},
    {queue}_revert_to = {reverted}"""


_QUEUES = ",\n    ".join(_withdrawn(step.queue, step.status_when_withdrawn("b")) for step in steps_of(LocalBusiness))
_SHARE_DECISION = text(f"""
WITH records AS MATERIALIZED (
    SELECT b.id, coalesce(b.same_as_id, b.id) AS shown, b.curation_status FROM local_business b
    WHERE b.tenant_id = :tenant AND (b.id = ANY (CAST(:shown AS uuid[])) OR b.same_as_id = ANY (CAST(:shown AS uuid[])))
    ORDER BY b.id FOR NO KEY UPDATE
), decided AS (
    SELECT shown, (array_agg(curation_status ORDER BY array_position(ARRAY[{_words(_DECISIONS)}], curation_status)))[1]
        AS decision
    FROM records WHERE curation_status <> '{Curation.NEW.value}' GROUP BY shown
)
UPDATE local_business b SET curation_status = decided.decision, updated_at = now(),
    {_QUEUES}
FROM records JOIN decided USING (shown) WHERE b.id = records.id AND b.curation_status <> decided.decision""")  # noqa: S608

_OF_CHAIN = text(f"""
SELECT wanted.key, found.* FROM unnest(CAST(:keys AS text[])) AS wanted(key) CROSS JOIN LATERAL (
    SELECT {_COLUMNS} FROM match_key k JOIN {_BUSINESSES} ON b.id = k.business_id
    WHERE k.tenant_id = :tenant AND k.key = wanted.key AND b.same_as_id IS NULL ORDER BY k.business_id LIMIT :max_rows
) found""")  # noqa: S608 - own names
_SAVE_CHAINS = text("""
UPDATE local_business b SET chain = found.chain FROM (
    SELECT k.business_id, min(substr(k.key, strpos(k.key, ' ') + 1)) AS chain FROM match_key k
    WHERE k.tenant_id = :tenant AND k.key = ANY (CAST(:keys AS text[])) GROUP BY 1) found
WHERE b.id = found.business_id AND b.tenant_id = :tenant AND b.chain IS NULL""")
