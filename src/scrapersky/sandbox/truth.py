"""The truth about a generated world, and the score of what was found."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrapersky.sandbox.server.dns_zone import verdict_of
from scrapersky.sandbox.sites.contact_placement import place_contacts
from scrapersky.sandbox.sites.lure_pages import branch_phones
from scrapersky.sandbox.sites.plan import SitePlan
from scrapersky.sandbox.sites.responder import SiteResponder
from scrapersky.sandbox.sites.sitemaps import sitemap_truth
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.conditions import WHY_UNREACHABLE
from scrapersky.sandbox.world.slugs import plain
from scrapersky.sandbox.world.unlisted import Unlisted

FIELDS = {"email": "emails", "phone": "phones", "fax": "faxes", "social": "socials", "person": "people"}
COMPARED = ("email", "phone", "social", "person", "title")


def truth(sites: SiteResponder) -> list[dict[str, Any]]:
    """Return one entry per business: its site, why it cannot be read if so, and every contact with its pages."""
    return [truth_of(sites, business) for business in sites.world]


def truth_of(sites: SiteResponder, business: Business) -> dict[str, Any]:
    """Return the entry of one business."""
    why = WHY_UNREACHABLE.get(business.condition)
    site = sites.site(business.host) if business.host else None
    entry: dict[str, Any] = {
        "number": business.number,
        "name": business.name,
        "trade": business.trade.name,
        "city": business.city.name,
        "country": business.country.code,
        "website": business.website,
        "phone": business.phone,  # as providers give it
        "host": business.host,
        "condition": business.condition.value,
        "closed": business.closed,
        "unlisted": business.unlisted,  # how its site can be found, if its map does not know it
        "branch_phones": branch_phones(business) if business.unlisted is Unlisted.CHAIN else [],
        "reachable": why is None,
        "why": why,
        "style": site.style.value if site else None,
        "sitemap": _sitemap(site) if site and why is None else None,
    }
    contacts = _contacts(site if why is None else None, business)
    for email in contacts["emails"]:
        email["verdict"] = verdict_of(sites.world, email["value"]).value
    return entry | contacts


def _sitemap(site: SitePlan) -> dict[str, Any]:
    files, urls = sitemap_truth(site)
    return {"style": site.sitemap.value, "files": list(files), "urls": list(urls)}


def _contacts(site: SitePlan | None, business: Business) -> dict[str, list[dict[str, Any]]]:
    """Return the contacts of this business, each with the URLs of its pages."""
    pages: dict[tuple[str, str], list[str]] = defaultdict(list)
    if site is not None:
        for stand in place_contacts(site):
            if stand.business == business.number:
                pages[stand.field, stand.value].append(site.url(stand.page))
    titles = {person.name: person.title for person in business.people}
    contacts: dict[str, list[dict[str, Any]]] = {name: [] for name in FIELDS.values()}
    for (field, value), urls in pages.items():
        title = {"title": titles[value]} if field == "person" else {}
        contacts[FIELDS[field]].append({"value": value, **title, "pages": list(dict.fromkeys(urls))})
    return contacts


@dataclass(frozen=True, slots=True)
class Score:
    """How much of one field was found, and how much of what was found is true."""

    true: int
    found: int
    right: int

    @property
    def recall(self) -> float:
        """The share of the truth that was found."""
        return self.right / self.true if self.true else 1.0

    @property
    def precision(self) -> float:
        """The share of the found that is true."""
        return self.right / self.found if self.found else 1.0


def compare(found: Iterable[tuple[str, str, str]], truth: Sequence[Mapping[str, Any]]) -> dict[str, Score]:
    """Score found triples of host, field (email, phone, social, person, title) and value per field.

    A value of a host that cannot be read, or that is in no world, is wrong. A fax number, and the number that providers
    give for a business, are neither right nor wrong where its pages do not have them.
    The value of a title is `name: title`: what somebody does is right only of the one who does it.
    """
    true, neutral = _by_host(truth)
    said: dict[str, set[tuple[str, str]]] = {field: set() for field in COMPARED}
    for host, field, value in found:
        key = (host.lower().removeprefix("www."), normal(field, value))
        if field in said and key not in neutral[field]:
            said[field].add(key)
    return {field: Score(len(true[field]), len(said[field]), len(true[field] & said[field])) for field in COMPARED}


def normal(field: str, value: str) -> str:
    """Normalise values that mean the same: profiles with and without www, names in any order and spelling."""
    if field == "person":
        return " ".join(sorted(plain(value).replace("-", " ").split()))
    if field == "title":
        name, _, title = value.partition(": ")
        return f"{normal('person', name)}: {' '.join(title.casefold().split())}"
    lowered = value.lower()
    return lowered.rstrip("/").removeprefix("https://").removeprefix("www.") if field == "social" else lowered


Pairs = dict[str, set[tuple[str, str]]]


def _by_host(truth: Sequence[Mapping[str, Any]]) -> tuple[Pairs, Pairs]:
    """Return the values of each host, and its values that need not be found."""
    true: Pairs = {field: set() for field in COMPARED}
    neutral: Pairs = {field: set() for field in COMPARED}
    for entry in truth:
        for field in COMPARED:
            true[field] |= {(entry["host"], normal(field, value)) for value in _values(entry, field)}
        phones = {entry["phone"], *(one["value"] for one in entry["faxes"]), *entry["branch_phones"]}
        neutral["phone"] |= {(entry["host"], phone) for phone in phones}
    neutral["phone"] -= true["phone"]
    return true, neutral


def _values(entry: Mapping[str, Any], field: str) -> list[str]:
    if field == "title":
        return [f"{one['value']}: {one['title']}" for one in entry["people"]]
    return [one["value"] for one in entry[FIELDS[field]]]


@dataclass(frozen=True, slots=True)
class SiteScore:
    """How many of the missing web sites were found, and how many that were found are those of others."""

    missing: int  # businesses whose map has no site
    findable: int  # of these, with a site that is in the world
    found: int  # the right ones
    wrong: int


def compare_sites(found: Mapping[int, str | None], truth: Sequence[Mapping[str, Any]]) -> SiteScore:
    """Score the found host, or None, of each business that was looked for, by the number of the business."""
    missing = [entry for entry in truth if entry["number"] in found and entry["website"] is None]
    findable = [entry for entry in missing if entry["host"]]
    given = {entry["number"]: (found[entry["number"]] or "").removeprefix("www.") for entry in missing}
    right = sum(given[entry["number"]] == entry["host"] for entry in findable)
    return SiteScore(len(missing), len(findable), right, sum(map(bool, given.values())) - right)


def compare_verdicts(found: Mapping[str, str | None], truth: Sequence[Mapping[str, Any]]) -> Score:
    """Count the true addresses that were found, have a verdict, and have the true one."""
    true = {one["value"].lower(): one["verdict"] for entry in truth for one in entry["emails"]}
    given = {email.lower(): verdict for email, verdict in found.items() if email.lower() in true}
    told = {email: verdict for email, verdict in given.items() if verdict is not None}
    return Score(len(given), len(told), sum(true[email] == verdict for email, verdict in told.items()))
