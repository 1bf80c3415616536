"""Businesses whose web site no map knows, and hosts of others that look like the site of a business without one."""

from dataclasses import dataclass
from enum import StrEnum

from scrapersky.sandbox.world.slugs import slug
from scrapersky.sandbox.world.stratified_draw import build_pool, draw


class Unlisted(StrEnum):
    """How the site of a business can be found although its map has none."""

    NAMED = "named"  # its domain is its name
    CHAIN = "chain"  # a site with its name lists it among its branches
    EMAIL = "email"  # the map has an email address at its domain
    RECORD = "record"  # another map has the site
    HIDDEN = "hidden"  # only a web search finds it


class Lure(StrEnum):
    """What stands at the domain that a business without a site would have."""

    NOTHING = "nothing"
    NAMESAKE = "namesake"  # a business of the same name in another town
    PARKED = "parked"  # the domain is for sale
    DIRECTORY = "directory"  # a list of businesses with their numbers, this one too
    COMPETITOR = "competitor"  # another business of the town, which quotes the name


KINDS = build_pool({Unlisted.NAMED: 4, Unlisted.CHAIN: 1, Unlisted.EMAIL: 2, Unlisted.RECORD: 1, Unlisted.HIDDEN: 2})
LURES = build_pool({Lure.NOTHING: 1, Lure.NAMESAKE: 2, Lure.PARKED: 1, Lure.DIRECTORY: 2, Lure.COMPETITOR: 2})
DIRECTORY_HOST = "all-companies-9z.com"  # lists all businesses, with a page for each; web searches return it first


@dataclass(frozen=True, slots=True)
class LureSite:
    """A site that is not that of the business whose name it has."""

    kind: Lure
    business: int  # the number of the business without a site


def kind_of(seed: int, number: int) -> Unlisted:
    """Return how the site of this business can be found."""
    return draw(seed, "unlisted", KINDS, number // 7)


def lure_of(seed: int, number: int) -> Lure:
    """Return what stands where the site of this business would be."""
    return draw(seed, "lures", LURES, number // 7)


def named_hosts(name: str, ending: str) -> list[str]:
    """Return the domains with the name of a business, in the order in which owners take them."""
    hyphened = slug(name)
    joined = hyphened.replace("-", "")
    return [f"{joined}.{ending}", f"{hyphened}.{ending}", f"{joined}.com"]
