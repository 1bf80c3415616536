"""What the home page of a site says about the site and the business behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from scrapersky.extract import regexes
from scrapersky.extract.business.contact_forms import has_contact_form
from scrapersky.extract.business.icons import favicon_of, logo_of
from scrapersky.extract.business.organisation import Organisation, organisation_of
from scrapersky.extract.business.technologies import Technology, technologies_of
from scrapersky.extract.contacts import extract_contacts
from scrapersky.extract.document import parse as reading
from scrapersky.extract.document import structured_data
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.pages.links import links_of
from scrapersky.extract.pages.select import PageLink
from scrapersky.extract.results import Contacts
from scrapersky.extract.text import single_line

MAX_TITLE = 500
MAX_DESCRIPTION = 1_000
MAX_FRAMES = 50
MAX_LANGUAGES = 50
MAX_FRAME_TAG_LENGTH = 1_500


@dataclass(frozen=True, slots=True)
class SiteMetadata:
    """The facts about a site, every text clean and bounded, every address absolute; empty where the page is silent."""

    title: str = ""
    description: str = ""
    site_name: str = ""
    language: str = ""  # two or three letters
    locale: str = ""  # with the country, as in de-AT, where the page gives it
    languages: tuple[str, ...] = ()  # of the versions that the page links to
    canonical: str = ""
    favicon: str = ""  # as stated; browsers try /favicon.ico where none is
    logo: str = ""
    image: str = ""  # og:image
    generator: str = ""
    cms: str = ""
    cms_version: str = ""
    technologies: tuple[Technology, ...] = ()
    organisation: Organisation | None = None
    has_contact_form: bool = False
    contacts: Contacts = field(default_factory=Contacts)
    links: tuple[PageLink, ...] = ()  # to pages of the same site, for pick_pages
    parser: str = ""  # the one that could read the page


def read_metadata(
    html: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    region: str | None = None,
    parser: Literal["turbohtml", "lxml"] = "turbohtml",
) -> SiteMetadata:
    """Parse a home page and collect its facts: to be run in a parser process."""
    return collect_metadata(reading.parse_page(html, parser), url, headers, region, frames_of(html))


def collect_metadata(
    document: Document,
    url: str,
    headers: Mapping[str, str] | None = None,
    region: str | None = None,
    frames: tuple[str, ...] = (),
) -> SiteMetadata:
    """The facts of a parsed home page that was fetched from this address."""
    resolve = Resolver(url, document.base)
    meta = document.meta
    things = structured_data.things(document)
    organisation = organisation_of(things, resolve)
    technologies = technologies_of(document, headers, frames)
    cms = next((one for one in technologies if one.category in ("cms", "builder", "shop")), None)
    cms = next((one for one in technologies if one.category == "cms"), cms)
    language, locale = _language(document, things)
    return SiteMetadata(
        title=_first(
            document.title, meta.get("og:title"), meta.get("twitter:title"), _heading(document), limit=MAX_TITLE
        ),
        description=_first(
            meta.get("description"),
            meta.get("og:description"),
            meta.get("twitter:description"),
            organisation.description if organisation else "",
            limit=MAX_DESCRIPTION,
        ),
        site_name=_first(meta.get("og:site_name"), meta.get("application-name"), limit=200),
        language=language,
        locale=locale,
        languages=_languages(document),
        canonical=_canonical(document, resolve),
        favicon=favicon_of(document, resolve),
        logo=logo_of(document, organisation, resolve),
        image=resolve(meta.get("og:image", "") or meta.get("twitter:image", "")),
        generator=_first(meta.get("generator"), limit=200),
        cms=cms.name if cms else "",
        cms_version=cms.version if cms else "",
        technologies=technologies,
        organisation=organisation,
        has_contact_form=has_contact_form(document, frames),
        contacts=extract_contacts(document, url=url, region=region),
        links=links_of(document, url, resolve),
        parser=document.parser,
    )


def frames_of(html: str) -> tuple[str, ...]:
    """The addresses of the first frames: the document keeps none, since nothing in a frame is text of the page."""
    found = []
    for frame in islice(regexes.FRAME.finditer(html), MAX_FRAMES):
        tag = html[frame.start() : frame.start() + MAX_FRAME_TAG_LENGTH].partition(">")[0]
        if (source := regexes.FRAME_SOURCE.search(tag)) is not None:
            found.append(source[1])
    return tuple(found)


def _first(*texts: str | None, limit: int) -> str:
    return next((cleaned for text in texts if text and (cleaned := single_line(text, limit))), "")


def _heading(document: Document) -> str:
    return next((block.text for block in document.blocks if block.tag == "h1"), "")


def _canonical(document: Document, resolve: Resolver) -> str:
    for reference in document.references:
        if "canonical" in reference.rel.split() and (address := resolve(reference.href)):
            return address
    return resolve(document.meta.get("og:url", ""))


def _language(document: Document, things: list[structured_data.Thing]) -> tuple[str, str]:
    """The language, and the locale with its country, of the first place that gives one."""
    meta = document.meta
    places = [
        document.language,
        *(meta.get(key, "") for key in ("content-language", "language", "dc.language", "og:locale")),
    ]
    places += [text for thing in things[:50] for text in structured_data.texts(thing.get("inLanguage"))]
    for place in places:
        match = regexes.LANGUAGE_TAG.match(place.strip())
        if match is not None:
            language, country = match[1].lower(), match[3]
            return language, f"{language}-{country.upper()}" if country else language
    return "", ""


def _languages(document: Document) -> tuple[str, ...]:
    codes = (reference.hreflang for reference in document.references if "alternate" in reference.rel.split())
    matches = (regexes.LANGUAGE_TAG.match(code.strip()) for code in codes if not code.lower().startswith("x-"))
    return tuple(dict.fromkeys(match[1].lower() for match in matches if match is not None))[:MAX_LANGUAGES]
