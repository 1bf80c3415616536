"""The filters of leads, each declared once: options of commands, parameters of the API and statements derive from it.

This module imports nothing that is slow: the options of commands are made from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

FilterKind = Literal["flag", "text", "verdict", "email_kind", "country", "language", "rating", "moment"]
Filters = Mapping[str, Any]  # values by name; those of a filter with several values are lists


def _contains(text: str) -> str:
    """Return the LIKE pattern of texts that contain this one."""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _words(text: str) -> str:
    return _contains(text.replace("_", " "))


@dataclass(frozen=True)
class LeadFilter:
    """A filter of leads, as SQL conditions over a row: `b` is its business, `d` its domain, `c` a contact, `o` the
    owner of the row as in statements.py; b or d may be NULL. The value is bound as `:name`.

    `of_business` alone holds for a row per contact if a business of the contact matches. `of_contact` alone chooses
    the contacts of a business: those that do not match are left out, and a business without any has no row. A filter
    with both has a condition for each kind of row and leaves out no contact.
    """

    name: str  # of the API's parameter; the option has hyphens
    kind: FilterKind
    help: str
    of_business: str = ""
    of_contact: str = ""
    several: bool = False
    example: str = ""
    options: str = ""  # of a flag: its two options
    is_fact: bool = False  # a fact of the business or its site: one that differs has no address of a shared site
    convert: Callable[[Any], Any] = lambda value: value

    def bound(self, value: Any) -> Any:
        """Return the value as it is bound: a list of values for a filter that takes several."""
        if not self.several:
            return self.convert(value)
        return [self.convert(each) for each in (value if isinstance(value, list) else [value])]


_SEARCHES = "ANY (CAST(:searches AS uuid[]))"
_RECORDS = "SELECT b.id UNION ALL SELECT m.id FROM local_business m WHERE m.same_as_id = b.id"  # of a business


def _of_search(condition: str) -> str:
    """Return the condition that a search has the business `b`, or a record of it, as a result `f` with a condition."""
    of_searches = f"f.business_id IN ({_RECORDS}) AND f.search_id = {_SEARCHES}"
    return f"EXISTS (SELECT FROM search_business f WHERE {of_searches} AND {condition})"


# When the latest run of the search of a result `f` began, and the latest one that found all that the provider has.
_LATEST_RUN = "(SELECT max(r.began_at) FROM search_run r WHERE r.search_id = f.search_id)"
_LATEST_WHOLE_RUN = (
    "coalesce((SELECT max(r.began_at) FROM search_run r WHERE r.search_id = f.search_id AND r.is_whole), '-infinity')"
)
_SEEN_AT = "coalesce(f.seen_at, f.found_at, '-infinity')"
# The search has found no record of the business before.
_IS_NEW = _of_search(
    f"f.found_at >= {_LATEST_RUN} AND NOT EXISTS (SELECT FROM search_business g WHERE g.search_id = f.search_id "
    f"AND g.business_id IN ({_RECORDS}) AND coalesce(g.found_at, '-infinity') < {_LATEST_RUN})"
)
_IS_NEW_SITE = (
    "b.id IS NULL AND EXISTS (SELECT FROM search_domain f WHERE f.domain_id = d.id "
    f"AND f.search_id = {_SEARCHES} AND f.found_at >= {_LATEST_RUN})"
)

LEAD_FILTERS = {
    each.name: each
    for each in (
        LeadFilter(
            "has_email",
            "flag",
            "with an email address, or without",
            of_business="EXISTS (SELECT FROM {contacts} AND c.email IS NOT NULL) = CAST(:has_email AS boolean)",
            of_contact="(c.email IS NOT NULL) = CAST(:has_email AS boolean)",
            options="--has-email/--no-email",
        ),
        LeadFilter(
            "has_phone",
            "flag",
            "with a phone number, or without",
            of_business=(
                "({phone} IS NOT NULL OR EXISTS (SELECT FROM {contacts} AND c.phone IS NOT NULL "
                "AND NOT {branch})) = CAST(:has_phone AS boolean)"
            ),
            of_contact="(c.phone IS NOT NULL) = CAST(:has_phone AS boolean)",
            options="--has-phone/--no-phone",
        ),
        LeadFilter(
            "verdict",
            "verdict",
            "only addresses with this verdict: deliverable, risky, undeliverable or unknown",
            of_contact="c.verdict = ANY (CAST(:verdict AS text[]))",
            several=True,
        ),
        LeadFilter(
            "email_kind",
            "email_kind",
            "only addresses of this kind: role, personal, free-mail or other-domain",
            of_contact="c.email_kind = ANY (CAST(:email_kind AS text[]))",
            several=True,
        ),
        LeadFilter(
            "person",
            "text",
            "only people whose name contains this; case is ignored",
            of_contact="lower(c.name) LIKE ANY (CAST(:person AS text[]))",
            several=True,
            example="virtanen",
            convert=_contains,
        ),
        LeadFilter(
            "title",
            "text",
            "only people whose job title contains this; case is ignored",
            of_contact="lower(c.title) LIKE ANY (CAST(:title AS text[]))",
            several=True,
            example="owner",
            convert=_contains,
        ),
        LeadFilter(
            "found_since",
            "moment",
            "only contacts that were first found at or after this time",
            of_contact="c.created_at >= CAST(:found_since AS timestamptz)",
            convert=lambda value: datetime.fromisoformat(str(value)),
        ),
        LeadFilter(
            "new",
            "flag",
            "that the latest run of the search found for the first time, or an earlier one",
            of_business=f"({_IS_NEW} OR ({_IS_NEW_SITE})) = CAST(:new AS boolean)",
            of_contact=(
                "(c.created_at >= (SELECT max(r.began_at) FROM search_run r "  # noqa: S608 - our own names
                f"WHERE r.search_id = {_SEARCHES})) = CAST(:new AS boolean)"
            ),
            options="--only-new/--not-new",
        ),
        LeadFilter(
            "changed_since",
            "moment",
            "only those that are new or changed since this time: a fact of the business, or one of its contacts",
            of_business=(
                f"(EXISTS (SELECT FROM local_business w WHERE w.id IN ({_RECORDS}) "  # noqa: S608 - our own names
                "AND w.changed_at >= CAST(:changed_since AS timestamptz)) "
                f"OR {_of_search('f.found_at >= CAST(:changed_since AS timestamptz)')} "
                "OR EXISTS (SELECT FROM {contacts} "
                "AND greatest(c.created_at, c.changed_at) >= CAST(:changed_since AS timestamptz)))"
            ),
            of_contact="greatest(c.created_at, c.changed_at) >= CAST(:changed_since AS timestamptz)",
            convert=lambda value: datetime.fromisoformat(str(value)),
        ),
        LeadFilter(
            "seen_since",
            "moment",
            "only those that the search, or a page, last showed at or after this time",
            of_business=(
                f"({_of_search(f'{_SEEN_AT} >= CAST(:seen_since AS timestamptz)')} "
                "OR (b.id IS NULL AND EXISTS (SELECT FROM {contacts} "
                "AND c.seen_at >= CAST(:seen_since AS timestamptz))))"
            ),
            of_contact="c.seen_at >= CAST(:seen_since AS timestamptz)",
            convert=lambda value: datetime.fromisoformat(str(value)),
        ),
        LeadFilter(
            "gone",
            "flag",
            "businesses that the latest complete run did not find any more, or the others",
            of_business=(
                f"({_of_search('true')} AND NOT {_of_search(f'{_SEEN_AT} >= {_LATEST_WHOLE_RUN}')}) "
                "= CAST(:gone AS boolean)"
            ),
            options="--gone/--not-gone",
        ),
        LeadFilter(
            "country",
            "country",
            "only in this country, two letters",
            of_business="coalesce(b.country, d.country) = ANY (CAST(:country AS text[]))",
            several=True,
            convert=str.upper,
            is_fact=True,
        ),
        LeadFilter(
            "city",
            "text",
            "only in this city; case is ignored",
            of_business="lower(b.city) = ANY (CAST(:city AS text[]))",
            several=True,
            example="Helsinki",
            convert=str.lower,
            is_fact=True,
        ),
        LeadFilter(
            "category",
            "text",
            "only businesses with a category that contains this; case is ignored",
            of_business=(
                "EXISTS (SELECT FROM unnest(b.categories) category "
                "WHERE replace(lower(category), '_', ' ') LIKE ANY (CAST(:category AS text[])))"
            ),
            several=True,
            example="dentist",
            convert=_words,
            is_fact=True,
        ),
        LeadFilter(
            "min_rating",
            "rating",
            "only with this rating or a better one",
            of_business="b.rating >= CAST(:min_rating AS float8)",
            is_fact=True,
        ),
        LeadFilter(
            "max_rating",
            "rating",
            "only with this rating or a worse one",
            of_business="b.rating <= CAST(:max_rating AS float8)",
            is_fact=True,
        ),
        LeadFilter(
            "technology",
            "text",
            "only web sites that use this; case is ignored",
            of_business=(
                "EXISTS (SELECT FROM unnest(d.technologies) technology "
                "WHERE lower(technology) = ANY (CAST(:technology AS text[])))"
            ),
            several=True,
            example="wordpress",
            convert=str.lower,
            is_fact=True,
        ),
        LeadFilter(
            "language",
            "language",
            "only web sites in this language, two or three letters",
            of_business="split_part(lower(d.language), '-', 1) = ANY (CAST(:language AS text[]))",
            several=True,
            example="fi",
            convert=str.lower,
            is_fact=True,
        ),
        LeadFilter(
            "chains",
            "flag",
            "branches of a chain, or none of them",
            of_business="(b.chain IS NOT NULL) = CAST(:chains AS boolean)",
            options="--chains/--no-chains",
            is_fact=True,
        ),
        LeadFilter(
            "exported",
            "flag",
            "that were in a file before, or in none",
            of_business=(
                "EXISTS (SELECT FROM exported_lead e WHERE e.lead_id = ANY (CASE WHEN o.business_id IS NULL "
                "THEN o.domains ELSE o.records END)) = CAST(:exported AS boolean)"
            ),
            of_contact="EXISTS (SELECT FROM exported_lead e WHERE e.lead_id = c.id) = CAST(:exported AS boolean)",
            options="--exported/--not-exported",
        ),
        LeadFilter(
            "delivered",
            "flag",
            "that were delivered to a destination, or to none",
            of_business=(
                "EXISTS (SELECT FROM {contacts} AND EXISTS (SELECT FROM delivery v WHERE v.contact_id = c.id "
                "AND v.delivered_at IS NOT NULL)) = CAST(:delivered AS boolean)"
            ),
            of_contact=(
                "EXISTS (SELECT FROM delivery v WHERE v.contact_id = c.id AND v.delivered_at IS NOT NULL) "
                "= CAST(:delivered AS boolean)"
            ),
            options="--delivered/--not-delivered",
        ),
    )
}


def bound_values(filters: Filters) -> dict[str, Any]:
    """Return the values of filters by the names of their parameters."""
    return {name: LEAD_FILTERS[name].bound(value) for name, value in filters.items()}
