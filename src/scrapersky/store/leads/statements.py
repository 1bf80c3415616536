"""The statements behind files and lists of leads: each is complete SQL with bound parameters, as EXPLAIN takes it.

Aliases: `f` is a result of the searches `:searches`, `o` the owner of a row, which is a business or a web site without
one, `b` its business as its records together give it, `p` its place, `d` its domain, `c` a contact. `o.records` are the
ids of the records of the business, `o.domains` those of its web sites, the first of which is `d`. The functions that
are not PostgreSQL's own are in migrations/sql/leads.sql.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlalchemy import TextClause, text

from scrapersky.core.vocabularies import BY_PROVIDER
from scrapersky.store.leads.columns import (
    BUSINESS_FACTS,
    CONTACT_SELECT,
    FOUND_AT,
    LEAD_SELECT,
    business_name,
    found_by_queries,
    source_url,
)
from scrapersky.store.leads.filters import LEAD_FILTERS, LeadFilter
from scrapersky.store.leads.merged_business import any_record, is_repeated, merged_business, records_of, shown_id_of
from scrapersky.store.line.hidden_sites import HIDDEN_REASON
from scrapersky.store.steps import is_of_rejected, not_rejected
from scrapersky.store.withheld import (
    BUSINESS_PHONE,
    is_business_withheld,
    is_profile_withheld,
    is_site_withheld,
    is_snippet_withheld,
    is_withheld,
)

# Contacts that people rejected, alone or with their business, and those that a suppression withholds are in no file.
_WANTED = f"NOT {is_withheld('c')} AND {not_rejected('c')} AND NOT {is_of_rejected('c.business_id', 'c.domain_id')}"
# People and mailboxes. A number, a profile or a postal address alone is a fact about the business, and no row.
_IS_SOMEBODY = "(c.name IS NOT NULL OR c.email IS NOT NULL)"
# A mailbox that a person of the same site has is in the row of the person, so that a file has its address once.
_HAS_OWN_ROW = f"""(c.name IS NOT NULL OR (c.email IS NOT NULL AND NOT EXISTS (SELECT FROM contact k
    WHERE k.email = c.email AND k.domain_id = c.domain_id AND k.name IS NOT NULL
    AND NOT {is_withheld("k")} AND {not_rejected("k")})))"""
# People and mailboxes of a web site that several businesses share are in one row: that of the business they belong to,
# else that of the first business of the site.
_IS_HERE = f"""(o.first_of_site IS NULL OR NOT {_IS_SOMEBODY} OR c.domain_id IS NULL OR c.business_id = ANY (o.records)
    OR (o.first_of_site = o.business_id AND (c.business_id = ANY (o.sharing)) IS NOT TRUE))"""
# The wanted contacts of a row: those of its domains, and those of its records that have no domain. With IS NULL the
# planner would look all contacts without a domain up, besides those of the records.
_OF_OWNER = f"""(c.domain_id = ANY (o.domains) OR (c.business_id = ANY (o.records) AND num_nulls(c.domain_id) = 1))
    AND {_WANTED} AND {_IS_HERE}"""
# The provider names the contact for another branch, which shares the web site.
_OF_ANOTHER_BRANCH = f"""(c.found_by IS NOT DISTINCT FROM '{BY_PROVIDER}'
    AND coalesce(c.business_id <> ALL (o.records), o.business_id IS NOT NULL))"""

MAX_CONTACTS = 500  # of a business, those with an address and the surest first: the best contact is one of them
# A contact besides the number of the provider, which is known without any page.
_IS_FOUND = (
    f"email IS NOT NULL OR (found_by = '{BY_PROVIDER}' AND (phone = {BUSINESS_PHONE} OR is_of_another_branch)) "
    "IS NOT TRUE"
)
_FACTS = ", ".join(f"{fact.sql} AS {fact.name}" for fact in BUSINESS_FACTS.values())

Names = Collection[str]  # of filters


@dataclass(frozen=True)
class Searches:
    """How the results of searches are selected: of one by an index in its order, of several each once."""

    is_one: bool = True

    def of(self, alias: str) -> str:
        """Return the condition that a row of a table of results is of these searches."""
        searches = "CAST(:searches AS uuid[])"
        return f"{alias}.search_id = ({searches})[1]" if self.is_one else f"{alias}.search_id = ANY ({searches})"

    @property
    def businesses(self) -> str:
        """The businesses that have a row, each once: `key` is its first record that the searches have found.

        One that people rejected, or one of whose domains is suppressed, has none.
        """
        return f"""SELECT {self._distinct} f.business_id AS key, coalesce(r.same_as_id, r.id) AS business_id
        FROM search_business f JOIN local_business r ON r.id = f.business_id
        WHERE {self.of("f")} AND {not_rejected("r")} AND (r.same_as_id IS NULL OR NOT EXISTS (
            SELECT FROM local_business g JOIN search_business h ON h.business_id = g.id
            WHERE (g.id = r.same_as_id OR g.same_as_id = r.same_as_id) AND g.id < r.id AND {self.of("h")}))
        AND NOT {is_business_withheld("f.business_id")}"""  # noqa: S608 - own names

    @property
    def sites(self) -> str:
        """The web sites that belong to none of these businesses."""
        return f"""SELECT {self._distinct} f.domain_id FROM search_domain f WHERE {self.of("f")}
        AND NOT EXISTS (SELECT 1 FROM business_domain l JOIN search_business r ON r.business_id = l.business_id
            WHERE l.domain_id = f.domain_id AND {self.of("r")})
        AND NOT {is_of_rejected("CAST(NULL AS uuid)", "f.domain_id")}
        AND NOT EXISTS (SELECT FROM domain w WHERE w.id = f.domain_id AND {is_site_withheld("w.name")})"""  # noqa: S608

    @property
    def _distinct(self) -> str:
        return "" if self.is_one else "DISTINCT"


ONE_SEARCH = Searches()


def _chosen(names: Names) -> str:
    """Return the condition that a contact is chosen by the filters that choose contacts; numbers alone stay."""
    conditions = [each.of_contact for each in _declared(names) if not each.of_business]
    return f"(NOT {_IS_SOMEBODY} OR ({' AND '.join(conditions)}))" if conditions else "true"


def _matches(names: Names) -> str:
    """Return the condition that a business or a web site matches these filters."""
    conditions = [
        each.of_business.format(
            contacts=f"contact c WHERE {_OF_OWNER}", phone=BUSINESS_PHONE, branch=_OF_ANOTHER_BRANCH
        )
        for each in _declared(names)
        if each.of_business
    ]
    if any(not each.of_business for each in _declared(names)):
        conditions.append(f"EXISTS (SELECT FROM contact c WHERE {_OF_OWNER} AND {_IS_SOMEBODY} AND {_chosen(names)})")
    return " AND ".join(conditions) or "true"


def _contact_matches(names: Names, searches: Searches) -> str:
    """Return the condition that a contact matches all filters; those of businesses for one business of the contact."""
    conditions = [each.of_contact for each in _declared(names) if each.of_contact]
    of_business = [each.of_business for each in _declared(names) if not each.of_contact]
    if of_business:
        conditions.append(f"""EXISTS (SELECT FROM (VALUES (1)) row LEFT JOIN (
            SELECT c.business_id WHERE c.domain_id IS NULL
            UNION ALL SELECT l.business_id FROM business_domain l WHERE l.domain_id = c.domain_id AND EXISTS (
                SELECT FROM search_business r WHERE r.business_id = l.business_id AND {searches.of("r")})
            ) w ON true LEFT JOIN LATERAL ({any_record("w.business_id")}) b ON true
            WHERE {" AND ".join(of_business)})""")  # noqa: S608 - own names
    return " AND ".join(conditions) or "true"


def _declared(names: Names) -> list[LeadFilter]:
    return [LEAD_FILTERS[name] for name in sorted(names)]


_SITE = f"LEFT JOIN LATERAL (SELECT {HIDDEN_REASON} AS hidden_reason) site ON true"
_ADDRESS = f"""LEFT JOIN LATERAL (
    SELECT c.address FROM contact c WHERE {_OF_OWNER} AND c.address IS NOT NULL
    ORDER BY c.confidence DESC, c.address LIMIT 1) address ON true"""  # noqa: S608 - own names
# What the name of a business may need, where the provider's has expired or there is no business.
_COMPANY = f"""LEFT JOIN LATERAL (
    SELECT c.company FROM contact c WHERE (b.id IS NULL OR b.expired_at IS NOT NULL) AND {_OF_OWNER}
    AND c.company IS NOT NULL ORDER BY c.confidence DESC, c.company LIMIT 1) found ON true"""  # noqa: S608 - own names
_JOINED = {"business": _COMPANY, "address": _ADDRESS, "hidden": _SITE}  # what the keys of a sort need beside the rows
_LAST_KEYS = ("business", "p.provider", "p.provider_id", "d.name")


def _in_order(sort: Sequence[str]) -> tuple[str, str]:
    """Return the SELECT of the owners in the order of a file with its keys as columns, and the ORDER BY of the rows.

    Only owners and keys are sorted; what a row shows is read as the file is written, so its first row comes at once.
    OFFSET 0: the planner keeps the order of the subquery, because the rows ask for the same one.
    """
    keys = {_key(name.removeprefix("-")): "DESC" if name[0] == "-" else "ASC" for name in sort}
    keys |= {key: "ASC" for key in map(_key, _LAST_KEYS) if key not in keys}
    columns = ", ".join(f"{key} AS key_{number}" for number, key in enumerate(keys))
    order = ", ".join(f"key_{number} {direction} NULLS LAST" for number, direction in enumerate(keys.values()))
    used = " ".join(joined for name, joined in _JOINED.items() if _key(name) in keys)
    owners = f"""SELECT o.*, {columns} FROM owner o
