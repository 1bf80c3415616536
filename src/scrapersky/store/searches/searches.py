"""Named queries about searches: asked for once, resumed by asking again, watched step by step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import Status
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.models import Domain, Search, SearchDomain
from scrapersky.providers.base import BudgetReached
from scrapersky.store.line.advance_rules import STOPPED, AdvanceRules, read_rules
from scrapersky.store.money import quotas, spending
from scrapersky.store.searches import journal, reclaim, resume

OPEN = (Status.QUEUED, Status.PROCESSING)
DOMAINS_AT_ONCE = 5_000


@dataclass(frozen=True)
class SearchRequest:
    """What somebody wants to find."""

    text: str
    area: str | None
    provider: str
    limit: int | None
    budget_cents: int | None
    rules: AdvanceRules


@dataclass(frozen=True)
class StepCount:
    """How the rows of one step stand for one search."""

    workflow: str
    waiting: int
    working: int
    completed: int
    skipped: int
    failed: int

    @property
    def open(self) -> int:
        """Rows that are not through with this step."""
        return self.waiting + self.working

    @property
    def settled(self) -> int:
        """Rows that are."""
        return self.completed + self.skipped + self.failed


async def ask(
    session: AsyncSession,
    tenant_id: UUID,
    asked: SearchRequest,
    refresh: bool = False,
    *,
    estimate_cents: int | None = None,
    is_done: bool = False,
) -> tuple[Search, bool]:
    """The search for this wish, queued if it is new, failed or to be refreshed; and whether it was there before.

    One that would be queued over a quota of its tenant is refused. One that `is_done` only stands for rows that came
    another way: nobody is asked for places, and no quota is touched.
    """
    found = await same(session, tenant_id, asked)
    is_due = not is_done and (found is None or _is_due(found, asked, refresh))
    budget = asked.budget_cents
    if is_due:
        room = await quotas.admit(session, tenant_id, estimate_cents)
        budget = room if budget is None else budget
    if found is not None:
        await _ask_again(session, found, replace(asked, budget_cents=budget), is_due, refresh)
        return found, True
    found = Search(
        tenant_id=tenant_id,
        text=asked.text,
        area=asked.area,
        provider=asked.provider,
        result_limit=asked.limit,
        budget_cents=budget,
        rules=asked.rules.model_dump(mode="json"),
        place_search_status=Status.COMPLETED if is_done else Status.QUEUED,
    )
    session.add(found)
    await session.flush()
    await journal.inherit(session, found)
    return found, False


def _is_due(found: Search, asked: SearchRequest, refresh: bool) -> bool:
    """Whether it has to be made: it failed, was taken back, is wanted anew, or lacked money and is given more of it."""
    if found.place_search_status in OPEN:
        return False
    has_more = asked.budget_cents is None or asked.budget_cents > (found.budget_cents or 0)
    lacks_money = (found.cut_short or "").startswith(BudgetReached.BEGINS)
    return refresh or found.place_search_status in (Status.NEW, Status.ERROR) or (lacks_money and has_more)


async def _ask_again(session: AsyncSession, found: Search, asked: SearchRequest, is_due: bool, refresh: bool) -> None:
    """Give the search its new rules and budget; what it has found goes on by them."""
    before = read_rules(found.rules)
    spent, starts_over = found.spent_cents, refresh and found.place_search_status == Status.COMPLETED
    found.rules, found.budget_cents = asked.rules.model_dump(mode="json"), asked.budget_cents
    if is_due:
        found.place_search_status = Status.QUEUED
    await reclaim.take_up(session, found.id)
    await session.flush()  # the budget first
    if is_due and starts_over:
        await journal.close(session, found.id)
    elif is_due:  # the database lets what is queued spend anew; this one goes on, and has spent a part already
        await session.execute(update(Search).where(Search.id == found.id).values(spent_cents=spent))
    await spending.wake_search(session, found.id)
    if asked.rules != before:
        await reclaim.read_more(session, found.id, asked.rules)
    if before == STOPPED:
        await resume.resume(session, found, asked.rules)
    """The latest search for the same wish, in large or small letters; the next who wishes it waits for this one."""


async def same(session: AsyncSession, tenant_id: UUID, asked: SearchRequest) -> Search | None:
    """The latest search for the same wish, in large or small letters; who wishes it next waits for this transaction."""
    wish = "\n".join(map(str, (tenant_id, asked.text.lower(), asked.area and asked.area.lower(), asked.provider)))
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(wish, 0))))
    wanted = (
        select(Search)
        .where(
            Search.tenant_id == tenant_id,
            func.lower(func.left(Search.text, 200)) == func.lower(func.left(asked.text, 200)),
            func.lower(Search.text) == func.lower(asked.text),
            func.lower(Search.area).is_not_distinct_from(func.lower(asked.area)),
            Search.provider == asked.provider,
            Search.result_limit.is_not_distinct_from(asked.limit),
        )
        .order_by(Search.created_at.desc())
        .limit(1)
    )
    return (await session.scalars(wanted)).first()


async def foreseen_details(session: AsyncSession, tenant_id: UUID, asked: SearchRequest) -> int:
    """How many places the same search found earlier that have to be looked up one by one: none for a new one."""
    former = await same(session, tenant_id, asked)
    return await spending.stale_places(session, former.id) if former else 0


async def start_from_domains(session: AsyncSession, search: Search, domains: Sequence[CompanyDomain]) -> None:
    """Begin with web sites one already has: their domains go on for this search, each once."""
    search.place_search_status, search.result_count = Status.COMPLETED, len(domains)
    unique = {domain.name: domain for domain in domains}
    names = sorted(unique)  # one order for all, so that two never wait in a ring
    for start in range(0, len(names), DOMAINS_AT_ONCE):
        bite = [unique[name] for name in names[start : start + DOMAINS_AT_ONCE]]
        columns = {
            "ids": [new_id() for _ in bite],
            "names": [domain.name for domain in bite],
            "unicode_names": [domain.unicode_name for domain in bite],
            "urls": [domain.url for domain in bite],
        }
        await session.execute(_START, {"tenant": search.tenant_id, "search": search.id, **columns})


async def progress(session: AsyncSession, search_id: UUID) -> list[StepCount]:
    """How every step stands for this search, in the order of the line."""
    rows = await session.execute(_PROGRESS, {"search": search_id})
    return [StepCount(*row) for row in rows]


async def cut_short(session: AsyncSession, search_id: UUID) -> str | None:
    """What the search lacks, and why: the budget, a box with more places than the provider tells of."""
    found: str | None = await session.scalar(select(Search.cut_short).where(Search.id == search_id))
    return found


async def contact_counts(session: AsyncSession, search_id: UUID) -> dict[str, int]:
    """What the search has found so far: contacts in all, and of each sort."""
    row = (await session.execute(_CONTACTS, {"search": search_id})).one()
    return dict(row._mapping)


async def verdicts(session: AsyncSession, search_id: UUID) -> dict[str, str | None]:
    """The verdict on every address the search has found; none where it has not been verified."""
    rows = await session.execute(_VERDICTS, {"search": search_id})
    return {row.email: row.verdict for row in rows}


async def found_values(session: AsyncSession, search_id: UUID) -> list[tuple[str, str, str]]:
    """Every value the search has found: domain, field (email, phone, social, person, title as `name: title`), value."""
    rows = await session.execute(_VALUES, {"search": search_id})
    return [(row.domain, row.field, row.value) for row in rows]


async def hosts(session: AsyncSession, search_id: UUID) -> set[str]:
    """The domains that the search found."""
    found = select(Domain.name).join(SearchDomain, SearchDomain.domain_id == Domain.id)
    return set(await session.scalars(found.where(SearchDomain.search_id == search_id)))


# The steps of the line: workflow, table, queue, and which of its rows the search found.
_ITS_DOMAINS = "t.domain_id IN (SELECT domain_id FROM search_domain WHERE search_id = :search)"
# Contacts of its domains, those of its businesses that have none, and those that its file brought without either, each
# once. Lookups by index, one after the other: OR would read them all.
_ITS_CONTACTS = """(SELECT c.* FROM contact c JOIN search_domain f ON f.domain_id = c.domain_id
    WHERE f.search_id = :search
    UNION ALL SELECT c.* FROM contact c JOIN search_business f ON f.business_id = c.business_id
    WHERE f.search_id = :search AND c.domain_id IS NULL
    UNION ALL SELECT c.* FROM contact c JOIN search_contact f ON f.contact_id = c.id
    WHERE f.search_id = :search AND c.domain_id IS NULL AND c.business_id IS NULL)"""
PARTS: list[tuple[str, str, str, str]] = [
    ("place_search", "search", "place_search", "t.id = :search"),
    (
        *("deep_scan", "place", "deep_scan"),
        "t.id IN (SELECT place_id FROM search_place WHERE search_id = :search)",
    ),
    (
        *("domain_extraction", "local_business", "domain_extraction"),
        "t.id IN (SELECT business_id FROM search_business WHERE search_id = :search)",
    ),
    *(
        (workflow, "domain", workflow, "t.id IN (SELECT domain_id FROM search_domain WHERE search_id = :search)")
        for workflow in ("domain_metadata", "sitemap_analysis")
    ),
    ("sitemap_import", "sitemap_file", "sitemap_import", _ITS_DOMAINS),
    ("page_curation", "page", "page_processing", f"{_ITS_DOMAINS} AND t.page_processing_status <> 'New'"),
    (
        "contact_verification",
        "contact",
        "contact_verification",
        f"t.id IN (SELECT id FROM {_ITS_CONTACTS} c) AND t.contact_verification_status <> 'New'",  # noqa: S608
    ),
]


def _progress_of(workflow: str, table: str, queue: str, mine: str) -> str:
    status = f"t.{queue}_status"
    counts = ", ".join(
        f"count(*) FILTER (WHERE {status} = '{word}')"
        for word in ("Queued", "Processing", "Completed", "Skipped", "Error")
    )
    return f"SELECT '{workflow}' AS workflow, {counts} FROM {table} t WHERE {mine}"  # noqa: S608 - our own names


_START = text("""
INSERT INTO domain (id, tenant_id, search_id, name, unicode_name, start_url, domain_metadata_status)
SELECT new.id, :tenant, :search, new.name, new.unicode_name, new.url, 'Queued'
FROM unnest(cast(:ids AS uuid[]), cast(:names AS text[]), cast(:unicode_names AS text[]), cast(:urls AS text[]))
    AS new(id, name, unicode_name, url)
