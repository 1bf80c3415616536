"""The document model: a page with its head, links, forms and visible text in blocks.

    page = parse_page(html)                       # turbohtml; parser="lxml" for pages on which turbohtml fails
    page.title, page.language, page.metas, page.links, page.head_links, page.scripts, page.images, page.forms
    page.blocks                                   # visible text, one block for each block element or <br> line
    page.nodes[block.node]                        # the element of a block; page.with_ancestors(node) walks outwards

Every text is cleaned (text.py), every collection is limited; `page.cut` names the limits that were reached.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple

DIGIT = re.compile(r"\d")
SIX_DIGITS = re.compile(r"\d(?:\D{0,4}\d){5}")
NO_DIGITS = bytes(set(range(256)) - set(b"0123456789\n"))
# The other digits (٣, ３) begin with these bytes in UTF-8, Latin letters and punctuation (E2) do not.
NO_OTHER_DIGITS = bytes([*range(0xD9), 0xE2])
MIN_PHONE_DIGITS = 6
CELL_TAGS = frozenset(("td", "th"))
PHONE_LINK = re.compile(
    r"(?:tel|callto|sms|phone|whatsapp):(?://)?(?:send/?\?phone=)?"
    r"|https?://(?:www\.)?(?:wa\.me/|(?:api|web|chat)\.whatsapp\.com/send/?\?(?:[^#]{0,200}&)?phone="
    r"|whatsapp\.com/send/?\?(?:[^#]{0,200}&)?phone=)",
    re.I,
)

Attributes = dict[str, str]
Zone = Literal["header", "nav", "footer", "aside", "form", "quote", "address", "hidden"]


# Named tuples, not dataclasses: a page has hundreds of them, and they cost a third.
class Node(NamedTuple):
    """A block element: the text blocks of a page are grouped by these."""

    index: int  # type: ignore[assignment]  # hides a method of tuple that is not used
    parent: int  # -1 for the outermost
    depth: int
    tag: str
    names: str  # class and id, lower case
    zones: frozenset[Zone]


class Block(NamedTuple):
    """One line or paragraph of visible text."""

    index: int  # type: ignore[assignment]  # hides a method of tuple that is not used
    node: int
    tag: str  # of the node
    text: str
    parts: tuple[str, ...]  # the text split where inline markup (b, span, a …) begins or ends
    icons: str  # classes and alternative texts of its icons and images
    zones: frozenset[Zone]


class Link(NamedTuple):
    """A hyperlink as written; `href` is not resolved."""

    href: str
    text: str
    label: str  # aria-label or title
    rel: str
    names: str
    block: int  # index of the block it begins in (len(blocks) for a link without text at the end)
    node: int
    zones: frozenset[Zone]


class Meta(NamedTuple):
    """A meta element: its name, property, http-equiv or itemprop (lower case) and its content."""

    key: str
    content: str


class HeadLink(NamedTuple):
    """A link element of the head: stylesheet, icon, canonical, alternate, feed …"""

    rel: str
    href: str
    type: str
    sizes: str
    title: str
    hreflang: str


class Script(NamedTuple):
    """A script: its address or its source."""

    type: str
    src: str
    text: str


class Image(NamedTuple):
    """An image: its address, alternative text, class and id."""

    src: str
    alt: str
    names: str
    node: int
    zones: frozenset[Zone]


class FormField(NamedTuple):
    """A field of a form."""

    tag: str
    type: str
    name: str
    placeholder: str


class Form(NamedTuple):
    """A form and its fields."""

    action: str
    method: str
    names: str
    fields: tuple[FormField, ...]


class MarkedElement(NamedTuple):
    """An element with data-, on… or microdata attributes, in which an address may be hidden."""

    tag: str
    attributes: Attributes
    text: str
    node: int
    scope: int  # index (in `marked`) of the enclosing itemscope, -1 outside


@dataclass(frozen=True)
class Document:
    """A parsed page. Immutable; its elements refer to each other by index."""

    title: str = ""
    language: str = ""  # <html lang>
    base: str = ""  # <base href>
    metas: tuple[Meta, ...] = ()
    links: tuple[Link, ...] = ()
    head_links: tuple[HeadLink, ...] = ()
    scripts: tuple[Script, ...] = ()
    images: tuple[Image, ...] = ()
    forms: tuple[Form, ...] = ()
    marked: tuple[MarkedElement, ...] = ()
    nodes: tuple[Node, ...] = ()
    blocks: tuple[Block, ...] = ()
    comments: tuple[str, ...] = ()
    cut: frozenset[str] = field(default_factory=frozenset)
    parser: str = "turbohtml"

    @cached_property
    def text(self) -> str:
        """The visible text, one line per block."""
        return "\n".join([block.text for block in self.blocks])

    @cached_property
    def digit_blocks(self) -> tuple[Block, ...]:
        """The blocks with a digit: only these can have numbers and postal codes."""
        return tuple([block for block, _ in self._digits])

    @cached_property
    def _digits(self) -> list[tuple[Block, int]]:
        """The blocks with a digit, each with the number of its digits."""
        # The digits of each line at once: ten times as fast as a search in each block.
        raw = self.text.encode("utf-8", "replace")
        digits = raw.translate(None, NO_DIGITS).split(b"\n")
        if not raw.translate(None, NO_OTHER_DIGITS):
            return [(block, len(found)) for block, found in zip(self.blocks, digits, strict=False) if found]
        return [
            (block, count)
            for block, found in zip(self.blocks, digits, strict=False)
            if (count := len(found if block.text.isascii() else DIGIT.findall(block.text)))
        ]

    def blocks_with(self, sign: str) -> tuple[Block, ...]:
        """Return the blocks with a sign or a word in them."""
        known = self._blocks_by_sign.get(sign)
        if known is None:
            known = self._blocks_by_sign[sign] = tuple(self._find_blocks(sign))
        return known

    def _find_blocks(self, sign: str) -> Iterator[Block]:
        """Yield them by searches in the whole text, which are faster than one in each block."""
        at = self.text.find(sign)
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            yield self.blocks[index]
            at = self.text.find(sign, self._starts[index + 1]) if index + 1 < len(self._starts) else -1

    @cached_property
    def _blocks_by_sign(self) -> dict[str, tuple[Block, ...]]:
        return {}

    @cached_property
    def _starts(self) -> list[int]:
        """Where each block begins in the text."""
        return [0, *accumulate([len(block.text) + 1 for block in self.blocks[:-1]])]

    @cached_property
    def phone_blocks(self) -> tuple[Block, ...]:
        """The blocks with as many digits side by side as a phone number has."""
        return tuple(
            [block for block, count in self._digits if count >= MIN_PHONE_DIGITS and SIX_DIGITS.search(block.text)]
        )

    @cached_property
    def phone_links(self) -> tuple[Link, ...]:
        """The links that dial a number."""
        return tuple([link for link in self.links if ":" in link.href and PHONE_LINK.match(link.href)])

    @cached_property
    def linked_blocks(self) -> frozenset[int]:
        """The blocks that are the text of a link."""
        return frozenset(
            link.block
            for link in self.links
            if link.block < len(self.blocks) and link.text == self.blocks[link.block].text
        )

    @cached_property
    def columns(self) -> dict[int, int]:
        """The column of each table cell, by the index of its node."""
        columns: dict[int, int] = {}
        seen: dict[int, int] = {}
        for cell in [node for node in self.nodes if node.tag in CELL_TAGS]:
            columns[cell.index] = seen.get(cell.parent, 0)
            seen[cell.parent] = columns[cell.index] + 1
        return columns

    @cached_property
    def meta(self) -> dict[str, str]:
        """The first content of every meta key."""
        first: dict[str, str] = {}
        for meta in self.metas:
            first.setdefault(meta.key, meta.content)
        return first

    @cached_property
    def _first_blocks(self) -> dict[int, Block]:
        first: dict[int, Block] = {}
        for block in self.blocks:
            first.setdefault(block.node, block)
        return first

    def first_block(self, node: int) -> Block | None:
        """Return the first block directly in this node."""
        return self._first_blocks.get(node)

    def with_ancestors(self, node: int) -> Iterator[Node]:
        """Yield the node and its ancestors, from the inside out."""
        while node >= 0:
            here = self.nodes[node]
            yield here
            node = here.parent

    def is_inside(self, index: int, node: int) -> bool:
        """Return whether the block with this index exists and is in the node."""
        if index >= len(self.blocks):
            return False
        here, nodes = self.blocks[index].node, self.nodes
        while here > node:  # a parent comes before its children
            here = nodes[here].parent
        return here == node
