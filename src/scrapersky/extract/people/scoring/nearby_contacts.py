"""The address or number near a name: evidence that it is a person's."""

import re

from scrapersky.extract.document.model import Block
from scrapersky.extract.emails.deobfuscate import EMAIL
from scrapersky.extract.people.candidate import Name
from scrapersky.extract.people.scoring.layout import PageLayout
from scrapersky.extract.text import fold

# Four digits alone may be a year.
POSTAL_CODE = re.compile(
    r"(?<!\d)(?:\d{5,6}|\d{4}(?=\s[^\W\d_])|\d{3}\s\d{2}|\d{2}-\d{3}|[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2})(?!\d)"
)
LOCAL_WORD = re.compile(r"[._+-]")
MIN_PART = 4  # letters of a name inside an address


def has_contact_below(layout: PageLayout, block: Block) -> bool:
    """Return whether an address or a number is on the line or in the next two."""
    lines = [line.index for line in layout.blocks[block.index : block.index + 3] if not line.zones - block.zones]
    if not layout.phone_blocks.isdisjoint(lines) or not layout.address_blocks.isdisjoint(lines):
        return True
    return any(has_postal_code(layout, index) and "©" not in layout.blocks[index].text for index in lines)


def has_postal_code(layout: PageLayout, index: int) -> bool:
    """Return whether a line has a postal code."""
    return index in layout.digit_blocks and POSTAL_CODE.search(layout.blocks[index].text) is not None


def has_contact_on_line(layout: PageLayout, block: Block) -> bool:
    """Return whether an address or a number is on the line of a name."""
    return block.index in layout.phone_blocks or block.index in layout.address_blocks


def has_own_address(layout: PageLayout, name: Name, block: Block) -> bool:
    """Return whether an address with a word of the name follows: Kincső Zsurzsa, zsurzsa@labor.example."""
    if layout.address_blocks.isdisjoint(range(block.index, block.index + 6)):
        return False
    words = {plain for word in name.words if len(plain := fold(word)) > 2}
    if not words:
        return False
    for line in layout.blocks[block.index : block.index + 6]:
        if line.index != block.index and line.index in layout.names:
            break
        if "@" in line.text:
            for address in EMAIL.findall(line.text.lower()):
                local = str(address).partition("@")[0]
                if not words.isdisjoint(LOCAL_WORD.split(local)) or any(
                    len(word) > MIN_PART and word in local for word in words
                ):
                    return True
    return False
