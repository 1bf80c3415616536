"""The resources that can be imported, each declared once: its columns, its parser, and the columns of the table that an
import may write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scrapersky.actions.imports import row_parsers
from scrapersky.actions.imports.row_parsers import ParsedRow, RowValues
from scrapersky.core import clock
from scrapersky.core.contact_fields import CONTACT_FIELDS, IDENTITY_PREFIXES
from scrapersky.core.contact_fields import ImportColumn as Column
from scrapersky.core.errors import UnknownName
from scrapersky.extract.company_domain import InvalidWebsite
from scrapersky.providers.file import rows as file_rows
from scrapersky.store.line import places
from scrapersky.store.listing.resources import CONTACTS, DOMAINS, PAGES, PLACES, SITEMAPS, SUPPRESSIONS, Resource


class UnknownImport(UnknownName):
    """This resource cannot be imported."""


@dataclass(frozen=True)
class ImportTarget:
    """A resource that can be imported. An import writes neither the curation of a row nor the state of its queues."""

    resource: Resource
    columns: Mapping[str, Column]
    needed: tuple[str, ...]  # fields of which a file must have at least one
    parser: Callable[[RowValues], ParsedRow]
    key: tuple[str, ...]  # columns that identify a row, besides the tenant
    refreshed: tuple[str, ...] = ()  # columns that a value of the file replaces
    filled: tuple[str, ...] = ()  # columns that a value of the file fills if they are empty
    stamped: Mapping[str, Callable[[], Any]] = field(default_factory=dict)  # columns set by every import
    has_site: bool = False  # its rows belong to a domain, which is created if it does not exist
    has_search: bool = True

    @property
    def step(self) -> str | None:
        """The queue of the next step of its rows."""
        return self.resource.queues[0] if self.resource.queues else None

    @property
    def listed(self) -> str:
        """The field of a list that has one value a line and no names of columns."""
        return "value" if "value" in self.columns else self.needed[0]

    def parse(self, values: RowValues) -> ParsedRow:
        """Parse a row without the wrong values that it does not need; raise ValueError if it cannot be stored."""
        try:
            return self.parser(values)
        except InvalidWebsite as error:
            raise ValueError(f"no web address: {str(error).rstrip('.')}") from None


def target_of(resource: str) -> ImportTarget:
    """Return what can be imported by this name; raise UnknownImport if there is nothing."""
    if resource not in TARGETS:
        raise UnknownImport(f"{resource[:60]!r} is not one of {', '.join(TARGETS)}.")
    return TARGETS[resource]


_WEB = "website, web, site, web site, homepage, www, host"
_OTHER_WEB = (
    "website url, company domain name, company domain, company website, organization - website, website 1 - value"
)
_DOMAIN_OF_URL = Column("the web site it belongs to; that of its URL if empty", f"domain name, {_WEB}")
_COUNTRY = file_rows.COLUMNS["country"]
_PHONE_COUNTRY = Column("country of national telephone numbers, as for places", _COUNTRY.names, _COUNTRY.fallbacks)
_CONTACT_COLUMNS = {each.name: each.imported for each in CONTACT_FIELDS if each.imported is not None}
_PROFILE_COLUMNS = {
    "linkedin": (
        "profile at LinkedIn, of the person rather than of the business",
        "person linkedin url, linkedin url, linkedin profile, person - linkedin profile, linkedin profile url, "
        "company linkedin url, linkedin company page, organization - linkedin profile",
    ),
    "facebook": ("profile at Facebook", "facebook url, facebook company page, company facebook url"),
    "twitter": ("profile at X", "twitter url, twitter handle, company twitter url, x"),
    "instagram": ("profile at Instagram", "instagram url"),
}

DOMAIN_TARGET = ImportTarget(
    DOMAINS,
    {
        "domain": Column(
            "domain or URL of the web site; needed", f"url, name, domain name, {_WEB}", f"{_OTHER_WEB}, start url"
        ),
        "country": _COUNTRY,
    },
    ("domain",),
    row_parsers.parse_domain,
    key=("name",),
    refreshed=("country", "start_url"),
    filled=("unicode_name", "search_id"),
)
TARGETS: Mapping[str, ImportTarget] = {
    "places": ImportTarget(
        PLACES,
        {
            **{name: column for name, column in file_rows.COLUMNS.items() if name != "id"},
            "provider": Column("provider of the place; `import` if empty"),
            "provider_id": Column(
                "its id there; made from name, web site, phone and address if empty",
                "place id",
                "google id, cid, record id, account id, id",
            ),
        },
        ("name",),
        row_parsers.parse_place,
        key=("provider", "provider_id"),
        refreshed=(*places.FACTS, "business_status", "details"),
        filled=("search_id",),
        stamped={"fetched_at": clock.now},
    ),
    "domains": DOMAIN_TARGET,
    "sitemaps": ImportTarget(
        SITEMAPS,
        {
            "url": Column("URL of the sitemap; needed", "sitemap, sitemap url, loc, link"),
            "domain": _DOMAIN_OF_URL,
        },
        ("url",),
        row_parsers.parse_sitemap,
        key=("domain_id", "url"),
        filled=("discovered_by",),
        has_site=True,
    ),
    "pages": ImportTarget(
        PAGES,
        {
            "url": Column("URL of the page; needed", "page, page url, loc, link, address"),
            "domain": _DOMAIN_OF_URL,
            "title": Column("title of the page", "page title"),
        },
        ("url",),
        row_parsers.parse_page,
        key=("domain_id", "url"),
        refreshed=("title",),
        filled=("kind", "kind_score", "kind_reason", "depth"),
        has_site=True,
    ),
    "contacts": ImportTarget(
        CONTACTS,
        {
            **{name: _CONTACT_COLUMNS[name] for name in (*IDENTITY_PREFIXES, *_CONTACT_COLUMNS)},
            **{name: Column(meaning, "", headers) for name, (meaning, headers) in _PROFILE_COLUMNS.items()},
            **{name: file_rows.COLUMNS[name] for name in ("street", "postcode", "city")},
            "domain": Column(
                "the web site; that of the email address if empty", f"domain name, {_WEB}", f"url, {_OTHER_WEB}"
            ),
            "country": _PHONE_COUNTRY,
            "source_url": Column("page it was found on", "source, source page, found on"),
        },
        tuple(IDENTITY_PREFIXES),
        row_parsers.parse_contact,
        key=("domain_id", "identity"),
        filled=(*_CONTACT_COLUMNS, "profiles", "source_url", "found_by", "confidence"),
        stamped={"seen_at": clock.now, "edited_at": clock.now},
        has_site=True,
    ),
    "suppressions": ImportTarget(
        SUPPRESSIONS,
        {
            "email": Column("email address; one of the first four is needed", "e-mail, mail, email address"),
            "phone": Column(
                "telephone number", "telephone, tel, phone number, telefon, puhelin", "mobile, mobile phone"
            ),
            "domain": Column("domain, with all mail hosts under it; ignored if there is an email", "host, domain name"),
            "value": Column("any of the three", "address, entry"),
            "country": _PHONE_COUNTRY,
            "reason": Column("reason", "note, comment"),
        },
        ("email", "phone", "domain", "value"),
        row_parsers.parse_suppression,
        key=("value_hash", "kind"),
        filled=("reason",),
        has_search=False,
    ),
}
