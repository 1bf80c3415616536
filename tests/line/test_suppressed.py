"""What is suppressed is in no file, list of leads, export or delivery: no name, number, address or profile of it."""

import json
import random
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from scrapersky.actions.searches.campaigns import CampaignRequest, request_campaign
from scrapersky.actions.searches.request_search import request_search
from scrapersky.bootstrap import open_application
from scrapersky.cli.finding.own_columns import OwnColumns
from scrapersky.cli.finding.site_list import SiteList
from scrapersky.core.settings import Environment
from scrapersky.engine.loop import run_job_loop
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.models import SearchRun
from scrapersky.providers.areas.where import Where
from scrapersky.providers.registry import DEFAULT_PROVIDER
from scrapersky.sandbox.crm.webhook import WebhookReceiver
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries, destinations
from scrapersky.store.leads.read import LeadQuery, Per, Position, leads, page
from scrapersky.store.listing import export as exports
from scrapersky.store.privacy.contact_points import ContactPoint
from scrapersky.store.privacy.suppressions import suppress
from scrapersky.store.searches import changes
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import STEPS, AdvanceRules
from tests.conftest import processors_of

PER: tuple[Per, ...] = ("business", "contact")
SHARES = (0.5, 0.5, 0.1, 0.9)  # of the addresses, numbers and domains that are suppressed, one round each
STEPS_BEFORE_DELIVERY = [step.workflow for step in STEPS]
BEGAN = datetime(2020, 1, 1, tzinfo=UTC)  # before anything was found, so that a comparison of runs names everything
CONTACTS = "SELECT id, domain_id, name, email, phone, fax, profiles FROM contact"


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=11, businesses=150) as little_internet:
        yield little_internet


@pytest.fixture
async def application(sandbox, database_url):
    quick = {
        "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0",
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
        "CRAWL_PARSER_PROCESSES": "1",
    }
    variables = {**sandbox.environment(), "DATABASE_URL": database_url, **quick}
    opened = await open_application(Environment(variables, None))
    yield opened
    await opened.close()


@dataclass(frozen=True)
class Line:
    """A search of the sandbox whose rows have gone through all steps, and its outputs."""

    application: Any
    sandbox: Sandbox
    actor: Actor
    search_id: UUID
    campaign_id: UUID
    own: OwnColumns = field(default_factory=OwnColumns)

    async def run(self, *steps: str) -> None:
        processors = processors_of(self.application.pipeline, self.application.database, self.application.settings)
        for step in steps:
            await run_job_loop(processors[step])

    async def outputs(self) -> AsyncIterator[tuple[str, str]]:
        """Yield every output with its name, as one text."""
        async with self.application.database.session(self.actor.tenant_id) as session:
            for per in PER:
                yield f"leads by {per}", as_text([row async for row in leads(session, self.search_id, per)])
                of_campaign = LeadQuery((self.campaign_id, self.search_id), per)
                yield f"leads of a campaign by {per}", as_text([row async for row in leads(session, of_campaign)])
                listed = await page(session, self.search_id, per, Position(), 10_000)
                yield f"list of leads by {per}", as_text([row for row, _ in listed])
                with_own = self.own.beside(session, self.actor.tenant_id, leads(session, self.search_id, per))
                own = [[row[name] for name in self.own.names] async for row in with_own]
                yield f"own columns beside leads by {per}", as_text(own)
            former, latter = (SearchRun(number=n, began_at=BEGAN + timedelta(days=n)) for n in (1, 2))
            compared = await changes.between(session, self.search_id, former, latter, [former, latter])
            yield "comparison of runs", as_text([vars(compared.businesses), vars(compared.contacts)])
            for name, resource in exports.EXPORTED.items():
                if name != "suppressions":
                    rows = exports.rows(session, resource, self.actor.tenant_id, {}, flat=False)
                    yield f"export of {name}", as_text([row async for row in rows])

    async def queue_deliveries(self, number: int, contact_ids: list[UUID]) -> list[WebhookReceiver]:
        """Queue every contact for a destination of each kind; return the receivers of messages."""
        box = self.sandbox
        box.hubspot.contacts.clear()
        box.brevo.contacts.clear()
        receivers = [box.hooks.add(f"/{number}"), box.hooks.add(f"/n8n/{number}", header=("Authorization", "word"))]
        targets = (
            ("webhook", f"{box.hooks_url}/{number}", None),
            ("n8n", f"{box.hooks_url}/n8n/{number}", "word"),
            ("hubspot", box.hubspot_url, box.hubspot.token),
            ("brevo", box.brevo_url, box.brevo.key),
        )
        async with self.application.database.session(self.actor.tenant_id) as session:
            for kind, url, secret in targets:
                draft = destinations.DestinationDraft(f"{kind} {number}", kind, url, secret)
                made, _ = await destinations.create(session, self.actor, self.application.vault, draft)
                await deliveries.send(session, self.actor, made.id, contact_ids)
        return receivers

    def delivered(self, receivers: list[WebhookReceiver]) -> dict[str, str]:
        """Return what each kind of destination has received."""
        webhook, n8n = (list(receiver.effects.values()) for receiver in receivers)
        crms = {"hubspot": self.sandbox.hubspot.contacts, "brevo": self.sandbox.brevo.contacts}
        return {kind: as_text(got) for kind, got in {"webhook": webhook, "n8n": n8n, **crms}.items()}


