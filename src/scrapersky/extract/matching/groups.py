"""Records become groups: each group is one business, known under the record that was stored first."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from scrapersky.extract.matching.match import (
    PlaceRecord,
    SameBusiness,
    are_opposed,
    block_keys,
    same_business,
    stored_keys,
)

MAX_RECORDS = 20  # of one business: more are a sign of a wrong record, not of more providers


@dataclass
class KnownRecord:
    """A record, the group it is in, by the key of its first record, and what people have decided about it."""

    record: PlaceRecord
    group: str
    separate_from: Collection[str] = ()  # records that a person split from it
    decision: str | None = None  # of a person about it; None: none yet

    @property
    def key(self) -> str:
        """The key of the record."""
        return self.record.key


@dataclass(frozen=True)
class Join:
    """A record that was the first of its group joins another group."""

    key: str
    group: str
    why: SameBusiness


@dataclass
class Groups:
    """The groups of some records. Records of one group are all among them."""

    members: dict[str, list[KnownRecord]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, records: Iterable[KnownRecord]) -> "Groups":
        """Return the groups that the records are in now."""
        groups = cls()
        for one in records:
            groups.members[one.group].append(one)
        return groups

    def add(self, new: Sequence[KnownRecord], known: Sequence[KnownRecord]) -> list[Join]:
        """Compare new records with those that share a key, the surest match first; return the joins in their order.

        A join that contradicts another record of the two groups is left out, and so is one that a person has undone.
        """
        by_key: dict[str, list[KnownRecord]] = defaultdict(list)
        for one in known:
            for key in stored_keys(one.record):
                by_key[key].append(one)
        found = sorted(
            ((why.confidence, one, other, why) for one in new for other, why in _matches(one, by_key)),
            key=lambda match: (-match[0], *sorted((match[1].key, match[2].key))),
        )
        return [join for _, one, other, why in found if (join := self._join(one, other, why)) is not None]

    def _join(self, one: KnownRecord, other: KnownRecord, why: SameBusiness) -> Join | None:
        kept, joined = sorted((one.group, other.group))
        if kept == joined or not self._may_join(kept, joined):
            return None
        for each in self.members[joined]:
            each.group = kept
        self.members[kept] += self.members.pop(joined)
        return Join(joined, kept, why)

    def _may_join(self, kept: str, joined: str) -> bool:
        """Return whether no two records of the groups are opposed, were split or decided differently by a person."""
        ones, others = self.members[kept], self.members[joined]
        decisions = {one.decision for one in (*ones, *others)} - {None}
        return (
            len(ones) + len(others) <= MAX_RECORDS
            and len(decisions) <= 1
            and not any(
                one.key in other.separate_from
                or other.key in one.separate_from
                or are_opposed(one.record, other.record)
                for one in ones
                for other in others
            )
        )


def _matches(one: KnownRecord, by_key: dict[str, list[KnownRecord]]) -> Iterator[tuple[KnownRecord, SameBusiness]]:
    candidates = {other.key: other for key in block_keys(one.record) for other in by_key.get(key, ())}
    for other in candidates.values():
        if other.group != one.group and (why := same_business(one.record, other.record)) is not None:
            yield other, why