LEFT JOIN LATERAL ({merged_business("o.business_id", "o.records")}) b ON true
LEFT JOIN place p ON p.id = b.place_id LEFT JOIN domain d ON d.id = o.domain_id {used}
ORDER BY {order} OFFSET 0"""  # noqa: S608 - own names
    return owners, order


def _key(name: str) -> str:
    """Return the SQL of a key of a sort."""
    return BUSINESS_FACTS[name].sql if name in BUSINESS_FACTS else name


def _leads(names: Names, owners: str = "owner") -> str:
    """Return the SELECT of rows by business, from the owners `o`; each is read by the ids of the owner."""
    return f"""
SELECT o.key AS list_key, o.subkey AS list_subkey, o.business_id, b.place_id, o.domain_id,
    {BUSINESS_PHONE} AS phone, found.contacts, {_FACTS}
FROM {owners} o
LEFT JOIN LATERAL ({merged_business("o.business_id", "o.records")} OFFSET 0) b ON true
LEFT JOIN LATERAL (SELECT * FROM place w WHERE w.id = b.place_id OFFSET 0) p ON true
LEFT JOIN LATERAL (SELECT * FROM domain w WHERE w.id = o.domain_id OFFSET 0) d ON true
{_SITE}
LEFT JOIN LATERAL (
    SELECT jsonb_agg(to_jsonb(contacts) - 'company') AS contacts,
        bool_or({_IS_FOUND}) FILTER (WHERE coalesce(email, phone) IS NOT NULL) AS is_any,
        (array_agg(company ORDER BY confidence DESC, company) FILTER (WHERE company IS NOT NULL))[1] AS company
    FROM (
        SELECT c.id, c.identity, c.company, c.phone, c.confidence, c.found_by, {FOUND_AT},
            CASE WHEN c.email IS NOT NULL THEN {source_url("email")} ELSE {source_url("phone")} END AS source_url,
            {_OF_ANOTHER_BRANCH} AS is_of_another_branch, {LEAD_SELECT}
        FROM contact c WHERE {_OF_OWNER} AND coalesce(c.email, c.phone, c.name) IS NOT NULL AND {_chosen(names)}
        ORDER BY (c.email IS NULL), (c.name IS NULL), c.confidence DESC, c.identity LIMIT {MAX_CONTACTS}) contacts
    ) found ON true
{_ADDRESS}
LEFT JOIN LATERAL (
    SELECT string_agg(value, ' ' ORDER BY key, value) AS urls FROM (
        SELECT key, value FROM contact c, jsonb_each_text(c.profiles) WHERE {_OF_OWNER}
        UNION SELECT key, value FROM jsonb_each_text(b.profiles)
            WHERE NOT {is_profile_withheld("value", "b.id")}) profile) social ON true"""  # noqa: S608 - own names


# The web sites of the records `f.records`: those that could be read first, then by provider; the latest of a record.
_DOMAINS = """ARRAY(SELECT l.domain_id FROM business_domain l JOIN domain s ON s.id = l.domain_id
    JOIN local_business m ON m.id = l.business_id LEFT JOIN place q ON q.id = m.place_id
    WHERE l.business_id = ANY (f.records)
    ORDER BY s.final_url IS NULL, q.provider, q.provider_id, l.linked_at DESC, s.name)"""
_IS_SHARED = """EXISTS (SELECT FROM business_domain l
    WHERE l.domain_id = f.domains[1] AND l.business_id <> ALL (f.records))"""


def _sharing(searches: Searches, names: Names) -> str:
    """Return the array of businesses that share the site `f.domains[1]` and match the filters of facts, in one order.

    Records of one business stand for it alike: all of them are in the array.
    """
    facts = [name for name in names if LEAD_FILTERS[name].is_fact]
    matches = (
        f"""JOIN domain d ON d.id = l.domain_id CROSS JOIN LATERAL ({any_record("m.id")}) b
        WHERE {_matches(facts)} AND"""
        if facts
        else "WHERE"
    )
    return f"""ARRAY(SELECT m.id FROM business_domain l JOIN local_business m ON m.id = l.business_id
    LEFT JOIN place q ON q.id = m.place_id {matches} l.domain_id = f.domains[1] AND {not_rejected("m")}
        AND EXISTS (SELECT FROM search_business h WHERE h.business_id = m.id AND {searches.of("h")})
    ORDER BY q.provider, q.provider_id, m.id)"""  # noqa: S608 - own names


def _businesses(found: str, names: Names, searches: Searches) -> str:
    """Return the SELECT of owners that are businesses, with their place in the list of results.

    OFFSET 0 keeps the planner from computing an array at each place where it is used.
    """
    return f"""
    SELECT o.* FROM (
        SELECT f.key, f.key AS subkey, f.business_id, f.records, f.domains, f.domains[1] AS domain_id, f.sharing,
            {shown_id_of("f.sharing[1]")} AS first_of_site
        FROM (SELECT f.*, CASE WHEN {_IS_SHARED} THEN {_sharing(searches, names)} END AS sharing FROM (
            SELECT f.*, {_DOMAINS} AS domains FROM (
                SELECT f.*, {records_of("f.business_id")} AS records FROM ({found}) f OFFSET 0) f OFFSET 0) f OFFSET 0
        ) f OFFSET 0) o
    {_BUSINESS_AND_DOMAIN if names else ""}
    WHERE {_matches(names)}"""  # noqa: S608 - own names


_BUSINESS_AND_DOMAIN = f"""LEFT JOIN LATERAL ({merged_business("o.business_id", "o.records")}) b ON true
    LEFT JOIN domain d ON d.id = o.domain_id"""


def _sites(found: str, names: Names) -> str:
    """Return the SELECT of owners that are web sites without a business, with their place in the list of results."""
    return f"""
    SELECT o.* FROM (
        SELECT f.domain_id AS key, f.domain_id AS subkey, CAST(NULL AS uuid) AS business_id,
            CAST('{{}}' AS uuid[]) AS records, ARRAY[f.domain_id] AS domains, f.domain_id,
            CAST(NULL AS uuid[]) AS sharing, CAST(NULL AS uuid) AS first_of_site
        FROM ({found}) f OFFSET 0) o
    {"JOIN domain d ON d.id = o.domain_id LEFT JOIN local_business b ON false" if names else ""}
    WHERE {_matches(names)}"""  # noqa: S608 - own names


def _page(owners: str, names: Names) -> TextClause:
    """Return a page of leads: its owners are limited before their contacts are read."""
    owner = f"{owners} AND (o.key, o.subkey) > (:key, :subkey) ORDER BY o.key, o.subkey LIMIT :max_rows"
    return text(f"WITH owner AS MATERIALIZED ({owner}) {_leads(names)} ORDER BY o.key, o.subkey")


def _after(found: str, key: str, names: Names) -> str:
    """Limit the results to those from the last position on: each has at least one row, the last one may have more.

    With filters a result may have no row, so that their number is not known yet.
    """
    return f"{found} AND {key} >= :key ORDER BY {key}" + ("" if names else " LIMIT :max_rows + 1")


@dataclass(frozen=True)
class _ContactSource:
    """One way by which a contact belongs to a search."""

    tables: str
    key: str  # the position of a row is the key, then the id of the contact
    key_columns: tuple[str, ...]  # equal to the key by the joins; a range on each lets an index begin there
    file_order: str
    searches: Searches = ONE_SEARCH
    names: Names = ()

    def file(self) -> TextClause:
        """Return all rows, in the order of a file."""
        return text(f"{self.select()} ORDER BY {self.file_order}")

    def page(self) -> TextClause:
        """Return the rows after a position."""
        ranges = " AND ".join(f"{column} >= :key" for column in self.key_columns)
        after = f"{ranges} AND ({self.key}, c.id) > (:key, :subkey)"
        return text(f"{self.select()} AND {after} ORDER BY {self.key}, c.id LIMIT :max_rows")

    def select(self) -> str:
        """Return the SELECT of all rows."""
        table, _, joins = self.tables.partition(" f ")
        column = self.key.partition(".")[2]
        found, of_search = f"{table} f", self.searches.of("f")
        if not self.searches.is_one:
            found, of_search = f"(SELECT DISTINCT f.{column} FROM {found} WHERE {of_search}) f", "true"  # noqa: S608
        return f"""
