"""A business as its records together give it, as SQL: each value from the first record that has one.

Records are ordered by provider and id, so that the values do not depend on the order in which they were found. Nothing
is copied between records: what a provider's terms delete from its record is gone from the business as well.
"""

from scrapersky.store.steps import not_rejected

ORDER = "q.provider, q.provider_id, m.id"
_SEPARATOR = "chr(31)"  # between categories

# Columns of local_business that are read from the first record that has a value.
_FIRST = (
    *("address", "street", "city", "region", "postcode", "country", "latitude", "longitude", "phone"),
    *("hours", "business_status", "chain", "site_search_error", "domain_extraction_error", "profiles"),
)
# Columns that belong together, by the one that decides which record they are from.
_TOGETHER = {"website": ("website_how", "website_confidence"), "rating": ("rating_count",)}


def _first(column: str, decides: str | None = None) -> str:
    return f"(array_agg(m.{column} ORDER BY {ORDER}) FILTER (WHERE {decides or f'm.{column} IS NOT NULL'}))[1]"


_VALUES = {
    "place_id": _first("place_id", "m.expired_at IS NULL"),
    "name": _first("name", "m.expired_at IS NULL"),
    **{column: _first(column) for column in (*_FIRST, *_TOGETHER)},
    **{
        column: _first(column, f"m.{decides} IS NOT NULL")
        for decides, columns in _TOGETHER.items()
        for column in columns
    },
    "categories": f"string_to_array((array_agg(array_to_string(m.categories, {_SEPARATOR}) ORDER BY {ORDER}) "
    f"FILTER (WHERE m.categories <> '{{}}'))[1], {_SEPARATOR})",
}
_MERGED = ", ".join(f"{value} AS {column}" for column, value in _VALUES.items())
_SHOWN = ", ".join(f"coalesce(merged.{column}, own.{column}) AS {column}" for column in _VALUES)


def merged_business(business_id: str, records: str) -> str:
    """Return the SELECT of a business by its id and the ids of all its records; of one record it reads only that.

    GROUP BY without any row computes no aggregate.
    """
    return f"""
    SELECT own.id, {_SHOWN}, CASE WHEN merged.name IS NULL THEN own.expired_at END AS expired_at
    FROM local_business own LEFT JOIN LATERAL (
        SELECT {_MERGED} FROM local_business m LEFT JOIN place q ON q.id = m.place_id
        WHERE cardinality({records}) > 1 AND m.id = ANY ({records}) GROUP BY m.tenant_id) merged ON true
    WHERE own.id = {business_id}"""  # noqa: S608 - own names


def records_of(shown_id: str) -> str:
    """Return the ids of all records of a business, by the id of the record that is shown; that one first."""
    members = f"SELECT m.id FROM local_business m WHERE m.same_as_id = {shown_id} ORDER BY m.id"  # noqa: S608
    return f"(ARRAY[{shown_id}] || ARRAY({members}))"


def shown_id_of(business_id: str) -> str:
    """Return the id of the record that is shown instead of this one, or its own; NULL stays NULL."""
    return f"(SELECT coalesce(r.same_as_id, r.id) FROM local_business r WHERE r.id = {business_id})"  # noqa: S608


def any_record(business_id: str) -> str:
    """Return the merged business of any of its records, NULL among them."""
    shown = shown_id_of(business_id)
    return f"""
    SELECT b.* FROM (SELECT shown.id, {records_of("shown.id")} AS records FROM (SELECT {shown} AS id OFFSET 0) shown
        OFFSET 0) s CROSS JOIN LATERAL ({merged_business("s.id", "s.records")}) b"""  # noqa: S608 - own names


def is_repeated(row: str) -> str:
    """Return the condition that a contact without a domain has the address of another contact of the same business.

    Two providers may name one address; a contact of a web site comes first, then the one of the first provider.
    """
    shown = f"(SELECT {shown_id_of(f'{row}.business_id')} AS id)"
    records = f"SELECT unnest({records_of('shown.id')}) FROM {shown} shown"  # noqa: S608 - own names
    before = f"(k.source_url, k.id) < ({row}.source_url, {row}.id)"
    return f"""({row}.domain_id IS NULL AND {row}.business_id IS NOT NULL AND {row}.email IS NOT NULL AND EXISTS (
        SELECT FROM contact k WHERE k.tenant_id = {row}.tenant_id AND k.email = {row}.email AND k.id <> {row}.id
        AND k.suppressed_at IS NULL AND {not_rejected("k")} AND (
            k.domain_id IN (SELECT l.domain_id FROM business_domain l WHERE l.business_id IN ({records}))
            OR (k.domain_id IS NULL AND k.business_id IN ({records}) AND {before}))))"""  # noqa: S608 - own names