ON CONFLICT (tenant_id, name) DO UPDATE SET search_id = excluded.search_id,
    domain_metadata_status = coalesce(nullif(domain.domain_metadata_status, 'New'), 'Queued')""")
_PROGRESS = text(" UNION ALL ".join(_progress_of(*part) for part in PARTS))
_CONTACTS = text(f"""
SELECT count(*) AS contacts, count(DISTINCT c.email) AS emails, count(DISTINCT c.phone) AS phones,
    count(DISTINCT c.name) AS people, count(DISTINCT c.domain_id) AS domains
FROM {_ITS_CONTACTS} c""")  # noqa: S608 - our own names


_VERDICTS = text(f"""
SELECT c.email, min(c.verdict) AS verdict FROM {_ITS_CONTACTS} c
WHERE c.email IS NOT NULL GROUP BY c.email""")  # noqa: S608 - our own names


_VALUES = text("""
WITH c AS (SELECT d.name AS domain, c.* FROM search_domain f JOIN domain d ON d.id = f.domain_id
    JOIN contact c ON c.domain_id = d.id WHERE f.search_id = :search)
SELECT domain, 'email' AS field, email AS value FROM c WHERE email IS NOT NULL
UNION SELECT domain, 'phone', phone FROM c WHERE phone IS NOT NULL
UNION SELECT domain, 'person', name FROM c WHERE name IS NOT NULL
UNION SELECT domain, 'title', name || ': ' || title FROM c WHERE name IS NOT NULL AND title IS NOT NULL
UNION SELECT domain, 'social', p.value FROM c, jsonb_each_text(c.profiles) p""")


def is_done(steps: Sequence[StepCount]) -> bool:
    """Whether nothing is left to do for the search."""
    return not any(step.open for step in steps)


def as_json(steps: Sequence[StepCount]) -> dict[str, Any]:
    """The steps for a script."""
    return {step.workflow: {key: value for key, value in vars(step).items() if key != "workflow"} for step in steps}
