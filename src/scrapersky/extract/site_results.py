"""The values that reading a home page returns: the facts of the site, or the evidence that its domain is parked."""

from dataclasses import dataclass, field, replace

from scrapersky.extract.business.organisation import Organisation
from scrapersky.extract.business.technologies import Technology
from scrapersky.extract.pages.select import PageLink
from scrapersky.extract.results import Contacts


@dataclass(frozen=True, slots=True)
class SiteMetadata:
    """The facts about a site: texts clean and limited, addresses absolute, empty where the page states nothing."""

    title: str = ""
    description: str = ""
    site_name: str = ""
    language: str = ""  # two or three letters
    locale: str = ""  # with the country, as in de-AT, if the page gives it
    languages: tuple[str, ...] = ()  # of the linked versions
    canonical: str = ""
    favicon: str = ""  # as stated; without one, browsers try /favicon.ico
    logo: str = ""
    image: str = ""  # og:image
    generator: str = ""
    cms: str = ""
    cms_version: str = ""
    technologies: tuple[Technology, ...] = ()
    organisation: Organisation | None = None
    has_contact_form: bool = False
    contacts: Contacts = field(default_factory=Contacts)
    links: tuple[PageLink, ...] = ()  # to pages of the same site, for select_pages
    parser: str = ""  # the one that parsed the page


@dataclass(frozen=True, slots=True)
class ParkedDomain:
    """A domain without a site of its own, and the evidence for it."""

    reason: str


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """The facts by which a business is recognised; all texts are folded."""

    url: str  # of the home page, after redirects
    titles: tuple[str, ...] = ()  # what the site calls itself: title, site name, organisation, first heading
    phones: frozenset[str] = frozenset()  # in E.164
    addresses: tuple[str, ...] = ()
    text: str = ""
    contact_url: str = ""  # the page of the site with its contacts, if the home page links one

    @property
    def is_complete(self) -> bool:
        """Whether the page shows both a number and an address, so that no other page is needed."""
        return bool(self.phones and self.addresses)

    def with_page(self, other: "SiteFacts") -> "SiteFacts":
        """Add what another page of the same site shows; the titles stay those of the home page."""
        addresses = tuple(dict.fromkeys([*self.addresses, *other.addresses]))
        return replace(self, phones=self.phones | other.phones, addresses=addresses, text=f"{self.text}\n{other.text}")
