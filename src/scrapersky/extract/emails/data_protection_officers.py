"""Data protection officers employed by another firm: named on the page, but not people of the business."""

from itertools import islice

from scrapersky.extract.document.context import HEADINGS
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.emails.classify import FREE_DOMAINS
from scrapersky.extract.emails.deobfuscate import EMAIL
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.word_lists import load_table

PHRASES = tuple(load_table("emails")["officer"]["phrases"])
EXTERNAL_OFFICER = "data protection officer of another firm"  # the reason for a rejection
MAX_SECTION_LINES = 6
MAX_HEADINGS = 20


def find_external_officer_blocks(document: Document, host: str) -> frozenset[int]:
    """Return the blocks about an officer whose address is at another firm and nowhere else on the page."""
    own = registrable_domain(host)
    lowered = document.text.lower() if own and "@" in document.text else ""
    phrases = [phrase for phrase in PHRASES if phrase in lowered]
    found: set[int] = set()
    for block in _officer_headings(document, phrases):
        section = _section(document, block)
        if _is_of_another_firm(lowered, section, own):
            found.update(line.index for line in section)
    return frozenset(found)


def _officer_headings(document: Document, phrases: list[str]) -> list[Block]:
    """Return the first blocks with one of the phrases; few, since each is compared with the whole page."""
    headings = (block for block in document.blocks if any(phrase in block.text.lower() for phrase in phrases))
    return list(islice(headings, MAX_HEADINGS)) if phrases else []


def _section(document: Document, block: Block) -> tuple[Block, ...]:
    """Return the block and those below it, up to the first with an email address."""
    if "@" in block.text:
        return (block,)
    for index in range(block.index + 1, min(block.index + MAX_SECTION_LINES, len(document.blocks))):
        if document.blocks[index].tag in HEADINGS:
            break
        if "@" in document.blocks[index].text:
            return document.blocks[block.index : index + 1]
    return ()


def _is_of_another_firm(page: str, section: tuple[Block, ...], own: str) -> bool:
    text = "\n".join(line.text for line in section).lower()
    domains = {address.rpartition("@")[2] for address in EMAIL.findall(text)}
    return bool(domains) and not any(
        domain in FREE_DOMAINS
        or registrable_domain(domain) == own
        # A business may have its mail at another domain than its pages; then its other addresses are there, too.
        or page.count(f"@{domain}") > text.count(f"@{domain}")
        for domain in domains
    )
