"""The steps of the line, each declared once: progress, cancel, resume, curation and labels are derived from STEPS."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from scrapersky.core.vocabularies import CAMPAIGN, REJECTED
from scrapersky.models import Contact, Delivery, Domain, LocalBusiness, Page, Place, Search, SitemapFile

Advance = Literal["off", "all"]
NOT_NEEDED = "not needed"  # the result of a sitemap analysis that was skipped: the home page links enough pages
PAGE_KINDS = ("contact", "imprint", "team", "about", "home")


@dataclass(frozen=True)
class LineStep:
    """One step of the line. In its SQL conditions `{row}` is the alias of the row."""

    workflow: str  # the name of the workflow, and of the advance rule that opens the step
    model: type[Any]  # the table whose rows the step processes
    label: str  # the name of its rows in progress messages
    was_completed: str  # condition: what only a completed run stores
    queue: str = ""  # the prefix of the queue's columns, if it is not the workflow's name
    may_enter: str = "true"  # condition: the row can be processed by this step
    # condition: rows for which it is false pass by this step, to the one after it; without one, it could only skip them
    needed: str = "true"
    rule_values: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # values of its rule besides off and all: condition
    is_picked: bool = False  # a few rows of each site are picked: resuming a search does not queue all of them

    def __post_init__(self) -> None:
        object.__setattr__(self, "queue", self.queue or self.workflow)

    @property
    def table(self) -> str:
        """The name of the table."""
        return str(self.model.__tablename__)

    def has_completed(self, row: str) -> str:
        """Build the condition that the row was Completed before it was queued again."""
        return f"({row}.{self.queue}_attempts > 0 AND {self.was_completed.format(row=row)})"

    def status_when_withdrawn(self, row: str) -> str:
        """Build the expression for the status of a row whose work is withdrawn: Completed if it was so before."""
        return f"CASE WHEN {self.has_completed(row)} THEN 'Completed' ELSE 'New' END"

    def can_enter(self, row: str) -> str:
        """Build the condition that the step can process the row, and that the row needs it."""
        return f"({self.may_enter.format(row=row)} AND {self.needed.format(row=row)})"

    def was_passed(self, row: str) -> str:
        """Build the condition that the row is behind this step: completed, or not needing it."""
        return f"({row}.{self.queue}_status = 'Completed' OR NOT {self.needed.format(row=row)})"


class AdvanceRules(BaseModel):
    """For each step: `off`, `all`, or a condition for the rows that enter it without a person's decision."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    deep_scan: Advance = Field("all", description="which places get their details fetched")
    site_search: Advance = Field("all", description="which businesses without a web site get one looked for")
    domain_extraction: Literal["off", "all", "has website"] = Field(
        "all", description="which businesses get their domain found"
    )
    permanently_closed: Advance = Field(
        "off", description="whether permanently closed businesses enter the steps after deep_scan"
    )
    domain_metadata: Advance = Field("all", description="which domains get their home page read")
    sitemap_analysis: Literal["off", "all", "needed"] = Field(
        "needed",
        description="which domains get their sitemaps looked for; `needed`: those whose home page links to fewer pages "
        "worth reading than `pages_per_site`",
    )
    sitemap_import: Literal["off", "all", "likely"] = Field(
        "likely",
        description="which sitemaps get their pages imported; `likely`: none that is named after posts, products, tags "
        "or images while the site has another",
    )
    page_curation: Literal["off", "all", "kinds"] = Field(
        "kinds", description="which pages get read for contacts; `kinds`: those of `page_kinds`"
    )
    page_kinds: tuple[str, ...] = PAGE_KINDS
    pages_per_site: int = Field(5, ge=0, le=1000)
    contact_verification: Advance = Field("all", description="which contacts get their email address verified")
    browser: Literal["off", "needed"] = Field(
        "needed",
        description="whether a browser reads what hides from a plain reader; `needed`: where CRAWL_BROWSER is set",
    )

    def value_of(self, step: LineStep) -> str:
        """Return the value of the rule that opens the step."""
        return str(getattr(self, step.workflow))

    def picks(self, page_kind: str) -> bool:
        """Return whether pages of this kind may be read."""
        return self.page_curation == "all" or page_kind in self.page_kinds


