"""What a plain reader sees of a page: its lines of text, and its links to other pages."""

import re
from dataclasses import dataclass

from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.text import fold

# The class or id of a banner or wall that asks for consent or for the visitor's age.
CONSENT_NAMES = re.compile(
    r"cookie|consent|gdpr|dsgvo|onetrust|usercentrics|borlabs|(?<![a-z])cky-|iubenda|didomi|qc-cmp|truste|klaro|cmplz"
    r"|sp_message|(?<![a-z])cmp(?![a-z])|(?<![a-z])age-?(?:gate|verif|check)"
)
# Links that a page has whatever its content: privacy, terms, imprint; they do not make it a page with content.
FORMAL_LINK = re.compile(
    r"privacy|datenschutz|cookie|terms|impressum|imprint|legal|agb|mentions|rgpd|gdpr|tietosuoja|integritet|personvern"
    r"|privat|konfidenc|ochran|adatved|gizlilik|kvkk|cloudflare|captcha|policy|policies|wp-login|wordpress\.org|password",
    re.I,
)
CONTENT_ZONES = frozenset(("form", "nav", "header", "footer"))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of visible text, folded, and where it stands."""

    text: str
    tag: str
    in_consent: bool
    in_content: bool  # not in a form, menu, header or footer


@dataclass(frozen=True, slots=True)
class PageView:
    """The visible text of a short page and the number of its links to other pages."""

    title: str  # folded
    lines: tuple[Line, ...]
    noscript: str  # what the page says without JavaScript, folded
    links: int  # to other pages, not counting privacy, terms and the like, nor those of a consent banner
    images: int

    @property
    def length(self) -> int:
        """The number of characters of the visible text."""
        return sum(len(line.text) for line in self.lines)

    @property
    def own_length(self) -> int:
        """The number of characters outside consent banners."""
        return sum(len(line.text) for line in self.lines if not line.in_consent)

    @property
    def text(self) -> str:
        """The title and the visible text in one line."""
        return " ".join([self.title, *(line.text for line in self.lines)])


def view_page(document: Document) -> PageView:
    """Collect what a plain reader sees; to be called for short pages only."""
    lines: list[Line] = []
    noscript: list[str] = []
    consent_nodes = _nodes_named(document)
    for block in document.blocks:
        nodes = list(document.with_ancestors(block.node))
        if any(node.tag == "noscript" for node in nodes):
            noscript.append(fold(block.text))
            continue
        in_consent = any(node.index in consent_nodes for node in nodes)
        lines.append(_line(block, in_consent))
    return PageView(
        title=fold(document.title),
        lines=tuple(lines),
        noscript=" ".join(noscript),
        links=_count_links(document, consent_nodes),
        images=sum(
            bool(image.src)
            and not image.src.startswith("data:")
            and not any(node.tag == "noscript" for node in document.with_ancestors(image.node))
            for image in document.images
        ),
    )


def _line(block: Block, in_consent: bool) -> Line:
    return Line(fold(block.text), block.tag, in_consent, CONTENT_ZONES.isdisjoint(block.zones))


def _nodes_named(document: Document) -> set[int]:
    return {
        node.index
        for node in document.nodes
        if node.names and node.tag not in ("html", "body") and CONSENT_NAMES.search(node.names)
    }


def _count_links(document: Document, consent_nodes: set[int]) -> int:
    """Count the links to different pages outside consent banners."""
    found = set()
    for link in document.links:
        href = link.href.partition("#")[0]
        is_page = href and not href.lower().startswith(("javascript:", "mailto:", "tel:"))
        if not is_page or FORMAL_LINK.search(f"{href} {link.text}"[:500]):
            continue
        if not any(node.index in consent_nodes for node in document.with_ancestors(link.node)):
            found.add(href)
    return len(found)
