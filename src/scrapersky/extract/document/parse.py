"""Reading a page: one pass over the markup makes the document, whichever parser calls out the tags."""

from typing import Literal

from turbohtml.saxparse import SaxHandler, sax_parse

from scrapersky.extract import text
from scrapersky.extract.document import elements, lxml_events
from scrapersky.extract.document.builder import Collected
from scrapersky.extract.document.markup import (
    BLOCK_TAGS,
    GLUED_TAGS,
    NO_ATTRIBUTES,
    NO_ZONES,
    PLAIN_ATTRIBUTES,
    SILENT_TAGS,
    ZONE_OF_TAG,
    attributes_of,
    is_hidden,
    named,
    names_and_zone,
)
from scrapersky.extract.document.model import Attributes, Block, Document, Node, Zone

MAX_NODES = 20_000
MAX_BLOCKS = 10_000
MAX_DEPTH = 120
MAX_COMMENTS = 200

_OUTSIDE = (-1, NO_ZONES)  # what is open around the outermost node
_new = tuple.__new__  # a named tuple without its constructor: half the time, and pages have many


def parse_page(html: str, parser: Literal["turbohtml", "lxml"] = "turbohtml") -> Document:
    """Read a page. Never raises on markup, whatever it is; time limits are the caller's (see parsing.py)."""
    reader = _Reader()
    html = _readable(html)
    if parser == "lxml":
        lxml_events.feed(html, reader)
    else:
        sax_parse(html, reader)
    reader.end()
    return reader.document(parser)


def _readable(html: str) -> str:
    """The page without what parsers cannot bear: a NUL ends the input of one of them, a lone surrogate stops both."""
    try:
        raw = html.encode()
    except UnicodeEncodeError:
        raw = html.encode("utf-8", "replace")
        html = raw.decode()
    return html.replace("\x00", "") if b"\x00" in raw else html


