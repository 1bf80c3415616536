"""SQL that merges two rows of one contact: each field has the value of the row with the lowest rank, and its source.

The columns source_url, snippet, found_by and confidence are the evidence of the contact: that of its best row.
`fact_ranks` and `sources` have the rank and the source of the fields that are from other pages, and `sources` marks
the fields that a person wrote. What a person wrote stays; in an edited contact only empty fields are filled.
"""

from collections.abc import Collection
from dataclasses import dataclass

from scrapersky.core.contact_fields import BY_HAND, EVIDENCE, NAME_PARTS
from scrapersky.store.contacts.rows import RANKED_FIELDS

# The first letter of the rank of a value that another contact of the same person gives (`name_forms.py`): any value of
# an own page is better. The own value that it replaces stands in its source.
BORROWED = {"0": "5", "1": "6"}
INSTEAD_OF = "instead_of"
MAX_DOUBT_OF_TITLE = "03"  # tenths; a title that is less certain than this comes last
EVIDENCE_COLUMNS = ("page_id", *EVIDENCE, "evidence_rank")


@dataclass(frozen=True)
class RowMerge:
    """A merge of the row `new` into the row `known`; `same_page` is the condition that both are from one page."""

    new: str  # the alias of the row
    taken: Collection[str] = RANKED_FIELDS  # the fields that may have the value of the new row
    same_page: str = "false"

    @property
    def replaces_evidence(self) -> str:
        """The condition that the evidence of the new row is the better one."""
        is_better = f"{self.new}.evidence_rank < coalesce(known.evidence_rank, '~') COLLATE \"C\""
        return f"(known.edited_at IS NULL AND ({self.same_page} OR {is_better}))"

    @property
    def set_clause(self) -> str:
        """The columns that a merge sets. OFFSET 0: the conditions are computed once and not copied into each column."""
        columns = {name: self._chosen(name, f"takes_{name}") for name in self.taken}
        if "name" in self.taken:
            columns |= {part: self._chosen(part, "takes_name") for part in NAME_PARTS}
        if "email" in self.taken:
            columns["email_kind"] = self._email_kind()
        columns |= {name: self._chosen(name, "replaces") for name in EVIDENCE_COLUMNS}
        columns["fact_ranks"] = _json_object({name: f"rank_of_{name}" for name in RANKED_FIELDS})
        columns["sources"] = _json_object({name: self._new_source(name) for name in RANKED_FIELDS})
        flags = ", ".join(f"{self.takes(name)} AS takes_{name}" for name in RANKED_FIELDS)
        ranks = ", ".join(f"{self._new_rank(name)} AS rank_of_{name}" for name in RANKED_FIELDS)
        return f"""({", ".join(columns)}) = (SELECT {", ".join(columns.values())}
            FROM (SELECT taken.*, {ranks}
                FROM (SELECT {flags}, {self.replaces_evidence} AS replaces OFFSET 0) taken OFFSET 0) ranked)"""  # noqa: S608

    def takes(self, name: str) -> str:
        """Return the condition that the field gets the value of the new row."""
        if name not in self.taken:
            return "false"
        # A page that is read again replaces what it gave before, also where another page is the better evidence.
        own = f"known.sources #> '{{{name},{INSTEAD_OF}}}'"
        is_own = f"""({self.same_page} AND known.fact_ranks ->> '{name}' IS NULL)
            OR coalesce({own} #>> '{{source,url}}', known.sources -> '{name}' ->> 'url') = {self.new}.source_url"""
        is_known = f"coalesce({own} #>> '{{values,{name}}}' = to_jsonb({self.new}.{name}) #>> '{{}}', false)"
        known_rank = f"coalesce({own} ->> 'rank', {_rank('known', name)})"
        is_better = f"""known.edited_at IS NULL AND ((({is_own}) AND NOT {is_known})
            OR {_order(_rank(self.new, name), name)} < {_order(known_rank, name)})"""
        is_open = f"known.{name} IS NULL AND NOT {_is_by_hand(name)}"
        return f"({self.new}.{name} IS NOT NULL AND (({is_open}) OR ({is_better})))"

    def _chosen(self, column: str, condition: str) -> str:
        return f"CASE WHEN {condition} THEN {self.new}.{column} ELSE known.{column} END"

    def _email_kind(self) -> str:
        same = f"CASE WHEN known.email = {self.new}.email THEN {self.new}.email_kind END"
        return f"CASE WHEN takes_email THEN {self.new}.email_kind ELSE coalesce(known.email_kind, {same}) END"

    def _new_rank(self, name: str) -> str:
        """Return the rank of the field after the merge, or NULL if it is that of the evidence."""
        evidence = self._chosen("evidence_rank", "replaces")
        return f"""CASE WHEN takes_{name} THEN nullif({_rank(self.new, name)}, {evidence})
            WHEN known.{name} IS NULL OR ({self.same_page} AND known.fact_ranks ->> '{name}' IS NULL) THEN NULL
            ELSE nullif({_rank("known", name)}, {evidence}) END"""

    def _new_source(self, name: str) -> str:
        """Return the source of the field after the merge, or NULL if it is the evidence."""
        return f"""CASE WHEN {_is_by_hand(name)} THEN known.sources -> '{name}' WHEN rank_of_{name} IS NULL THEN NULL
            WHEN takes_{name} THEN {_source(self.new, name)} ELSE {_source("known", name)} END"""


def is_borrowed(rank: str) -> bool:
    """Return whether a value with this rank is from another contact of the same person."""
    return rank[:1] in BORROWED.values()


def own_name(row: str) -> str:
    """Return the name that the own pages of a contact give, or that a person wrote."""
    is_other = f"{row}.edited_at IS NULL AND left({row}.fact_ranks ->> 'name', 1) IN ('5', '6')"
    return f"CASE WHEN {is_other} THEN {row}.sources #>> '{{name,{INSTEAD_OF},values,name}}' ELSE {row}.name END"


def title_order(rank: str) -> str:
    """Return the order of a title: of those that are certain enough the most senior one, whatever else is known."""
    return f"{rank[:1]}{rank[5:6] if rank[2:4] <= MAX_DOUBT_OF_TITLE else '9'}{rank}"


def _order(rank: str, name: str) -> str:
    """Return the expression by which values of a field are compared: `title_order` for the title, else the rank."""
    if name != "title":
        return f'{rank} COLLATE "C"'
    seniority = f"CASE WHEN substr({rank}, 3, 2) <= '{MAX_DOUBT_OF_TITLE}' THEN substr({rank}, 6, 1) ELSE '9' END"
    return f'concat(left({rank}, 1), {seniority}, {rank}) COLLATE "C"'


def _rank(row: str, name: str) -> str:
    return f"coalesce({row}.fact_ranks ->> '{name}', {row}.evidence_rank, '~') COLLATE \"C\""


def _source(row: str, name: str) -> str:
    return f"""coalesce({row}.sources -> '{name}', jsonb_build_object('url', {row}.source_url, 'snippet', {row}.snippet,
        'found_by', {row}.found_by, 'confidence', {row}.confidence))"""


def _is_by_hand(name: str) -> str:
    return f"coalesce(known.sources -> '{name}' ->> 'found_by' = '{BY_HAND}', false)"


def _json_object(values: dict[str, str]) -> str:
    return f"""nullif(jsonb_strip_nulls(jsonb_build_object(
        {", ".join(f"'{name}', {value}" for name, value in values.items())})), '{{}}')"""