_HAS_BUSINESS = (
    "EXISTS (SELECT FROM local_business made WHERE made.tenant_id = {row}.tenant_id AND made.place_id = {row}.id)"
)
_HAS_DOMAIN = (
    "({row}.profiles IS NOT NULL OR EXISTS (SELECT FROM business_domain made WHERE made.business_id = {row}.id))"
)
_HAS_FOUND_SITE = "{row}.website_how IS NOT NULL"
_IS_LIST = "{row}.kind IS DISTINCT FROM 'index'"
_IS_VERIFIABLE = "coalesce({row}.email, {row}.phone) IS NOT NULL"
_IS_REACHABLE = "{row}.email IS NOT NULL AND {row}.suppressed_at IS NULL AND {row}.merged_into_id IS NULL"
# The pages that are read or wait to be read are fewer than the search reads of a site.
_PAGES_TAKEN = "SELECT count(*) FROM page made WHERE made.domain_id = {row}.id AND made.page_processing_status <> 'New'"
_PAGES_PER_SITE = "SELECT (s.rules ->> 'pages_per_site')::int FROM search s WHERE s.id = {row}.search_id"
_NEEDS_PAGES = f"({_PAGES_TAKEN}) < coalesce(({_PAGES_PER_SITE}), {AdvanceRules().pages_per_site})"
_WITH_WEBSITE = {"has website": "{row}.website IS NOT NULL"}

STEPS = (
    LineStep("place_search", Search, "searching", "{row}.result_count > 0"),
    LineStep("deep_scan", Place, "places", _HAS_BUSINESS),
    LineStep("site_search", LocalBusiness, "missing web sites", _HAS_FOUND_SITE, needed="{row}.website IS NULL"),
    LineStep("domain_extraction", LocalBusiness, "businesses", _HAS_DOMAIN, rule_values=_WITH_WEBSITE),
    LineStep("domain_metadata", Domain, "web sites", "{row}.http_status IS NOT NULL"),
    LineStep(
        *("sitemap_analysis", Domain, "sitemaps", "{row}.sitemap_result IS NOT NULL"),
        rule_values={"needed": _NEEDS_PAGES},
    ),
    LineStep(
        *("sitemap_import", SitemapFile, "lists of pages", "{row}.url_count IS NOT NULL"),
        needed=_IS_LIST,
        rule_values={"likely": "true"},  # unlikely ones were skipped when they were found
    ),
    LineStep(
        *("page_curation", Page, "pages", "{row}.fetched_at IS NOT NULL", "page_processing"),
        rule_values={"kinds": "true"},  # the kinds were chosen when the pages were picked
        is_picked=True,
    ),
    LineStep(
        *("contact_verification", Contact, "addresses", "{row}.verification IS NOT NULL"),
        may_enter=_IS_REACHABLE,
        needed=_IS_VERIFIABLE,
    ),
)
# Not a step of the line: contacts are delivered by the rules of destinations, not by those of a search.
DELIVERY = LineStep("delivery", Delivery, "deliveries", "{row}.delivered_at IS NOT NULL")

STOPPED = AdvanceRules.model_validate({step.workflow: "off" for step in STEPS[1:]})  # the rules of a cancelled search


def steps_of(model: type[Any]) -> tuple[LineStep, ...]:
    """Return the steps that process rows of this model, in order."""
    return tuple(step for step in (*STEPS, DELIVERY) if step.model is model)


def step_named(workflow: str) -> LineStep:
    """Return the step of this workflow."""
    return next(step for step in STEPS if step.workflow == workflow)


def step_after(workflow: str) -> LineStep:
    """Return the step that follows the one of this workflow."""
    return STEPS[STEPS.index(step_named(workflow)) + 1]


def not_rejected(row: str) -> str:
    """Build the condition that no person has rejected the row."""
    return f"{row}.curation_status NOT IN ({_REJECTED})"


_REJECTED = ", ".join(f"'{word.value}'" for word in REJECTED)
# Evaluated once per statement: a tenant that has rejected no business pays for no further condition.
_ANY_REJECTED = f"(SELECT EXISTS (SELECT FROM local_business WHERE curation_status IN ({_REJECTED})))"  # noqa: S608


def is_of_rejected(business_id: str, domain_id: str) -> str:
    """Build the condition that people have rejected the business; without one, all businesses of the web site.

    A decision about a business is stored in all its records: actions/curation.py.
    """
    businesses = f"""SELECT {business_id} AS id UNION ALL
        SELECT l.business_id FROM business_domain l WHERE {business_id} IS NULL AND l.domain_id = {domain_id}"""  # noqa: S608
    return f"""({_ANY_REJECTED} AND coalesce((SELECT bool_and(r.curation_status IN ({_REJECTED}))
        FROM ({businesses}) w JOIN local_business r ON r.id = w.id), false))"""  # noqa: S608 - own names


