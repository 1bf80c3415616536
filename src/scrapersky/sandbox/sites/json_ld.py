"""The structured data of a page: the business in schema.org's words."""

import json

from scrapersky.sandbox.sites.plan import SitePageKind, SitePlan
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.phone_numbers import international

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


def linked_data(site: SitePlan, kind: SitePageKind) -> str:
    """Build the JSON-LD of home and contact pages, and of contacts that are on no page."""
    if kind not in (SitePageKind.HOME, SitePageKind.CONTACT):
        return ""
    things = [
        _thing(site, business, kind) for business in site.businesses if site.has_linked_data or _only_here(site, kind)
    ]
    return "".join(
        f'<script type="application/ld+json">{json.dumps(thing, ensure_ascii=False)}</script>' for thing in things
    )


def _only_here(site: SitePlan, kind: SitePageKind) -> bool:
    return kind is SitePageKind.CONTACT and "structured" in (site.email_form, site.phone_form, site.second_form)


def _thing(site: SitePlan, business: Business, kind: SitePageKind) -> dict[str, object]:
    hours = business.hours
    thing: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": business.trade.schema,
        "name": business.name,
        "url": site.origin + "/",
        "image": f"{site.origin}/images/front.jpg",
        "address": {
            "@type": "PostalAddress",
            "streetAddress": business.street,
            "postalCode": business.postcode,
            "addressLocality": business.city.name,
            "addressCountry": business.country.code,
        },
        "geo": {"@type": "GeoCoordinates", "latitude": business.latitude, "longitude": business.longitude},
        "openingHoursSpecification": [
            {
                "@type": "OpeningHoursSpecification",
                "dayOfWeek": DAYS,
                "opens": f"{hours.opens:02}:00",
                "closes": f"{hours.closes:02}:00",
            }
        ],
        "telephone": international(business.phone),
        "sameAs": list(business.socials),
    }
    if kind is SitePageKind.CONTACT:
        thing["email"] = [address for address in (business.email, business.second_email) if address]
    return thing
