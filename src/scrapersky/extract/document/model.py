"""A page as the finders see it: its head, links, forms and visible text in blocks.

    page = reading.parse(html)                    # turbohtml; parse(html, parser="lxml") for pages that killed it
    page.title, page.language, page.metas, page.links, page.references, page.scripts, page.images, page.forms
    page.blocks                                   # visible text, one block per block element or <br> line
    page.nodes[block.node]                        # the element around a block; page.around(node) walks outwards

Every text is cleaned (see text.py), every collection is capped; `page.cut` names the caps that were hit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from scrapersky.extract import regexes

Attributes = dict[str, str]
Zone = Literal["header", "nav", "footer", "aside", "form", "quote", "address", "hidden"]


# Named tuples, not dataclasses: a page makes hundreds of them, and they cost a third.
class Node(NamedTuple):
    """An element that text can be grouped by: a block element, or one with microdata."""

    index: int  # type: ignore[assignment]  # hides a method of tuple that nobody asks a block for
    parent: int  # -1 above the outermost
    depth: int
    tag: str
    names: str  # class and id, lower case
    zones: frozenset[Zone]


class Block(NamedTuple):
    """One run of visible text: what a reader sees as one line or paragraph."""

    index: int  # type: ignore[assignment]  # hides a method of tuple that nobody asks a block for
    node: int
    tag: str  # of the node
    text: str
    parts: tuple[str, ...]  # the text cut where inline markup (b, span, a …) begins or ends
    icons: str  # classes and alternative texts of the icons and images in it
    zones: frozenset[Zone]


class Link(NamedTuple):
    """A hyperlink as written; `href` is not resolved."""

    href: str
    text: str
    label: str  # aria-label or title
    rel: str
    names: str
    block: int  # index of the block it begins in (may be len(blocks) for a link without text at the end)
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
    """A script: where it is from, or what is in it."""

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


class Field(NamedTuple):
    """A field of a form."""

    tag: str
    type: str
    name: str
    placeholder: str


class Form(NamedTuple):
    """A form and what it asks for."""

    action: str
    method: str
    names: str
    fields: tuple[Field, ...]


class Marked(NamedTuple):
    """An element with data-, on… or microdata attributes: raw material for decoding hidden addresses."""

    tag: str
    attributes: Attributes
    text: str
    node: int
    scope: int  # index (in `marked`) of the enclosing itemscope, -1 outside


@dataclass(frozen=True)
class Document:
    """A parsed page. Immutable; positions are indexes into its own tuples."""

    title: str = ""
    language: str = ""  # <html lang>
    base: str = ""  # <base href>
    metas: tuple[Meta, ...] = ()
    links: tuple[Link, ...] = ()
    references: tuple[HeadLink, ...] = ()
    scripts: tuple[Script, ...] = ()
    images: tuple[Image, ...] = ()
    forms: tuple[Form, ...] = ()
    marked: tuple[Marked, ...] = ()
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
    def numbered(self) -> tuple[Block, ...]:
        """The blocks with a digit in them: the others need not be asked for numbers and postal codes."""
        ascii_digit, digit = regexes.ASCII_DIGIT, regexes.DIGIT  # ten are found faster than those of every script
        return tuple(
            [block for block in self.blocks if (ascii_digit if block.text.isascii() else digit).search(block.text)]
        )

    @cached_property
    def dialable(self) -> tuple[Block, ...]:
        """The blocks with as many digits side by side as a phone number has."""
        return tuple([block for block in self.numbered if regexes.MANY_DIGITS.search(block.text)])

    @cached_property
    def dialling(self) -> tuple[Link, ...]:
        """The links that dial a number."""
        return tuple([link for link in self.links if ":" in link.href and regexes.DIALS.match(link.href)])

    @cached_property
    def meta(self) -> dict[str, str]:
        """The first content of every meta key."""
        first: dict[str, str] = {}
        for meta in self.metas:
            first.setdefault(meta.key, meta.content)
        return first

    @property
    def structured(self) -> list[str]:
        """The JSON-LD scripts, as written."""
        return [script.text for script in self.scripts if "ld+json" in script.type]

    @cached_property
    def _first_blocks(self) -> dict[int, Block]:
        first: dict[int, Block] = {}
        for block in self.blocks:
            first.setdefault(block.node, block)
        return first

    def first_block(self, node: int) -> Block | None:
        """The first text directly in this node."""
        return self._first_blocks.get(node)

    def around(self, node: int) -> Iterator[Node]:
        """The node and the ones around it, from the inside out."""
        while node >= 0:
            here = self.nodes[node]
            yield here
            node = here.parent
