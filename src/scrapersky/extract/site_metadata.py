"""The facts about a site and its business that the home page states."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Literal

from scrapersky.extract.business.organisation import Organisation, find_organisation
from scrapersky.extract.business.technologies import find_technologies
from scrapersky.extract.contacts import extract_contacts
from scrapersky.extract.document.charset import EncodedPage, text_of
from scrapersky.extract.document.model import Document, Form, HeadLink, Image
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.document.structured_data import Thing, property_texts, read_things
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.pages.select import find_page_links
from scrapersky.extract.site_results import SiteMetadata
from scrapersky.extract.text import single_line
from scrapersky.extract.word_lists import word_set

MAX_TITLE = 500
MAX_DESCRIPTION = 1_000
MAX_FRAMES = 50
MAX_LANGUAGES = 50
MAX_FRAME_TAG_LENGTH = 1_500
MAX_IMAGES = 500
BEST_ICON_SIZE = 64  # pixels
FORM_SERVICES = word_set("typeform.com/to/ jotform.com/ docs.google.com/forms/ forms.office.com/ share.hsforms.com/")

FRAME = re.compile(r"<iframe\s", re.I)
FRAME_SOURCE = re.compile(r"\s(?:data-)?src\s{0,3}=\s{0,3}[\"']?([^\"'\s>]{1,1000})", re.I)  # for one tag only
LANGUAGE_TAG = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|\d{3}))?(?![a-z])", re.I)
LOGO = re.compile(
    r"(?<![a-z])(?:site|page|header|brand|nav|navbar|custom|company|main)?[-_]?logo(?:type|img|image)?s?(?![a-z])", re.I
)
FOREIGN_LOGO = re.compile(
    r"partner|sponsor|client|customer|kunde|payment|award|badge|certif|member|footer|app-?store|google-?play", re.I
)
CONTACT_FORM = re.compile(
    r"wpcf7|wpforms|gform|nf-form|formidable|frm_form|hs-form|elementor-form|et_pb_contact|fluentform|forminator"
    r"|contact|kontakt|anfrage|enquiry|inquiry|yhteydenotto|contatti|formspree|getform|web3forms",
    re.I,
)
OTHER_FORM = re.compile(
    r"search|suche|newsletter|subscri|mailchimp|mc-embedded|mc4wp|login|signin|sign-in|register|comment|cart|checkout"
    r"|coupon|filter|password|respond",
    re.I,
)
MESSAGE_FIELD = re.compile(
    r"messag|nachricht|viesti|mensaje|mensagem|messaggio|bericht|meddel|anfrage|wiadomo|zprava|poruka|question|enquiry|inquiry",
    re.I,
)
MAIL_FIELD = re.compile(r"e-?mail|correo|sahkoposti|sähköposti|epost|courriel|posta", re.I)


def read_metadata(
    page: str | EncodedPage,
    url: str,
    headers: Mapping[str, str] | None = None,
    region: str | None = None,
    parser: Literal["turbohtml", "lxml"] = "turbohtml",
) -> SiteMetadata:
    """Parse a home page and collect its facts; to be run in a parser process."""
    html = text_of(page)
    return collect_metadata(parse_page(html, parser), url, headers, region, find_frames(html))


def collect_metadata(
    document: Document,
    url: str,
    headers: Mapping[str, str] | None = None,
    region: str | None = None,
    frames: tuple[str, ...] = (),
) -> SiteMetadata:
    """Collect the facts of a parsed home page that was fetched from this address."""
    resolve = Resolver(url, document.base)
    meta = document.meta
    things = read_things(document)
    organisation = find_organisation(things, resolve)
    technologies = find_technologies(document, headers, frames)
    cms = next((one for one in technologies if one.category in ("cms", "builder", "shop")), None)
    cms = next((one for one in technologies if one.category == "cms"), cms)
    language, locale = _language(document, things)
    heading = next((block.text for block in document.blocks if block.tag == "h1"), "")
    described = organisation.description if organisation else ""
    return SiteMetadata(
        title=_first(document.title, meta.get("og:title"), meta.get("twitter:title"), heading, limit=MAX_TITLE),
        description=_first(
            *(meta.get(key) for key in ("description", "og:description", "twitter:description")),
            described,
            limit=MAX_DESCRIPTION,
        ),
        site_name=_first(meta.get("og:site_name"), meta.get("application-name"), limit=200),
        language=language,
        locale=locale,
        languages=_alternate_languages(document),
        canonical=_canonical(document, resolve),
        favicon=_favicon(document, resolve),
        logo=_logo(document, organisation, resolve),
        image=resolve(meta.get("og:image", "") or meta.get("twitter:image", "")),
        generator=_first(meta.get("generator"), limit=200),
        cms=cms.name if cms else "",
        cms_version=cms.version if cms else "",
        technologies=technologies,
        organisation=organisation,
        has_contact_form=_has_contact_form(document, frames),
        contacts=extract_contacts(document, url=url, region=region, needs_people=False),  # page_curation stores them
        links=find_page_links(document, url, resolve),
        parser=document.parser,
    )


def find_frames(html: str) -> tuple[str, ...]:
    """Return the addresses of the first frames; the document has none, since a frame is not text of the page."""
    found = []
    for frame in islice(FRAME.finditer(html), MAX_FRAMES):
        tag = html[frame.start() : frame.start() + MAX_FRAME_TAG_LENGTH].partition(">")[0]
        if (source := FRAME_SOURCE.search(tag)) is not None:
            found.append(source[1])
    return tuple(found)


def _first(*texts: str | None, limit: int) -> str:
    return next((cleaned for text in texts if text and (cleaned := single_line(text, limit))), "")


def _canonical(document: Document, resolve: Resolver) -> str:
    for link in document.head_links:
        if "canonical" in link.rel.split() and (address := resolve(link.href)):
            return address
    return resolve(document.meta.get("og:url", ""))


def _language(document: Document, things: list[Thing]) -> tuple[str, str]:
    """Return the language, and the locale with its country, of the first place that states one."""
    keys = ("content-language", "language", "dc.language", "og:locale")
    places = [document.language, *(document.meta.get(key, "") for key in keys)]
    places += [text for thing in things[:50] for text in property_texts(thing.get("inLanguage"))]
    for place in places:
        match = LANGUAGE_TAG.match(place.strip())
        if match is not None:
            language, country = match[1].lower(), match[3]
            return language, f"{language}-{country.upper()}" if country else language
    return "", ""


def _alternate_languages(document: Document) -> tuple[str, ...]:
    codes = (link.hreflang for link in document.head_links if "alternate" in link.rel.split())
    matches = (LANGUAGE_TAG.match(code.strip()) for code in codes if not code.lower().startswith("x-"))
    return tuple(dict.fromkeys(match[1].lower() for match in matches if match is not None))[:MAX_LANGUAGES]


# -- icon and logo ----------------------------------------------------------------------------------------------------


def _favicon(document: Document, resolve: Resolver) -> str:
    """Return the icon that the page states: one for browser tabs before one for phones, the best size first."""
    icons = [link for link in document.head_links if "icon" in link.rel and link.rel != "mask-icon"]
    for icon in sorted(icons, key=_icon_order):
        if address := resolve(icon.href):
            return address
    return ""


def _icon_order(icon: HeadLink) -> tuple[bool, int]:
    digits = icon.sizes.lower().partition("x")[0].strip()
    size = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 5 else 16
    size = BEST_ICON_SIZE if "svg" in icon.type or icon.sizes == "any" else size
    return "icon" not in icon.rel.split(), abs(size - BEST_ICON_SIZE)


def _logo(document: Document, organisation: Organisation | None, resolve: Resolver) -> str:
    """Return the logo: as structured data state it, else an image with such a name, preferably in the header."""
    stated = (organisation.logo if organisation else "") or resolve(document.meta.get("og:logo", ""))
    if stated:
        return stated
    ranked = sorted(
        ((_logo_score(image), -index, image) for index, image in enumerate(document.images[:MAX_IMAGES])), reverse=True
    )
    for score, _, image in ranked:
        if score < 2:
            break
        if address := resolve(image.src):
            return address
    return ""


def _logo_score(image: Image) -> int:
    file_name = image.src.rpartition("/")[2][:200]
    hits = sum(bool(LOGO.search(text[:300])) for text in (image.names, file_name, image.alt))
    if not hits:
        return 0
    score = 2 * hits + (3 if "header" in image.zones or "nav" in image.zones else 0)
    if "footer" in image.zones or FOREIGN_LOGO.search(f"{image.names} {file_name}"[:500]):
        score -= 3
    return score


# -- contact form -----------------------------------------------------------------------------------------------------


def _has_contact_form(document: Document, frames: tuple[str, ...]) -> bool:
    """Return whether a form of the page, or a form service in a frame, takes a message."""
    if any(_takes_messages(form) for form in document.forms):
        return True
    return any(service in frame.lower() for frame in frames for service in FORM_SERVICES)


def _takes_messages(form: Form) -> bool:
    """Return whether a form has a message field and a reply address; not a search, login or newsletter form."""
    form_names = f"{form.names} {form.action}"[:600]
    if any(field.type.lower() == "password" for field in form.fields) or OTHER_FORM.search(form_names):
        return False
    names = [f"{field.name} {field.placeholder}" for field in form.fields]
    has_message = any(field.tag == "textarea" for field in form.fields) or any(map(MESSAGE_FIELD.search, names))
    has_mail = any(field.type.lower() == "email" for field in form.fields) or any(map(MAIL_FIELD.search, names))
    if has_message:
        return has_mail or bool(CONTACT_FORM.search(form_names)) or len(form.fields) >= 3
    return has_mail and len(form.fields) >= 3 and bool(CONTACT_FORM.search(form_names))
