"""Requests to the API of a provider: what was never sent costs no attempt and opens no breaker."""

import pytest

from scrapersky.core.settings import Settings
from scrapersky.crawl.web import Web
from scrapersky.engine.outcomes import OutcomeKind, outcome_of
from scrapersky.engine.tuning import Tuning
from scrapersky.providers.base import ProviderNotReached
from scrapersky.providers.http_api import Api


async def test_while_no_proxy_works_a_call_waits_without_counting():
    web = Web(Settings.model_validate({"CRAWL_PROXY_URL": "http://127.0.0.1:9"}))
    api = Api(web.client, "http://maps.example", service="Maps", setting="PROVIDER_MAPS_URL")
    with pytest.raises(ProviderNotReached, match="Maps does not answer: The proxy") as caught:  # it is refunded
        await api.send("GET", "/search")
    await web.close()
    outcome = outcome_of(caught.value, 99, Tuning())
    assert (outcome.kind, outcome.counts, outcome.opens_breaker) == (OutcomeKind.POSTPONED, False, False)
    assert (outcome.wait_seconds or 0) > 0
