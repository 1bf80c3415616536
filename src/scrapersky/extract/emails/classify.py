"""Whose address is it: the business's own, and of which kind, or a placeholder, a maker's or an authority's."""

from scrapersky.extract import public_suffix, word_lists
from scrapersky.extract.document.context import is_authority, is_credit
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.results import EmailKind
from scrapersky.extract.text import clean_text

ROLE_LOCALS = word_lists.words("emails", "role", "locals")
FREE_DOMAINS = word_lists.words("emails", "free", "domains")
PLACEHOLDER_DOMAINS = word_lists.words("emails", "placeholder", "domains")
PLACEHOLDER_LOCALS = word_lists.words("emails", "placeholder", "locals")
WEAK_LOCALS = word_lists.words("emails", "placeholder", "weak_locals")
NOBODYS_LOCALS = word_lists.words("emails", "placeholder", "nobodys_locals")
VENDOR_DOMAINS = word_lists.words("emails", "vendor", "domains")
AUTHORITY_LABELS = word_lists.words("emails", "authority", "domains")


def normalise_email(address: str) -> str:
    """Lower case, without what clings to an address in running text."""
    return clean_text(address, 320).strip(" .,;:'\"<>()[]").lower()


class EmailClassifier:
    """Knows the page and its host, and says what an address is."""

    def __init__(self, document: Document, host: str) -> None:
        self.document = document
        self.own = public_suffix.registrable_domain(host)

    def reason_against(self, address: str, block: Block | None) -> str:
        """Why the address is not one of the business, or nothing."""
        local, _, domain = address.rpartition("@")
        registered = public_suffix.registrable_domain(domain)
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
        if free and local in NOBODYS_LOCALS:
            return "placeholder"  # info@gmail.com: the words everybody tried were never given to a business
        if domain in VENDOR_DOMAINS or registered in VENDOR_DOMAINS:
            return "maker of the page or theme"
        if block is None:
            return ""
        if is_credit(self.document, block) or (free and self._in_copyright(block)):
            return "maker of the page or theme"
        public_office = (
            _is_public_office(domain) and self.document.text.count("@") > 1
        )  # alone, it is the office's own page
        if public_office or (not free and is_authority(self.document, block)):
            return "authority or host named in an imprint"
        return ""

    def _in_copyright(self, block: Block) -> bool:
        """A free-mail address in the copyright line, when the page gives another one elsewhere: whoever built it."""
        lowered = block.text.lower()
        if "©" not in lowered and "copyright" not in lowered:
            return False
        return self.document.text.count("@") > block.text.count("@")

    def kind(self, address: str) -> EmailKind:
        """Role, personal, free-mail, or of another domain than the site's."""
        return classify_email(address, self.own)


def classify_email(address: str, own: str) -> EmailKind:
    """Of which kind an address is, found on the site of this registrable domain; or on none."""
    local, _, domain = address.rpartition("@")
    if domain in FREE_DOMAINS:
        return "free-mail"
    if own and public_suffix.registrable_domain(domain) != own:
        return "other-domain"
    return "role" if local in ROLE_LOCALS else "personal"


def _is_public_office(domain: str) -> bool:
    return not AUTHORITY_LABELS.isdisjoint(domain.replace("-", ".").split("."))


def _mixes_alphabets(domain: str) -> bool:
    """Whether Latin and other letters stand in one label, as in a forged name."""
    return any(
        any(character.isascii() and character.isalpha() for character in label)
        and not label.isascii()
        and _foreign(label)
        for label in domain.split(".")
    )


def _foreign(label: str) -> bool:
    return any("\u0370" <= character <= "\u1fff" for character in label)