@pytest.fixture
async def line(application, sandbox, tenant):
    actor = Actor("ada", tenant, "operator", "test")
    wish = SearchRequest("dentists", Where.of("Helsinki"), DEFAULT_PROVIDER, 12, None, AdvanceRules())
    async with application.database.session(tenant) as session:
        search = (await request_search(session, actor, wish)).search
        request = CampaignRequest.of([wish], AdvanceRules(), None, None)
        campaign = (await request_campaign(session, actor, request)).search
    line = Line(application, sandbox, actor, search.id, campaign.id)
    for _ in range(2):  # sitemap indexes queue further sitemaps
        await line.run(*STEPS_BEFORE_DELIVERY)
    return line


def as_text(value: Any) -> str:
    """Return a value as text in small letters, with numbers in any format as their digits."""
    text = json.dumps(value, default=str, ensure_ascii=False).lower()
    return re.sub(r"(?<=[0-9])[ ()./-]+(?=[0-9(])", "", text)


def values_of(row: Any) -> set[str]:
    """Return what a contact has but its name, as as_text writes it."""
    profiles = json.loads(row["profiles"] or "{}").values()
    given = (row["email"], row["phone"], row["fax"], *profiles)
    return {value.lower().removeprefix("+") for value in given if value}


def is_same(name: str, other: str) -> bool:
    return f" {name} " in f" {other} " or f" {other} " in f" {name} "


def hidden_values(rows: Sequence[Any], suppressed: set[str], sites: set[UUID]) -> set[str]:
    """Return what only suppressed people have: of contacts with such a point, and of their names at the same site."""
    direct = [row for row in rows if values_of(row) & suppressed or row["domain_id"] in sites]
    names = [(row["domain_id"], row["name"].lower()) for row in direct if row["name"]]

    def is_hidden(row: Any) -> bool:
        name = (row["name"] or "").lower()
        return row in direct or any(site == row["domain_id"] and name and is_same(name, each) for site, each in names)

    hidden = [row for row in rows if is_hidden(row)]
    others = [row for row in rows if row not in hidden and (row["name"] or row["email"])]
    shown = {value for row in others for value in {*values_of(row), (row["name"] or "").lower()}}
    theirs = {value for row in hidden for value in {*values_of(row), (row["name"] or "").lower()}}
    return {value for value in theirs if value and not any(value in each for each in shown)}


async def plant_names(admin: Any, rows: Sequence[Any], domains: dict[UUID, str]) -> OwnColumns:
    """Write names into pages and sites as their sites do, and into a table of web sites; return its columns."""
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        if not row["name"] or row["domain_id"] not in domains:
            continue
        slug = "-".join(reversed(row["name"].split()))
        await admin.execute(
            "UPDATE page SET title = $2, url = url || $3 WHERE id = (SELECT page_id FROM contact WHERE id = $1)",
            *(row["id"], f"Meet {row['name']} | Team", f"?about={slug}"),
        )
        await admin.execute(
            "UPDATE domain SET description = $2, facts = jsonb_build_object('founder', $2::text) WHERE id = $1",
            *(row["domain_id"], f"Founded by {row['name']}."),
        )
        cells[domains[row["domain_id"]]] = {
            "Contact": row["name"],
            "Mail": row["email"] or row["phone"] or "",
            "Note": f"met {row['name']} at the fair",
        }
    assert len(cells) > 3
    sites = tuple(CompanyDomain(name, name, name) for name in cells)
    return OwnColumns.of(SiteList(sites, (), ("Contact", "Mail", "Note"), cells), ())


async def test_nothing_of_a_random_half_that_is_suppressed_is_in_any_output(line, admin, tenant):
    rows = await admin.fetch(CONTACTS)
    domains = {row["id"]: row["name"] for row in await admin.fetch("SELECT id, name FROM domain")}
    found = (
        {ContactPoint("email", row["email"]) for row in rows if row["email"]}
        | {ContactPoint("phone", row["phone"]) for row in rows if row["phone"]}
        | {ContactPoint("domain", domains[row["domain_id"]]) for row in rows if row["domain_id"]}
    )
    names_of_sites = await admin.fetch("SELECT name || coalesce(title, '') || coalesce(description, '') FROM domain")
    public = as_text([tuple(row) for row in names_of_sites])
    line = replace(line, own=await plant_names(admin, rows, domains))
    points = sorted(found, key=lambda point: point.value)
    assert len(points) > 30
    for number, share in enumerate(SHARES):
        draw = random.Random(number)
        chosen = [point for point in points if draw.random() < share]
        chosen = [point for point in chosen if point.kind != "domain" or draw.random() < 0.3]
        receivers = await line.queue_deliveries(number, [row["id"] for row in rows])  # queued before
        async with line.application.database.session(tenant) as session:
            await suppress(session, line.actor, chosen)
        await line.run("delivery")
        sites = {row_id for row_id, name in domains.items() if ContactPoint("domain", name) in chosen}
        suppressed = {point.value.lower().removeprefix("+") for point in chosen if point.kind != "domain"}
        hidden = hidden_values(rows, suppressed, sites)
        assert hidden
        delivered = line.delivered(receivers)
        outputs = {name: text async for name, text in line.outputs()} | delivered
        for name, text in outputs.items():
            assert [value for value in hidden if value in text and value not in public] == [], name
            assert [site for site in sites if f'"{domains[site]}"' in text] == [], name
        assert share > 0.8 or all("@" in text for text in delivered.values()), "the others are delivered"
        assert share > 0.8 or "@" in outputs["leads of a campaign by contact"], "the others are named"
        assert share > 0.8 or outputs["comparison of runs"].count('"new": ["') == 2, "the others are named"
        for name in ("own columns beside leads by contact", "export of pages"):
            assert "meet" in outputs[name] or "at the fair" in outputs[name] or share > 0.2, "the others are named"
        await admin.execute("DELETE FROM suppression")
        assert await admin.fetchval("SELECT count(*) FROM contact WHERE suppressed_at IS NOT NULL") == 0
