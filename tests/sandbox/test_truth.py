"""The truth: it stands where it says, the extractor finds it, and comparing counts rightly."""

import json

import pytest

from scrapersky.extract.contacts import read_contacts
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.sites.plan import SitePageKind
from scrapersky.sandbox.truth import Score, compare
from scrapersky.sandbox.world.conditions import Condition
from tests.sandbox.conftest import crawling

UNSEEN_SEED = 20_271  # looked at by nobody while the sites were written
READ = (SitePageKind.HOME, SitePageKind.CONTACT, SitePageKind.TEAM, SitePageKind.IMPRINT)


def test_the_truth_is_json_and_complete(sandbox: Sandbox):
    truth = json.loads(json.dumps(sandbox.truth()))

    assert len(truth) == 200
    for entry in truth:
        assert entry["reachable"] is (entry["why"] is None)
        if entry["reachable"]:
            assert entry["emails"]
            assert entry["phones"]
            assert entry["people"]
            assert all(url.startswith(("http://", "https://")) for one in entry["emails"] for url in one["pages"])
        else:
            assert not entry["emails"]


def test_every_unreachable_site_says_why(sandbox: Sandbox):
    reasons = {entry["condition"]: entry["why"] for entry in sandbox.truth() if not entry["reachable"]}

    assert set(reasons) == {
        *("broken", "truncated", "blocked", "busy", "robots", "parked", "login", "dead", "profile", "none"),
        *("expired", "misnamed", "javascript", "bot_check", "consent", "unfinished"),
    }
    assert all(reasons.values())


async def test_the_extractor_finds_the_truth_of_an_unseen_world():
    found: list[tuple[str, str, str]] = []
    async with Sandbox(UNSEEN_SEED) as sandbox, crawling(sandbox) as crawler:
        truth = [entry for entry in sandbox.truth() if entry["condition"] not in ("slow",)]
        hosts = dict.fromkeys(entry["host"] for entry in truth if entry["reachable"])
        for host in hosts:
            site = sandbox.sites.site(host)
            assert site is not None
            for kind in READ:
                page = await crawler.client.fetch(site.url(site.page(kind)))
                contacts = read_contacts(page.text, url=page.final_url, region=site.owner.country.code)
                found += [(host, "email", email.address) for email in contacts.emails]
                found += [(host, "phone", phone.number) for phone in contacts.phones if phone.kind != "fax"]
                found += [(host, "social", social.url) for social in contacts.socials]
                found += [(host, "person", person.name) for person in contacts.people]
                found += [(host, "title", f"{one.name}: {one.title}") for one in contacts.people if one.title]

    for field, score in compare(found, truth).items():
        assert score.true > 200, field
        assert score.recall >= 0.95, (field, score)
        assert score.precision >= 0.97, (field, score)


async def test_what_stands_on_a_page_can_be_read_there(sandbox: Sandbox):
    """Plain values only: hidden ones are the extractor's business."""
    async with crawling(sandbox) as crawler:
        for entry in sandbox.truth()[:40]:
            if not entry["reachable"] or entry["condition"] == Condition.SLOW:
                continue
            for person in entry["people"]:
                for url in person["pages"]:
                    page = await crawler.client.fetch(url)
                    assert person["value"] in page.text


def test_comparing_counts_right_wrong_and_missing(sandbox: Sandbox):
    truth = sandbox.truth()
    entry = next(one for one in truth if one["reachable"] and one["faxes"])
    host, email = entry["host"], entry["emails"][0]["value"]
    found = [
        (f"WWW.{host}", "email", email.upper()),
        (host, "email", email),
        (host, "email", "nobody@example.org"),
        (host, "phone", entry["faxes"][0]["value"]),
        ("elsewhere.fi", "phone", "+358912345678"),
        next((one["host"], "phone", one["phone"]) for one in truth if one["host"] and not one["reachable"]),
    ]

    scores = compare(found, truth)

    assert (scores["email"].found, scores["email"].right) == (2, 1)
    assert (scores["phone"].found, scores["phone"].right) == (1, 0)
    assert scores["email"].precision == 0.5
    assert scores["email"].recall == pytest.approx(1 / scores["email"].true)


def test_the_whole_truth_scores_full(sandbox: Sandbox):
    truth = sandbox.truth()
    fields = {"emails": "email", "phones": "phone", "socials": "social", "people": "person"}
    found = [
        (entry["host"], field, one["value"]) for entry in truth for name, field in fields.items() for one in entry[name]
    ]
    found += [(entry["host"], "title", f"{one['value']}: {one['title']}") for entry in truth for one in entry["people"]]

    assert all(score.recall == score.precision == 1 for score in compare(found, truth).values())


def test_a_title_is_right_only_of_the_person_who_has_it(sandbox: Sandbox):
    truth = sandbox.truth()
    entry = next(one for one in truth if one["reachable"] and len({person["title"] for person in one["people"]}) > 1)
    first, second = entry["people"][:2]
    found = [
        (entry["host"], "title", f"{first['value'].upper()}: {first['title'].upper()}"),
        (entry["host"], "title", f"{second['value']}: {first['title']}"),
        (entry["host"], "title", f"Nobody Atall: {first['title']}"),
    ]

    score = compare(found, truth)["title"]

    assert (score.found, score.right) == (3, 1)
    assert score.true == compare([], truth)["person"].true


def test_nothing_true_and_nothing_found_is_no_fault():
    assert (Score(0, 0, 0).recall, Score(0, 0, 0).precision) == (1.0, 1.0)
