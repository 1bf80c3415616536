"""The world: the same from the same seed, and everything in it valid."""

from collections import Counter

import phonenumbers
import pytest

from scrapersky.core.errors import BadSetting
from scrapersky.extract.company_domain import CompanyDomain, PlatformProfile, parse_website
from scrapersky.extract.pages.classify import classify_page
from scrapersky.sandbox.world import business as generator
from scrapersky.sandbox.world.conditions import SHARES, WHY_UNREACHABLE, Condition
from scrapersky.sandbox.world.languages import languages
from scrapersky.sandbox.world.slugs import slug
from scrapersky.sandbox.world.world import World


def test_the_same_seed_makes_the_same_world():
    assert list(World(3)) == list(World(3))


def test_another_seed_makes_another_world():
    one, other = World(3), World(4)

    assert {business.host for business in one if business.host}.isdisjoint(
        {business.host for business in other if business.host}
    )
    assert {business.phone for business in one} != {business.phone for business in other}


def test_a_larger_world_begins_like_a_smaller_one():
    assert list(World(3, 150)) == list(World(3, 300))[:150]


def test_there_are_many_countries_and_languages():
    world = World(5)

    assert len(world) == 200
    assert len({business.country.code for business in world}) >= 12
    assert len({business.language.code for business in world}) >= 12
    assert len({business.trade.name for business in world}) >= 10


@pytest.mark.parametrize("seed", [1, 99])
def test_every_number_is_valid_of_its_country_and_nobody_elses(seed: int):
    numbers: Counter[str] = Counter()
    for business in World(seed, 2000):
        for number in filter(None, (business.phone, business.mobile, business.fax)):
            parsed = phonenumbers.parse(number)
            assert phonenumbers.is_valid_number(parsed), number
            assert phonenumbers.region_code_for_number(parsed) == business.country.code, number
            numbers[number] += 1

    assert max(numbers.values()) == 1


def test_a_host_leads_back_to_its_business():
    world = World(11, 3000)
    owners = [business for business in world if business.host and business.partner is None]

    assert len({business.host for business in owners}) == len(owners)
    assert all(world.at(business.host) is business for business in owners if business.host)
    assert all(world.at(f"www.{business.host}") is business for business in owners)


def test_a_strange_host_is_nobodys():
    world = World(11)

    assert world.at("example.com") is None
    assert world.at("hammaslaakarit-kuusi-0000.fi") is None
    assert world.at("a-b-ÄÄÄÄ.fi") is None


def test_websites_are_domains_of_their_own_or_profiles():
    for business in World(5):
        if business.website is None:
            assert business.condition in (Condition.NONE, Condition.UNLISTED)
            continue
        address = parse_website(business.website)
        if business.condition is Condition.PROFILE:
            assert isinstance(address, PlatformProfile)
        else:
            assert isinstance(address, CompanyDomain)
            assert address.name == business.host


def test_helsinki_has_dozens_of_dentists():
    dentists = [one for one in World(5) if one.city.name == "Helsinki" and one.trade.name == "dentist"]

    assert len(dentists) >= 24


def test_coordinates_lie_in_their_city():
    assert all(business.city.box.holds(business.latitude, business.longitude) for business in World(5))


def test_every_condition_has_its_share():
    world = World(8, 1000)
    conditions = Counter(business.condition for business in world)

    for condition, share in SHARES.items():
        if condition not in (Condition.SHARED, Condition.HEALTHY):
            assert conditions[condition] == share * 10
    # A business whose neighbour is unwell has nobody to share a site with, and gets one of its own.
    assert 10 <= conditions[Condition.SHARED] <= 20
    assert conditions[Condition.SHARED] + conditions[Condition.HEALTHY] == 690
    assert sum(share for condition, share in SHARES.items() if condition not in WHY_UNREACHABLE) >= 80


def test_two_that_share_a_site_are_of_one_city_and_trade():
    world = World(8, 1000)
    lodgers = [business for business in world if business.partner is not None]

    assert lodgers
    for lodger in lodgers:
        owner = world[lodger.partner or 0]
        assert (lodger.host, lodger.website, lodger.city, lodger.trade) == (
            owner.host,
            owner.website,
            owner.city,
            owner.trade,
        )
        assert world.sharing(owner) is lodger


def test_pages_are_named_so_that_their_kind_can_be_told():
    wanted = ("contact", "about", "team", "imprint", "services", "blog")
    for language in languages().values():
        for kind in wanted:
            guess = classify_page(f"http://shop.fi/{slug(getattr(language, kind))}")
            assert guess.kind.value == kind, (language.code, guess)


def test_a_large_world_generates_only_the_businesses_that_are_requested(monkeypatch):
    generated: list[int] = []
    make = generator.make
    monkeypatch.setattr(generator, "make", lambda *given: generated.append(given[1]) or make(*given))
    world = World(2, 50_000)
    last = world[49_999]

    assert last.number == 49_999
    assert len(generated) <= 2


@pytest.mark.parametrize("size", [0, -1, 10**9])
def test_a_world_of_no_size_says_so(size: int):
    with pytest.raises(BadSetting, match="businesses"):
        World(1, size)
