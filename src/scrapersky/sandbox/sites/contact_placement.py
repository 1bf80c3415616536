"""Which contact is on which page: the source of both the pages and the truth."""

from collections.abc import Iterator
from typing import NamedTuple

from scrapersky.sandbox.sites.plan import SitePage, SitePageKind, SitePlan
from scrapersky.sandbox.world.business import Business


class ContactPlacement(NamedTuple):
    """A value of a field, and a page on which it is written."""

    field: str  # email, phone, fax, social, person
    value: str
    page: SitePage
    business: int  # whose it is


def place_contacts(site: SitePlan) -> Iterator[ContactPlacement]:
    """Return every contact of the site with every page it is on."""
    for page in site.pages:
        for business in site.businesses:
            for url in business.socials:  # the footer is on every page
                yield ContactPlacement("social", url, page, business.number)
            if site.header_phone and business is site.owner:
                yield ContactPlacement("phone", business.phone, page, business.number)
            yield from _on_page(site, business, page)


def _on_page(site: SitePlan, business: Business, page: SitePage) -> Iterator[ContactPlacement]:
    if page.kind is SitePageKind.HOME:
        if site.has_linked_data:
            yield ContactPlacement("phone", business.phone, page, business.number)
        if site.email_on_home and business is site.owner:
            yield ContactPlacement("email", business.email, page, business.number)
    elif page.kind is SitePageKind.CONTACT:
        yield from _on_contact(business, page)
    elif page.kind is SitePageKind.TEAM:
        for person in business.people:
            yield ContactPlacement("person", person.name, page, business.number)
            if person.email:
                yield ContactPlacement("email", person.email, page, business.number)
    elif page.kind is SitePageKind.IMPRINT:
        yield ContactPlacement("email", business.email, page, business.number)
        yield ContactPlacement("phone", business.phone, page, business.number)
        yield ContactPlacement("person", business.people[0].name, page, business.number)


def _on_contact(business: Business, page: SitePage) -> Iterator[ContactPlacement]:
    yield ContactPlacement("email", business.email, page, business.number)
    yield ContactPlacement("phone", business.phone, page, business.number)
    if business.second_email:
        yield ContactPlacement("email", business.second_email, page, business.number)
    if business.mobile:
        yield ContactPlacement("phone", business.mobile, page, business.number)
    if business.fax:
        yield ContactPlacement("fax", business.fax, page, business.number)
