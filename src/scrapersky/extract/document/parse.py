"""Parsing of a page into a document in one pass, with turbohtml or lxml."""

from collections.abc import Mapping
from typing import Literal

from turbohtml.saxparse import SaxHandler, sax_parse

from scrapersky.extract import text
from scrapersky.extract.document.builder import ELEMENT_HANDLERS, PageBuilder
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
    names_and_word_zone,
    names_and_zone,
)
from scrapersky.extract.document.model import Attributes, Block, Document, Node, Zone

MAX_NODES = 20_000
MAX_BLOCKS = 10_000
MAX_DEPTH = 120
MAX_COMMENTS = 200

_OUTERMOST = (-1, NO_ZONES)  # the parent of the outermost node
_END_SCRIPT, _END_TITLE = PageBuilder.end_script, PageBuilder.end_title
_new = tuple.__new__  # creates a named tuple in half the time of its constructor


def parse_page(html: str, parser: Literal["turbohtml", "lxml"] = "turbohtml") -> Document:
    """Parse a page. Never raises on markup; limits of time are set by the caller (parser_pool/pool.py)."""
    handler = _Handler()
    html = _parsable(html)
    if parser == "turbohtml":
        sax_parse(html, handler)
    elif html.strip():  # lxml rejects an empty page
        from lxml import etree  # 4 MB, for pages on which turbohtml fails

        lxml_parser = etree.HTMLParser(target=_LxmlTarget(handler), encoding="utf-8")
        lxml_parser.feed(html.encode())
        lxml_parser.close()
    handler.end()
    return handler.build(parser)


def _parsable(html: str) -> str:
    """Remove what parsers cannot read: NUL ends the input of one of them, a lone surrogate stops both."""
    try:
        raw = html.encode()
    except UnicodeEncodeError:
        raw = html.encode("utf-8", "replace")
        html = raw.decode()
    return html.replace("\x00", "") if b"\x00" in raw else html


