"""The context of a value on its page: the snippet around it, its section, credits of the maker, authorities."""

import re
from functools import lru_cache

from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table, load_words

CREDIT_WORDS = load_words("emails", "credit")
CREDIT_PHRASES = tuple(load_table("emails")["credit"]["phrases"])
AUTHORITY_ENDINGS = tuple(load_table("emails")["authority"]["endings"].split())
AUTHORITY_WORDS = load_words("emails", "authority")
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "summary", "legend", "caption"))
MAX_SNIPPET = 160
MAX_LABEL_WORDS = 3
MAX_SECTION_LINES = 12
ADDRESS = re.compile(r"\S{1,80}@\S{1,80}")
WORD = re.compile(r"[^\W\d_](?:[\w.'’/-]{0,40}[^\W_])?")


def snippet(text: str, at: int = 0) -> str:
    """Return the text around a position, short enough to read."""
    start = max(0, min(at - MAX_SNIPPET // 3, len(text) - MAX_SNIPPET))
    return text[start : start + MAX_SNIPPET]


@lru_cache(2048)
def folded_words(text: str) -> tuple[str, ...]:
    """Return the folded words of a short text."""
    return tuple(WORD.findall(fold(text[:500])))


def is_credit(document: Document, block: Block) -> bool:
    """Return whether the block names the maker of the page: Webdesign: …, Realizacja: …, Site by …"""
    text = block.text
    if len(text) > 300:
        return False  # a paragraph may be about design; a credit is a line
    if "@" in text:
        text = ADDRESS.sub(" ", text)  # webmaster@… is not a line about the webmaster
    if _has_credit_words(text):
        return True
    before = previous_on_line(document, block)
    return before is not None and _is_label(before.text) and _has_credit_words(before.text)


def _is_label(text: str) -> bool:
    """Return whether a line labels the next one: Webdesign. Site réalisé par:. One that names the maker does not."""
    return len(text) < 80 and (text.endswith(":") or len(folded_words(text)) <= MAX_LABEL_WORDS)


@lru_cache(2048)
def _has_credit_words(text: str) -> bool:
    if not CREDIT_WORDS.isdisjoint(folded_words(text)):
        return True
    lowered = text.lower()
    for phrase in CREDIT_PHRASES:  # noqa: SIM110  # a generator takes twice as long
        if phrase in lowered:
            return True
    return False


def previous_on_line(document: Document, block: Block) -> Block | None:
    """Return the block before, if both are in the same element or it is the label beside the block."""
    if block.index == 0:
        return None
    before = document.blocks[block.index - 1]
    if before.node == block.node:
        return before
    here, there = document.nodes[block.node], document.nodes[before.node]
    return before if here.parent in (there.parent, before.node) or there.parent == block.node else None


def _section_heading(document: Document, block: Block) -> str:
    """Return the nearest heading or label line above the block."""
    for index in range(block.index - 1, max(-1, block.index - 1 - MAX_SECTION_LINES), -1):
        before = document.blocks[index]
        if before.tag in HEADINGS or (before.text.endswith(":") and len(before.text) < 80):
            return before.text
    return ""


def is_authority(document: Document, block: Block) -> bool:
    """Return whether the section is about another organisation: supervision, arbitration, hosting, an insurer."""
    return _has_authority_words(block.text) or _has_authority_words(_section_heading(document, block))


@lru_cache(2048)
def _has_authority_words(text: str) -> bool:
    words = folded_words(text)
    return not AUTHORITY_WORDS.isdisjoint(words) or any(word.endswith(AUTHORITY_ENDINGS) for word in words)
