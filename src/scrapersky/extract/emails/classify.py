"""Classification of email addresses: those of the business by kind, and placeholders, vendors and authorities."""

import re

from scrapersky.extract.document.context import is_authority, is_credit
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.emails.mailboxes import is_function
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.results import EmailKind
from scrapersky.extract.text import clean_text
from scrapersky.extract.word_lists import load_words

ROLE_LOCALS = load_words("emails", "role", "locals")
FREE_DOMAINS = load_words("emails", "free", "domains")
PLACEHOLDER_DOMAINS = load_words("emails", "placeholder", "domains")
PLACEHOLDER_LOCALS = load_words("emails", "placeholder", "locals")
WEAK_LOCALS = load_words("emails", "placeholder", "weak_locals")
PLACEHOLDER_PARTS = load_words("emails", "placeholder", "parts")
LOCAL_PART = re.compile(r"[._+-]")
UNASSIGNED_LOCALS = load_words("emails", "placeholder", "unassigned_locals")
VENDOR_DOMAINS = load_words("emails", "vendor", "domains")
AUTHORITY_LABELS = load_words("emails", "authority", "domains")


def normalise_email(address: str) -> str:
    """Return the address in lower case, without the punctuation around it in running text."""
    return clean_text(address, 320).strip(" .,;:'\"<>()[]").lower()


def classify_email(address: str, own: str) -> EmailKind:
    """Return the kind of an address found on a site with the registrable domain `own` ("" without a site)."""
    local, _, domain = address.rpartition("@")
    if domain in FREE_DOMAINS:
        return "free-mail"
    if own and registrable_domain(domain) != own:
        return "other-domain"
    return "role" if local in ROLE_LOCALS or is_function(local) else "personal"


class EmailClassifier:
    """Classifies the addresses of one page."""

    def __init__(self, document: Document, host: str) -> None:
        self.document = document
        self.own = registrable_domain(host)

    def rejection_reason(self, address: str, block: Block | None) -> str:
        """Return why the address is not one of the business, or ""."""
        local, _, domain = address.rpartition("@")
        registered = registrable_domain(domain)
        label = registered.partition(".")[0]
        if not registered or len(local) > 64 or ".." in address or domain.startswith("www."):
            return "not an address"
        if not address.isascii() and (not local.isascii() or _mixes_alphabets(domain)):
            return "letters that only look alike"
        if self.own and registered == self.own:
            return "placeholder" if local in PLACEHOLDER_LOCALS else ""
        free = domain in FREE_DOMAINS
        if (label in PLACEHOLDER_DOMAINS and not free) or local in PLACEHOLDER_LOCALS or local in WEAK_LOCALS:
            return "placeholder"
        if not PLACEHOLDER_PARTS.isdisjoint(LOCAL_PART.split(local)):
            return "placeholder"  # team.example@mail.com
        if free and local in UNASSIGNED_LOCALS:
            return "placeholder"  # info@gmail.com: free-mail providers do not give such names to a business
        if domain in VENDOR_DOMAINS or registered in VENDOR_DOMAINS:
            return "maker of the page or theme"
        if block is None:
            return ""
        if is_credit(self.document, block) or (free and self._is_in_copyright(block)):
            return "maker of the page or theme"
        # The only address of a page is that of the authority whose page it is.
        has_authority_domain = not AUTHORITY_LABELS.isdisjoint(domain.replace("-", ".").split("."))
        is_public_authority = has_authority_domain and self.document.text.count("@") > 1
        if is_public_authority or (not free and is_authority(self.document, block)):
            return "authority or host named in an imprint"
        return ""

    def kind(self, address: str) -> EmailKind:
        """Return the kind of an address of this page."""
        return classify_email(address, self.own)

    def _is_in_copyright(self, block: Block) -> bool:
        """Return whether the block is a copyright line and other blocks have addresses: then it names the maker."""
        lowered = block.text.lower()
        if "©" not in lowered and "copyright" not in lowered:
            return False
        return self.document.text.count("@") > block.text.count("@")


def _mixes_alphabets(domain: str) -> bool:
    """Return whether one label has Latin and other letters, as in a forged name."""
    return any(
        any(character.isascii() and character.isalpha() for character in label)
        and any("\u0370" <= character <= "\u1fff" for character in label)
        for label in domain.split(".")
    )
