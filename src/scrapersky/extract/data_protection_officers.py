"""Data protection officers whom a business hires from another firm: named on its page, but nobody of the business."""

from itertools import islice

from scrapersky.extract import public_suffix, regexes, word_lists
from scrapersky.extract.document.context import HEADINGS
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.emails.classify import FREE_DOMAINS

PHRASES = tuple(word_lists.table("emails")["officer"]["phrases"])
REASON = "data protection officer of another firm"
REACH = 6
MAX_NAMINGS = 20


def outside(document: Document, host: str) -> frozenset[int]:
    """The blocks that speak of an officer with an address at another firm, and nowhere else on the page."""
    own = public_suffix.registrable_domain(host)
    lowered = document.text.lower() if own and "@" in document.text else ""
    said = [phrase for phrase in PHRASES if phrase in lowered]
    found: set[int] = set()
    for block in _naming(document, said):
        section = _section(document, block)
        if _is_of_another_firm(lowered, section, own):
            found.update(line.index for line in section)
    return frozenset(found)


def _naming(document: Document, said: list[str]) -> list[Block]:
    """The first lines that name the office; each is held against the whole page."""
    naming = (block for block in document.blocks if any(phrase in block.text.lower() for phrase in said))
    return list(islice(naming, MAX_NAMINGS)) if said else []


def _section(document: Document, block: Block) -> tuple[Block, ...]:
    """The line that names the office, and those below it as far as the first with an address."""
    if "@" in block.text:
        return (block,)
    for index in range(block.index + 1, min(block.index + REACH, len(document.blocks))):
        if document.blocks[index].tag in HEADINGS:
            break
        if "@" in document.blocks[index].text:
            return document.blocks[block.index : index + 1]
    return ()


def _is_of_another_firm(page: str, section: tuple[Block, ...], own: str) -> bool:
    text = "\n".join(line.text for line in section).lower()
    domains = {address.rpartition("@")[2] for address in regexes.EMAIL.findall(text)}
    return bool(domains) and not any(
        domain in FREE_DOMAINS
        or public_suffix.registrable_domain(domain) == own
        # A business may have its mail at another domain than its pages: then its other addresses are there, too.
        or page.count(f"@{domain}") > text.count(f"@{domain}")
        for domain in domains
    )