SELECT {self.key} AS list_key, c.id AS list_subkey,
    c.id AS contact_id, c.business_id, c.domain_id, c.page_id,
    {business_name("c")} AS business, d.name AS domain,
    {CONTACT_SELECT}, c.confidence, c.found_by, c.source_url AS source, {FOUND_AT},
    {found_by_queries(table, column, self.key)} AS queries,
    CASE WHEN NOT {is_snippet_withheld("c")} THEN c.snippet END AS snippet
FROM {found} {joins}
LEFT JOIN LATERAL ({any_record("c.business_id")}) b ON true
WHERE {of_search} AND {_WANTED} AND {_HAS_OWN_ROW} AND NOT {is_repeated("c")}
    AND {_contact_matches(self.names, self.searches)}"""  # noqa: S608


_CONTACT_SOURCES = (
    _ContactSource(
        "search_domain f JOIN domain d ON d.id = f.domain_id JOIN contact c ON c.domain_id = d.id",
        "f.domain_id",
        ("f.domain_id", "d.id", "c.domain_id"),
        "d.name, c.confidence DESC, c.identity",
    ),
    _ContactSource(
        "search_business f JOIN contact c ON c.business_id = f.business_id AND c.domain_id IS NULL "
        "LEFT JOIN domain d ON d.id = c.domain_id",
        "f.business_id",
        ("f.business_id", "c.business_id"),
        "b.name, c.source_url, c.confidence DESC, c.identity",
    ),
    _ContactSource(
        "search_contact f JOIN contact c ON c.id = f.contact_id AND c.domain_id IS NULL AND c.business_id IS NULL "
        "LEFT JOIN domain d ON d.id = c.domain_id",
        "f.contact_id",
        ("f.contact_id", "c.id"),
        "c.identity",
    ),
)
PARTS = {"business": 2, "contact": len(_CONTACT_SOURCES)}  # of a list


def _contact_sources(names: Names, searches: Searches) -> list[_ContactSource]:
    return [replace(source, searches=searches, names=names) for source in _CONTACT_SOURCES]


@lru_cache(256)
def file_statements(
    per: str, names: Names = (), sort: Sequence[str] = (), searches: Searches = ONE_SEARCH
) -> tuple[TextClause, ...]:
    """Return the statements of a file, whose rows follow one another.

    `names` are those of the filters, `sort` columns that the statements compute, the last first with a minus sign.
    Parameters: searches, and one for each filter.
    """
    if per == "business":
        owners = f"{_businesses(searches.businesses, names, searches)} UNION ALL {_sites(searches.sites, names)}"
        ordered, order = _in_order(sort)
        return (text(f"WITH owner AS ({owners}) {_leads(names, f'({ordered})')} ORDER BY {order}"),)
    order = "".join(f"{key.removeprefix('-')} {'DESC' if key[0] == '-' else 'ASC'} NULLS LAST, " for key in sort)
    sources = _contact_sources(names, searches)
    if not sort:
        return tuple(source.file() for source in sources)
    everything = " UNION ALL ".join(source.select() for source in sources)
    return (text(f"SELECT * FROM ({everything}) contacts ORDER BY {order}list_key, list_subkey"),)  # noqa: S608


@lru_cache(256)
def page_statements(per: str, names: Names = (), searches: Searches = ONE_SEARCH) -> tuple[TextClause, ...]:
    """Return the statements of a list, each read to its end before the next.

    Parameters: searches, key, subkey, max_rows, and one for each filter.
    """
    if per == "contact":
        return tuple(source.page() for source in _contact_sources(names, searches))
    businesses = _businesses(_after(searches.businesses, "f.business_id", names), names, searches)
    sites = _sites(_after(searches.sites, "f.domain_id", names), names)
    return _page(businesses, names), _page(sites, names)
