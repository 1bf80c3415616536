"""What the text around a value says: whose it is, and what kind of number or line it stands in."""

from functools import lru_cache

from scrapersky.extract import regexes, word_lists
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.text import fold

CREDIT_WORDS = word_lists.words("emails", "credit")
CREDIT_PHRASES = tuple(word_lists.table("emails")["credit"]["phrases"])
AUTHORITY_ENDINGS = tuple(word_lists.table("emails")["authority"]["endings"].split())
AUTHORITY_WORDS = word_lists.words("emails", "authority")
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "summary", "legend", "caption"))
SNIPPET = 160
LABEL_WORDS = 3


def snippet(text: str, at: int = 0) -> str:
    """The text around a position, short enough to read."""
    start = max(0, min(at - SNIPPET // 3, len(text) - SNIPPET))
    return text[start : start + SNIPPET]


@lru_cache(2048)
def words(text: str) -> tuple[str, ...]:
    """The folded words of a short text."""
    return tuple(regexes.WORD.findall(fold(text[:500])))


def is_credit(document: Document, block: Block) -> bool:
    """Whether the line says who made the page: Webdesign: …, Realizacja: …, Site by …"""
    text = block.text
    if len(text) > 300:
        return False  # a paragraph may speak of design; a credit is a line
    if _says_credit(text):
        return True
    before = before_on_line(document, block)
    return before is not None and _is_label(before.text) and _says_credit(before.text)


def _is_label(text: str) -> bool:
    """Whether a line waits for the next one: Webdesign. Site réalisé par:. One that names the maker is complete."""
    return len(text) < 80 and (text.endswith(":") or len(words(text)) <= LABEL_WORDS)


@lru_cache(2048)
def _says_credit(text: str) -> bool:
    if not CREDIT_WORDS.isdisjoint(words(text)):
        return True
    lowered = text.lower()
    for phrase in CREDIT_PHRASES:  # noqa: SIM110  # a generator takes twice as long
        if phrase in lowered:
            return True
    return False


def before_on_line(document: Document, block: Block) -> Block | None:
    """The block just before, when both hang in the same element or it is the label beside it."""
    if block.index == 0:
        return None
    before = document.blocks[block.index - 1]
    if before.node == block.node:
        return before
    here, there = document.nodes[block.node], document.nodes[before.node]
    return before if here.parent in (there.parent, before.node) or there.parent == block.node else None


def section_of(document: Document, block: Block, reach: int = 12) -> str:
    """The heading or label line that the block stands under."""
    for index in range(block.index - 1, max(-1, block.index - 1 - reach), -1):
        before = document.blocks[index]
        if before.tag in HEADINGS or (before.text.endswith(":") and len(before.text) < 80):
            return before.text
    return ""


def is_authority(document: Document, block: Block) -> bool:
    """Whether the section is about somebody else: supervision, arbitration, hosting, an insurer."""
    return _says_authority(block.text) or _says_authority(section_of(document, block))


@lru_cache(2048)
def _says_authority(text: str) -> bool:
    said = words(text)
    return not AUTHORITY_WORDS.isdisjoint(said) or any(word.endswith(AUTHORITY_ENDINGS) for word in said)