class _Reader(Collected, SaxHandler):
    """Listens to the parser: block elements become nodes, their text blocks, other elements what elements.py keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.silent_from = 0  # depth of the outermost silent element, 0 outside
        self.open_nodes: list[tuple[int, frozenset[Zone]]] = [_OUTSIDE]  # (node, its zones)
        self.runs: list[str] = []  # text of the block so far, cut at inline elements
        self.fresh = True  # the next text opens a new run
        self.ended_inline = False  # nothing stands between the inline element before and here

    # -- what the parser calls ----------------------------------------------------------------------------------------

    def start_element(self, tag: str, attrs: tuple[tuple[str, str | None], ...]) -> None:
        self.depth += 1
        if self.silent_from:
            return
        if tag in BLOCK_TAGS:
            if self.runs or self.captures:
                self._flush()
            self._start_block(tag, attrs)
        elif tag == "br":
            self._flush()
        else:
            self._start_inline(tag, attributes_of(attrs) if attrs else NO_ATTRIBUTES)

    def end_element(self, tag: str) -> None:
        depth = self.depth
        if self.silent_from:
            if self.silent_from == depth:
                self.silent_from = 0
                self.end_captures()
            self.depth = depth - 1
            return
        if tag in BLOCK_TAGS:
            if self.runs or self.captures:
                self._flush()
            self.open_nodes.pop()
            self.node, self.zones = self.open_nodes[-1]
            if self.form is not None and self.form[0] == depth:
                elements.end_form(self)
        else:
            self.fresh = self.ended_inline = True
        if self.captures and self.captures[-1].depth >= depth:
            self.end_captures()
        if self.scopes and self.scopes[-1][0] == depth:
            self.scopes.pop()
        self.depth = depth - 1

    def characters(self, data: str) -> None:
        runs, captures = self.runs, self.captures
        if not runs and not captures and data.isspace():
            return  # between two tags, as most are
        if self.silent_from:
            if captures and captures[-1].finish is elements.end_script:
                captures[-1].parts.append(data)
            return
        if captures:
            for capture in captures:
                capture.parts.append(data)
            if captures[-1].finish is elements.end_title or (not runs and data.isspace()):
                return
        self.ended_inline = False
        if self.fresh or not runs:
            runs.append(data)
            self.fresh = False
        else:
            runs[-1] += data

    def comment(self, data: str) -> None:
        if len(self.comments) < MAX_COMMENTS:
            self.comments.append(text.single_line(data[:600], 500))

    def end(self) -> None:
        """The page is over, whatever is still open."""
        self._flush()
        self.depth = 0
        self.end_captures()
        if self.form is not None:
            elements.end_form(self)

    # -- structure ----------------------------------------------------------------------------------------------------

    def _start_inline(self, tag: str, attributes: Attributes) -> None:
        if self.ended_inline and self.runs and tag not in GLUED_TAGS:
            # <span>Jane Roe</span><span>Owner</span>: such neighbours are styled as boxes, not as one word.
            self.runs[-1] += " "
        self.fresh = True
        keep = elements.SPECIAL.get(tag)
        if keep is not None:
            keep(self, tag, attributes)
        elif "style" in attributes and is_hidden(attributes):
            self.silent_from = self.depth  # inf<span style="display:none">no spam</span>o@…
            return
        if attributes and not PLAIN_ATTRIBUTES.issuperset(attributes):
            elements.mark(self, tag, attributes)
        if tag in SILENT_TAGS:
            self.silent_from = self.depth

    def _start_block(self, tag: str, attrs: tuple[tuple[str, str | None], ...]) -> None:
        """Open a node. Most have a class or nothing at all, and are not looked at any further."""
        zones = self.zones
        if not attrs and tag != "form":
            names, zone = "", ZONE_OF_TAG.get(tag)
        elif len(attrs) == 1 and attrs[0][0] == "class" and tag != "form":
            names, zone = named(attrs[0][1] or "")
            zone = ZONE_OF_TAG.get(tag, zone)
        else:
            self._start_rich_block(tag, attributes_of(attrs))
            return
        if zone is not None and zone not in zones:
            zones = zones | {zone}
        self._open_node(tag, names, zones)

    def _start_rich_block(self, tag: str, attributes: Attributes) -> None:
        names, zone = names_and_zone(tag, attributes)
        zones = self.zones if zone is None else self.zones | {zone}
        if ("style" in attributes or "hidden" in attributes) and is_hidden(attributes):
            zones = zones | {"hidden"}
        self._open_node(tag, names, zones)
        if tag == "form":
            self.form = (self.depth, attributes)
        elif tag == "html":
            self.language = text.single_line(attributes.get("lang") or attributes.get("xml:lang", ""), 35)
        if not PLAIN_ATTRIBUTES.issuperset(attributes):
            elements.mark(self, tag, attributes)

    def _open_node(self, tag: str, names: str, zones: frozenset[Zone]) -> None:
        nodes, open_nodes = self.nodes, self.open_nodes
        index, depth = len(nodes), len(open_nodes) - 1
        if index >= MAX_NODES or depth >= MAX_DEPTH:
            self.cut.add("nodes" if index >= MAX_NODES else "depth")
            open_nodes.append(open_nodes[-1])  # its text belongs to the node around it
            return
        nodes.append(_new(Node, (index, self.node, depth, tag, names, zones)))
        open_nodes.append((index, zones))
        self.node = index
        self.zones = zones

    def _flush(self) -> None:
        """End the block that is being read."""
        for capture in self.captures:
            capture.parts.append(" ")
        if not self.runs:
            return
        runs, self.runs, self.fresh = self.runs, [], True
        if len(self.blocks) >= MAX_BLOCKS:
            self.cut.add("blocks")
            return
        raw = whole = " ".join((runs[0] if len(runs) == 1 else "".join(runs)).split())
        if not (raw.isascii() and raw.isprintable() and len(raw) <= text.TEXT_LIMIT):  # as most are
            whole = text.clean_single_line(raw)
        if not whole:
            return
        tag = self.nodes[self.node].tag if self.node >= 0 else ""
        icons = ""
        if self.icons:
            icons, self.icons = " ".join(self.icons), []
        parts = (whole,) if len(runs) == 1 else _parts(runs, whole == raw)
        self.blocks.append(_new(Block, (len(self.blocks), self.node, tag, whole, parts, icons, self.zones)))


def _parts(runs: list[str], are_clean: bool) -> tuple[str, ...]:
    """The runs as lines of their own; where nothing had to be cleaned in the whole, nothing has to be in them."""
    if are_clean:
        return tuple([part for run in runs if (part := " ".join(run.split()))])
    return tuple([part for run in runs if (part := text.single_line(run))])