# -- the rows of a search ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchRows:
    """Conditions on the rows of a table with respect to the search `:search`, or to several, `:searches`.

    What the searches of a campaign find is linked to the campaign, too: `found` is right for a campaign as it is.
    """

    found: str  # rows that the search has found; several searches may find a row
    is_found: str  # the same for a single row, which is looked up
    owned: str  # rows that are processed for the searches: the latest search that found them is one of them


# The tables that hold which search found a row, and their columns for it.
LINKS = {
    "place": ("search_place", "place_id"),
    "local_business": ("search_business", "business_id"),
    "domain": ("search_domain", "domain_id"),
}
_SEVERAL = "ANY (cast(:searches AS uuid[]))"


def contacts_of_search(columns: str = "c.id", *, owned: bool = False) -> str:
    """Build the query for the contacts of a search's domains, of its businesses without one, and of its file.

    Three lookups by index: one condition with OR would read every contact.
    """
    domains = "domain f ON f.id" if owned else "search_domain f ON f.domain_id"
    businesses = "local_business f ON f.id" if owned else "search_business f ON f.business_id"
    of_search = f"f.search_id = {_SEVERAL if owned else ':search'}"
    return f"""
    SELECT {columns} FROM contact c JOIN {domains} = c.domain_id WHERE {of_search}
    UNION ALL SELECT {columns} FROM contact c JOIN {businesses} = c.business_id
    WHERE {of_search} AND c.domain_id IS NULL
    UNION ALL SELECT {columns} FROM contact c JOIN search_contact f ON f.contact_id = c.id
    WHERE {of_search} AND c.domain_id IS NULL AND c.business_id IS NULL"""  # noqa: S608 - our own names


def _linked(link: str, key: str) -> SearchRows:
    found = f"{{row}}.id IN (SELECT {key} FROM {link} WHERE search_id = :search)"  # noqa: S608 - our own names
    return SearchRows(found, _is_linked(link, key, "{row}.id"), f"{{row}}.search_id = {_SEVERAL}")


def _is_linked(link: str, key: str, value: str) -> str:
    return f"EXISTS (SELECT FROM {link} f WHERE f.search_id = :search AND f.{key} = {value})"


_IS_OF_DOMAIN = _is_linked("search_domain", "domain_id", "{row}.domain_id")
_OF_DOMAINS = SearchRows(
    "{row}.domain_id IN (SELECT domain_id FROM search_domain WHERE search_id = :search)",
    _IS_OF_DOMAIN,
    f"{{row}}.domain_id IN (SELECT id FROM domain WHERE search_id = {_SEVERAL})",  # noqa: S608 - our own names
)
# The search itself; of a campaign its searches.
_SEARCHED = (
    f"({{row}}.provider <> '{CAMPAIGN}' AND {{row}}.id = ANY (ARRAY("  # noqa: S608 - our own names
    "SELECT search_id FROM campaign_search WHERE campaign_id = :search UNION ALL SELECT cast(:search AS uuid))))"
)
ROWS_OF_SEARCH: Mapping[str, SearchRows] = {
    "search": SearchRows(_SEARCHED, _SEARCHED, f"{{row}}.id = {_SEVERAL}"),
    **{table: _linked(*link) for table, link in LINKS.items()},
    "sitemap_file": _OF_DOMAINS,
    "page": _OF_DOMAINS,
    "contact": SearchRows(
        f"{{row}}.id IN ({contacts_of_search()})",
        f"CASE WHEN {{row}}.domain_id IS NOT NULL THEN {_IS_OF_DOMAIN} "
        "WHEN {row}.business_id IS NOT NULL "
        f"THEN {_is_linked('search_business', 'business_id', '{row}.business_id')} "
        f"ELSE {_is_linked('search_contact', 'contact_id', '{row}.id')} END",
        f"{{row}}.id IN ({contacts_of_search(owned=True)})",
    ),
}

# In lists a business is shown once: by the record that was stored first, also for a search that found another record.
_SHOWN = "coalesce(same.same_as_id, same.id)"
LISTED_OF_SEARCH: Mapping[str, SearchRows] = {
    **ROWS_OF_SEARCH,
    "local_business": SearchRows(
        # An array: the planner would join the rows of a subquery with all businesses of the tenant.
        f"{{row}}.id = ANY (ARRAY(SELECT {_SHOWN} FROM search_business f "  # noqa: S608
        "JOIN local_business same ON same.id = f.business_id WHERE f.search_id = :search))",
        f"({ROWS_OF_SEARCH['local_business'].is_found} OR EXISTS (SELECT FROM local_business same "
        "JOIN search_business f ON f.business_id = same.id AND f.search_id = :search "
        "WHERE same.same_as_id = {row}.id))",
        ROWS_OF_SEARCH["local_business"].owned,
    ),
}
