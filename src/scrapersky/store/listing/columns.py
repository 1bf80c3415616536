"""The columns of the resources in words, each declared once with an example: fields of responses and columns of files
derive from this table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.store.steps import DELIVERY, STEPS

ROW_ID = str(UUID(int=0x7000_8000_0000_0000_0001))  # an invented one of version 7
_TEAM = "https://www.kallio-dental.example/tiimi"
BROWSER_COST = {"visits": 1, "seconds": 2.1, "requests": 4, "bytes": 48210, "result": "a browser has read it"}
MOMENT = "2026-11-15T12:00:00Z"


@dataclass(frozen=True)
class ColumnMeaning:
    """What a column holds, with an example."""

    text: str
    example: Any


_any = ColumnMeaning


def _id(text: str) -> ColumnMeaning:
    return ColumnMeaning(text, ROW_ID)


def _at(text: str) -> ColumnMeaning:
    return ColumnMeaning(text, MOMENT)


# Columns that mean the same in every table that has them.
COMMON: Mapping[str, ColumnMeaning] = {
    "id": _id("the id of the row, a UUID; ids grow with the time of creation"),
    "created_at": _at("when the row was stored"),
    "changed_at": _at("when one of the fields of `field_changes` last changed"),
    "field_changes": _any("when each field last changed; no former value", {"phone": MOMENT}),
    "updated_at": _at("the last change of the row, by a person or by a step"),
    "curation_status": _any("what a person has decided about the row", "New"),
    "priority": _any("0 is normal, higher is sooner", 0),
    "search_id": _id("the search that works on the row now; other searches may have found it, too"),
    "place_id": _id("the place whose details these are; empty: imported from a file"),
    "domain_id": _id("the domain that the row belongs to"),
    "domain": _any("the name of the domain that the row belongs to", "kallio-dental.example"),
    "business": _any("the name of the business that the row belongs to", "Kallio Dental"),
    "name": _any("the name of the business", "Kallio Dental"),
    "address": _any("the postal address in one line", "Fleminginkatu 7, 00530 Helsinki"),
    "phone": _any("the phone number in E.164", "+358401234567"),
    "website": _any("the URL of the website, as the provider names it", "https://kallio-dental.example/"),
    "categories": _any("the kinds of business, in the words of the provider", ["amenity=dentist"]),
    "rating": _any("the rating at the provider", 4.6),
    "rating_count": _any("how many ratings it is the mean of", 87),
    "business_status": _any("whether the business operates, as the provider says", "OPERATIONAL"),
    "latitude": _any("degrees north", 60.1861),
    "longitude": _any("degrees east", 24.9539),
    "details": _any("what else the provider returned, in its own words", {"wheelchair": "yes"}),
    "country": _any("the country, an ISO 3166 code of two letters", "FI"),
    "profiles": _any("links to social networks, by network", {"instagram": "https://www.instagram.com/kalliodental"}),
    "http_status": _any("the status code of its last response", 200),
    "last_modified": _at("the last change, as the sitemap or the server gives it"),
    "etag": _any("the ETag of its last response, for asking again", '"5f3c-61a"'),
    "kind": _any("the kind of the row", "contact"),
    "reason": _any("the reason, as a person wrote it", "asked us"),
    "created_by": _id("the user who added it; empty for an import by command or an unsubscription at a destination"),
}
OF_TABLE: Mapping[str, Mapping[str, ColumnMeaning]] = {
    "place": {
        "provider": _any("where the place comes from: osm, google, overture, a file or an import", "osm"),
        "provider_id": _any("the id of the place at the provider", "node/2398471"),
        "licence": _any("the licence of the data", "ODbL 1.0"),
        "fetched_at": _at("when the provider returned the details"),
        "expires_at": _at("when the terms of the provider require to delete them; empty: never"),
    },
    "local_business": {
        "website_how": _any("how its website was found; empty: the provider or the file gave it", "name"),
        "website_confidence": _any("how certain it is that the found website is its own, 0 to 1", 0.9),
        "website_proof": _any(
            "what proves that the found website is its own", "its number and its name are on the page"
        ),
        "rejected_websites": _any("sites that a person has rejected, and their domains", ["kallio.example"]),
        "same_as_id": _id("the record of the same business that is shown in lists; empty: this one"),
        "same_reason": _any("why it is the same business", "almost the same name, 12 m apart"),
        "same_confidence": _any("how sure it is that it is the same business, 0 to 1", 0.99),
        "same_by": _any("what decided that it is the same business: rule or person", "rule"),
        "separate_from": _any("records that a person has split from it", [ROW_ID]),
        "compared_at": _at("when it was compared with other records; empty: not since its facts changed"),
        "chain": _any("the brand or the site that it shares with branches elsewhere; empty: none", "kallio"),
        "expired_at": _any("when the data of its provider expired under the provider's terms", "2026-11-15T12:00:00Z"),
        "street": _any("street and number", "Fleminginkatu 7"),
        "city": _any("the city", "Helsinki"),
        "region": _any("state, county or province", "Uusimaa"),
        "postcode": _any("the postal code", "00530"),
        "timezone": _any("the time zone of its opening hours", "Europe/Helsinki"),
        "price_level": _any("how expensive it is, 0 to 4, as the provider says", 2),
        "hours": _any("the opening hours, as the provider gives them", {"text": "Mo-Fr 08:00-16:00"}),
    },
    "domain": {
        "name": _any("the registrable domain in ASCII", "kallio-dental.example"),
        "unicode_name": _any("the domain as people read it, if that is different", "hammaslääkäri.example"),
        "title": _any("the title of the home page", "Kallio Dental – hammaslääkäri"),
        "language": _any("the language of the home page", "fi"),
        "generator": _any("the content management system or site builder", "WordPress"),
        "http_status": _any("the status code of the home page", 200),
        "hidden_reason": _any("why its home page shows nothing to a plain reader; empty: it has content", "javascript"),
        "browser": _any("what a browser took for its home page; empty: none has read it", BROWSER_COST),
        "sitemap_result": _any("what the sitemap analysis ended with", "found"),
        "sitemap_reason": _any("why it ended so", "robots.txt names 1 sitemap"),
        "start_url": _any("where to begin, if a person or a file gave a URL", "https://www.kallio-dental.example/fi"),
        "final_url": _any("the home page after redirects", "https://www.kallio-dental.example/"),
        "description": _any("the description of the home page for search engines", "Dental care in Kallio."),
        "favicon": _any("the URL of its icon", "https://www.kallio-dental.example/favicon.ico"),
        "logo": _any("the URL of its logo", "https://www.kallio-dental.example/logo.svg"),
        "technologies": _any("the technologies that the site uses", ["WordPress", "Google Analytics"]),
        "facts": _any("structured data of the home page", {"legal_name": "Kallio Dental Oy"}),
    },
    "sitemap_file": {
        "url": _any("the URL of the sitemap", "https://www.kallio-dental.example/sitemap.xml"),
        "kind": _any("urlset, index, text, rss, atom or links (a home page that replaces a sitemap)", "urlset"),
        "discovered_by": _any("how it was found: robots.txt, a link, a well-known path, a person", "robots.txt"),
        "url_count": _any("how many URLs it lists", 42),
        "size_bytes": _any("its size, uncompressed", 5_120),
        "parent_id": _id("the sitemap index that lists it"),
        "partial_reason": _any("why not all of it was read", "more than 50,000 URLs"),
    },
    "page": {
        "sitemap_file_id": _id("the sitemap that lists the page; empty: found by a link or imported"),
        "url": _any("the URL of the page", "https://www.kallio-dental.example/yhteystiedot"),
        "kind": _any("the purpose of the page, as its URL suggests", "contact"),
        "kind_score": _any("how certain the kind is, 0 to 1", 0.9),
        "has_contact_form": _any("whether visitors can write to the business by a form on it", True),
        "hidden_reason": _any("why it shows nothing to a plain reader; empty for a page with content", "javascript"),
        "browser": _any("what a browser took for it; empty: none has read it", BROWSER_COST),
        "kind_reason": _any("the rule that decided the kind", "path: yhteystiedot"),
        "title": _any("the title of the page", "Yhteystiedot"),
        "contact_count": _any("how many contacts were found when the page was last read; empty: not read", 3),
        "depth": _any("the number of segments of its path", 1),
        "fetched_at": _at("when the page was last read"),
    },
    "contact": {
        **{each.name: _any(each.meaning, each.example) for each in CONTACT_FIELDS if each.example},
        "domain_id": _id("the domain of the contact; empty: imported without one"),
        "page_id": _id("the page on which it was found; empty: imported, or written by a person"),
        "business_id": _id("the business it belongs to, where the domain has several or none"),
        "merged_into_id": _id("the contact that this one was merged into"),
        "identity": _any("the key by which a later run recognizes the contact", "email:info@kallio-dental.example"),
        "source_url": _any("the page or the file", "https://www.kallio-dental.example/yhteystiedot"),
        "snippet": _any("the text around it, as evidence", "Ajanvaraus: info@kallio-dental.example"),
        "found_by": _any("how it was found: a link, text, structured data, a file, a person", "mailto"),
        "confidence": _any("how certain it is that the contact belongs to the business, 0 to 1", 0.95),
        "verdict": _any("whether an email would be delivered; empty before the verification", "deliverable"),
        "verification": _any("the reasons of the verdict, mail hosts and labels", {"reasons": ["the domain has MX"]}),
        "sources": _any("the page of each value that is not from the page of the contact", {"title": {"url": _TEAM}}),
        "suppressed_at": _at("since when the contact must not be written to"),
        "edited_at": _at("when a person last changed it; from then on pages fill only empty fields"),
        "seen_at": _at("when a page, a file or a person last gave it"),
    },
    "suppression": {
        "kind": _any("email, domain, phone, or person after an erasure by name", "email"),
        "value": _any(
            "what must not be contacted; empty after an erasure: only the hash is kept", "anna@molar.example"
        ),
        "value_hash": _any("SHA-256 of the value in lower case", "9f86d081884c7d659a2feaa0c55ad015"),
        "origin": _any("what caused it: person, import, erasure or destination", "person"),
    },
}
# Columns of a queue, after the prefix of the queue.
OF_QUEUE = {
    "status": _any("the status in the queue of {queue}", "Completed"),
    "error": _any("why {queue} waits, was skipped or failed", "HTTP 503; retried in 2 minutes"),
    "attempts": _any("how often {queue} was ever attempted", 1),
    "due_at": _at("Queued: when {queue} may begin. Processing: when the lease ends"),
    "flow": _id("what {queue} takes turns by: its search or destination; all zeros: none"),
    "waits_for": _any("what a postponed {queue} waits for: tenant or money", "money"),
}


def meaning_of(table: str, column: str) -> ColumnMeaning | None:
    """Return what a column of a table means; None if that is declared nowhere."""
    found = OF_TABLE.get(table, {}).get(column) or COMMON.get(column)
    if found is not None:
        return found
    for step in (*STEPS, DELIVERY):
        part = OF_QUEUE.get(column.removeprefix(f"{step.queue}_")) if column.startswith(f"{step.queue}_") else None
        if part is not None:
            return ColumnMeaning(part.text.format(queue=step.workflow), part.example)
    return None