class _Handler(PageBuilder, SaxHandler):
    """Receives the parser's events: block elements become nodes, their text blocks; the builder keeps the others."""

    def __init__(self) -> None:
        super().__init__()
        self.silent_from = 0  # depth of the outermost element without visible text, 0 outside
        self.open_nodes: list[tuple[int, frozenset[Zone]]] = [_OUTERMOST]  # (node, its zones)
        self.runs: list[str] = []  # text of the open block, split at inline elements
        self.starts_run = True  # the next text starts a new run
        self.ended_inline = False  # an inline element has just ended

    # -- events of the parser -----------------------------------------------------------------------------------------

    def start_element(self, tag: str, attrs: tuple[tuple[str, str | None], ...]) -> None:
        self.depth += 1
        if self.silent_from:
            return
        if tag not in BLOCK_TAGS:
            if tag == "br":
                self._flush()
            else:
                self._start_inline(tag, attributes_of(attrs) if attrs else NO_ATTRIBUTES)
            return
        if self.runs or self.captures:
            self._flush()
        # Most have no attributes but a class.
        if not attrs and tag != "form":
            names, zone = "", ZONE_OF_TAG.get(tag)
        elif len(attrs) == 1 and attrs[0][0] == "class" and tag != "form":
            names, zone = names_and_word_zone(attrs[0][1] or "")
            zone = ZONE_OF_TAG.get(tag, zone)
        else:
            self._start_rich_block(tag, attributes_of(attrs))
            return
        zones = self.zones
        self._open_node(tag, names, zones if zone is None or zone in zones else zones | {zone})

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
                self.end_form()
        else:
            self.starts_run = self.ended_inline = True
        if self.captures and self.captures[-1].depth >= depth:
            self.end_captures()
        if self.scopes and self.scopes[-1][0] == depth:
            self.scopes.pop()
        self.depth = depth - 1

    def characters(self, data: str) -> None:
        runs, captures = self.runs, self.captures
        if not runs and not captures and data.isspace():
            return  # most text between two tags
        if self.silent_from:
            if captures and captures[-1].finish is _END_SCRIPT:
                captures[-1].parts.append(data)
            return
        if captures:
            for capture in captures:
                capture.parts.append(data)
            if captures[-1].finish is _END_TITLE or (not runs and data.isspace()):
                return
        self.ended_inline = False
        if self.starts_run or not runs:
            runs.append(data)
            self.starts_run = False
        else:
            runs[-1] += data

    def comment(self, data: str) -> None:
        if len(self.comments) < MAX_COMMENTS:
            self.comments.append(text.single_line(data[:600], 500))

    def end(self) -> None:
        """End everything that is still open at the end of the page."""
        self._flush()
        self.depth = 0
        self.end_captures()
        if self.form is not None:
            self.end_form()

    # -- structure ----------------------------------------------------------------------------------------------------

    def _start_inline(self, tag: str, attributes: Attributes) -> None:
        if self.ended_inline and self.runs and tag not in GLUED_TAGS:
            # <span>Jane Roe</span><span>Owner</span>: adjacent elements are styled as boxes, not as one word.
            self.runs[-1] += " "
        self.starts_run = True
        keep = ELEMENT_HANDLERS.get(tag)
        if keep is not None:
            keep(self, tag, attributes)
        elif "style" in attributes and is_hidden(attributes):
            self.silent_from = self.depth  # inf<span style="display:none">no spam</span>o@…
            return
        if attributes and not PLAIN_ATTRIBUTES.issuperset(attributes):
            self.add_marked(tag, attributes)
        if tag in SILENT_TAGS:
            self.silent_from = self.depth

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
            self.add_marked(tag, attributes)

    def _open_node(self, tag: str, names: str, zones: frozenset[Zone]) -> None:
        nodes, open_nodes = self.nodes, self.open_nodes
        index, depth = len(nodes), len(open_nodes) - 1
        if index >= MAX_NODES or depth >= MAX_DEPTH:
            self.cut.add("nodes" if index >= MAX_NODES else "depth")
            open_nodes.append(open_nodes[-1])  # its text is added to the node around it
            return
        nodes.append(_new(Node, (index, self.node, depth, tag, names, zones)))
        open_nodes.append((index, zones))
        self.node = index
        self.zones = zones

    def _flush(self) -> None:
        """End the open block."""
        for capture in self.captures:
            capture.parts.append(" ")
        if not self.runs:
            return
        runs, self.runs, self.starts_run = self.runs, [], True
        if len(self.blocks) >= MAX_BLOCKS:
            self.cut.add("blocks")
            return
        raw = whole = (runs[0] if len(runs) == 1 else "".join(runs)).strip()
        # True of most, and then neither words are joined nor characters removed.
        if not (raw.isascii() and raw.isprintable() and "  " not in raw and len(raw) <= text.TEXT_LIMIT):
            raw = text.joined_words(raw)
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
    """Return the runs as single lines; they need no cleaning if the whole text needed none."""
    if are_clean:
        return tuple([part for run in runs if (part := text.joined_words(run))])
    return tuple([part for run in runs if (part := text.single_line(run))])


class _LxmlTarget:
    """Passes the events of lxml to the handler as turbohtml does."""

    def __init__(self, handler: SaxHandler) -> None:
        self.handler = handler

    def start(self, tag: str | bytes, attributes: Mapping[str | bytes, str | bytes]) -> None:
        self.handler.start_element(str(tag), tuple((str(name), str(value)) for name, value in attributes.items()))

    def end(self, tag: str | bytes) -> None:
        self.handler.end_element(str(tag))

    def data(self, data: str | bytes) -> None:
        self.handler.characters(str(data))

    def comment(self, text: str | bytes) -> None:
        self.handler.comment(str(text))

    def close(self) -> None:
        """Do nothing at the end of the input; lxml requires the method."""
