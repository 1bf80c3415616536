"""Rows that a person rejects are not processed further, also if a step has them in flight."""

import asyncio
from datetime import timedelta

import pytest

from scrapersky.actions import curation
from scrapersky.core.vocabularies import Curation
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.outcomes import Later
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.resources import RESOURCES
from scrapersky.store.operations import queue_rows
from tests.conftest import processors_of
from tests.workflows.cases import CASES, Case, real_line

RESOURCE_OF = {
    resource.model.__tablename__: resource
    for resource in RESOURCES.values()
    if resource.name not in ("searches", "jobs")
}
QUEUED_DOMAINS = "SELECT count(*) FROM domain WHERE domain_metadata_status = 'Queued'"
STEPS = [case for case in CASES if case.line is real_line and real_line()[case.name].table in RESOURCE_OF]
FEEDING = [case for case in STEPS if case.name != "contact_verification"]


class RowInFlight:
    """One row that its workflow processes, while a person decides about it."""

    def __init__(self, case: Case, database, settings, admin, tenant) -> None:
        self.case, self.database, self.settings, self.admin, self.tenant = case, database, settings, admin, tenant
        self.workflow = case.line()[case.name]
        self.actor = Actor("ada", tenant, "curator", "test")

    async def decide(self, row_id, word: Curation) -> None:
        async with self.database.session(self.tenant) as session:
            await curation.curate(session, RESOURCE_OF[self.workflow.table], self.actor, [row_id], word)

    async def queue(self, row_id) -> None:
        async with self.database.session(self.tenant) as session:
            await queue_rows.queue_rows(session, self.workflow, self.actor, [row_id])

    async def run(self, meanwhile, ending) -> None:
        """Take the row, let `meanwhile` happen, then end as `ending` does."""

        async def work(row_id):
            await meanwhile(row_id)
            await asyncio.sleep(0)
            return ending()

        pipeline = self.case.line()
        pipeline[self.case.name].read = lambda row: row.id
        pipeline[self.case.name].work = work
        await run_job_loop(processors_of(pipeline, self.database, self.settings)[self.case.name])

    async def state(self, row_id) -> tuple[str, str | None]:
        queue = self.workflow.queue
        return tuple(
            await self.admin.fetchrow(
                f"SELECT {queue}_status, {queue}_error, {queue}_due_at FROM {self.workflow.table} WHERE id = $1", row_id
            )
        )


@pytest.fixture
def in_flight(case, database, settings, admin, tenant) -> RowInFlight:
    return RowInFlight(case, database, settings, admin, tenant)


def fails():
    raise RuntimeError("the wire tore")


def postpones():
    raise Later(timedelta(minutes=5), "the provider rests")


@pytest.mark.parametrize("case", FEEDING, ids=str)
async def test_a_row_rejected_in_flight_opens_no_next_step(in_flight, case, admin, tenant):
    [row] = await case.add(admin, tenant)
    await in_flight.run(lambda row_id: in_flight.decide(row_id, Curation.NOT_A_FIT), case.found)
    assert await in_flight.state(row) == ("Completed", None, None)
    products = QUEUED_DOMAINS if case.name == "domain_extraction" else case.products
    assert await admin.fetchval(products) == 0


@pytest.mark.parametrize("case", STEPS, ids=str)
async def test_a_row_withdrawn_in_flight_is_not_retried(in_flight, case, admin, tenant):
    [row] = await case.add(admin, tenant)
    await in_flight.run(lambda row_id: in_flight.decide(row_id, Curation.NOT_A_FIT), fails)
    assert await in_flight.state(row) == ("New", None, None)


@pytest.mark.parametrize("case", STEPS[:1], ids=str)
@pytest.mark.parametrize("word", [Curation.NEW, Curation.MAYBE, Curation.ARCHIVED])
async def test_every_decision_but_selected_withdraws_a_row_that_would_be_postponed(
    in_flight, case, admin, tenant, word
):
    [row] = await case.add(admin, tenant)
    await in_flight.run(lambda row_id: in_flight.decide(row_id, word), postpones)
    assert await in_flight.state(row) == ("New", None, None)


@pytest.mark.parametrize("case", STEPS[:1], ids=str)
async def test_a_row_selected_again_is_retried(in_flight, case, admin, tenant):
    async def waver(row_id):
        await in_flight.decide(row_id, Curation.ARCHIVED)
        await in_flight.decide(row_id, Curation.SELECTED)

    async def waver_and_queue(row_id):
        await in_flight.decide(row_id, Curation.ARCHIVED)
        await in_flight.queue(row_id)

    for number, meanwhile in enumerate((waver, waver_and_queue)):
        [row] = await case.add(admin, tenant, start=number)
        await in_flight.run(meanwhile, fails)
        status, error, due_at = await in_flight.state(row)
        assert (status, error) == ("Queued", "RuntimeError: the wire tore")
        assert due_at is not None


@pytest.mark.parametrize("case", STEPS[:1], ids=str)
async def test_a_withdrawn_row_of_a_dead_worker_is_not_queued_again(in_flight, case, admin, tenant, database):
    [row] = await case.add(admin, tenant)
    table, queue = in_flight.workflow.table, in_flight.workflow.queue
    gone = f"{queue}_status = 'Processing', {queue}_attempts = 1, {queue}_due_at = now() - interval '1 second'"
    await admin.execute(f"UPDATE {table} SET {gone}")
    await in_flight.decide(row, Curation.NOT_A_FIT)
    async with database.engine_connection() as connection:
        await in_flight.case.line().queues[case.name].sweep(connection, 3)
    assert await in_flight.state(row) == ("New", None, None)


async def test_a_rejected_domain_is_not_opened_by_its_next_business(database, settings, admin, tenant):
    await admin.execute(
        "INSERT INTO domain (tenant_id, name, curation_status) VALUES ($1, 'one.fi', 'Not a Fit')", tenant
    )
    [case] = [case for case in CASES if case.name == "domain_extraction"]
    await case.add(admin, tenant)
    in_flight = RowInFlight(case, database, settings, admin, tenant)
    await in_flight.run(lambda row_id: asyncio.sleep(0), lambda: CompanyDomain("one.fi", "one.fi", "https://one.fi/"))
    assert await admin.fetchval("SELECT count(*) FROM business_domain") == 1
    assert await admin.fetchval(QUEUED_DOMAINS) == 0


async def test_pages_of_a_rejected_site_are_stored_but_not_queued(database, settings, admin, tenant):
    [case] = [case for case in CASES if case.name == "sitemap_import"]
    await case.add(admin, tenant)
    await admin.execute("UPDATE domain SET curation_status = 'Archived'")
    in_flight = RowInFlight(case, database, settings, admin, tenant)
    await in_flight.run(lambda row_id: asyncio.sleep(0), case.found)
    assert await admin.fetchval("SELECT array_agg(page_processing_status) FROM page") == ["New"]


async def test_a_row_completed_before_and_withdrawn_in_flight_is_completed_again(database, settings, admin, tenant):
    [case] = [case for case in CASES if case.name == "page_curation"]
    [row] = await case.add(admin, tenant)
    await admin.execute("UPDATE page SET fetched_at = now()")
    in_flight = RowInFlight(case, database, settings, admin, tenant)
    await in_flight.run(lambda row_id: in_flight.decide(row_id, Curation.MAYBE), fails)
    assert await in_flight.state(row) == ("Completed", None, None)
