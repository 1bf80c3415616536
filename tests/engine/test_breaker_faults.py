"""Which failures open a breaker: ours and those of shared services, never those of single sites."""

from datetime import timedelta

import pytest

from scrapersky.core.errors import ConnectionLost
from scrapersky.crawl.errors import NoNetwork, PageNotFound, PermanentFetchError, RetryLater, TooSoon
from scrapersky.crawl.network.mx_lookup import DnsUnavailable, NoNameServer
from scrapersky.destinations.errors import ContactRefused, TryLater
from scrapersky.engine import admission
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.outcomes import GiveUp, SiteTimedOut, TimedOut, outcome_of
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.queue import Queue
from scrapersky.engine.tuning import Tuning
from scrapersky.extract.parser_pool.pool import ParserCannotStart, PoisonPage
from scrapersky.providers.base import PlaceNotFound, ProviderFailed, ProviderRefused
from scrapersky.sandbox.example_workflows import Packing, Shipping, Weighing
from tests.conftest import processors_of

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, $2, 'Queued' FROM generate_series(1, $3)"


class OtherPeoplesSites(Packing):
    """A parcel is a site: a dead one fails by itself, a broken one by us."""

    async def work(self, label: str) -> None:
        if label == "dead":
            raise RetryLater("a.fi answers 503.", status=503)
        if label == "broken":
            raise ProviderFailed("The provider answers 500.")


async def run(database, settings, **changes) -> None:
    line = Pipeline([OtherPeoplesSites(), Weighing(), Shipping()])
    rules = {"breaker_min_rows": 10, "breaker_error_rate": 0.5, "batch_size": 10, "max_batch_size": 10, **changes}
    await run_job_loop(processors_of(line, database, settings, **rules)["packing"])


async def control(admin):
    return await admin.fetchrow("SELECT * FROM workflow_control WHERE workflow = 'packing'")


async def test_dead_sites_of_one_tenant_do_not_stop_the_sites_of_another(
    database, settings, admin, tenant, other_tenant
):
    await admin.execute(ADD, tenant, "dead", 60)
    await admin.execute(ADD, other_tenant, "good", 200)
    await run(database, settings)
    done = "SELECT count(*) FROM parcel WHERE label = 'good' AND packing_status = 'Completed'"
    assert await admin.fetchval(done) == 200
    now = await control(admin)
    assert (now["breaker"], now["window_failures"]) == ("closed", 0)


async def test_a_shared_provider_opens_it_and_the_reason_names_the_error(database, settings, admin, tenant):
    await admin.execute(ADD, tenant, "broken", 30)
    await run(database, settings)
    now = await control(admin)
    assert (now["breaker"], now["breaker_reason"]) == ("open", "100% of the rows failed with ProviderFailed")
    assert now["breaker_until"] is not None


async def test_the_probe_is_a_row_that_has_not_failed_before(database, settings, admin, tenant):
    await admin.execute(ADD, tenant, "broken", 60)
    await admin.execute("UPDATE parcel SET packing_attempts = 1")
    await admin.execute(ADD, tenant, "good", 1)
    await admin.execute(
        "INSERT INTO workflow_control (workflow, breaker, breaker_until) VALUES ('packing', 'open', now())"
    )
    await run(database, settings)
    assert await admin.fetchval("SELECT packing_status FROM parcel WHERE label = 'good'") == "Completed"


async def test_a_probe_that_fails_by_its_own_site_does_not_keep_the_others_waiting(database, settings, admin, tenant):
    await admin.execute(ADD, tenant, "dead", 5)
    await admin.execute(ADD, tenant, "good", 40)
    await admin.execute(
        "INSERT INTO workflow_control (workflow, breaker, breaker_until) VALUES ('packing', 'open', now())"
    )
    await run(database, settings)
    assert (await control(admin))["breaker"] == "closed"
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Completed'") == 40


async def test_a_probe_is_found_behind_many_failed_rows(admin, tenant):
    await admin.execute(ADD, tenant, "failed", 100)
    await admin.execute("UPDATE parcel SET packing_attempts = 2")
    await admin.execute(ADD, tenant, "fresh", 1)
    [row] = await Queue(Packing()).claim(admin, 1, 60, is_probe=True)
    assert row["label"] == "fresh"
    [row] = await Queue(Packing()).claim(admin, 1, 60, is_probe=True)
    assert row["label"] == "failed"


async def test_resuming_closes_it(database, settings, admin, tenant):
    await admin.execute(ADD, tenant, "broken", 30)
    await run(database, settings)
    assert await admission.resume(admin, "packing")
    assert (await control(admin))["breaker"] == "closed"


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (RetryLater("a.fi answers 503."), False),
        (PermanentFetchError("a.fi answers 403."), False),
        (SiteTimedOut("55 seconds"), False),
        (PoisonPage("the page"), False),
        (DnsUnavailable("of a.fi"), False),
        (PlaceNotFound("gone"), False),
        (TryLater("the webhook answers 500"), False),
        (ContactRefused("no"), False),
        (GiveUp("of this row"), False),
        (NoNetwork("the proxy"), True),
        (NoNameServer("none"), True),
        (TimedOut("900 seconds"), True),
        (ProviderFailed("500"), True),
        (ProviderRefused("wrong key"), True),
        (ParserCannotStart("no memory"), True),
        (KeyError("a bug"), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_failure_is_the_rows_own_or_counts(error, counts):
    assert outcome_of(error, 1, Tuning()).opens_breaker is counts


@pytest.mark.parametrize("error", [PageNotFound("404"), TooSoon("visited", after=timedelta(1)), ConnectionLost("…")])
def test_what_is_no_failure_never_counts(error):
    assert not outcome_of(error, 1, Tuning()).opens_breaker
