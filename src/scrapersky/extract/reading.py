"""Reading a page: one pass over the markup makes the document, whichever parser calls out the tags."""

from collections.abc import Callable, Mapping, Sized
from typing import Literal

from lxml import etree
from turbohtml.saxparse import SaxHandler, sax_parse

from scrapersky.extract import text
from scrapersky.extract.document import (
    Attributes,
    Block,
    Document,
    Field,
    Form,
    Image,
    Link,
    Marked,
    Meta,
    Node,
    Reference,
    Script,
    Zone,
)
from scrapersky.extract.markup import (
    BLOCK_TAGS,
    EVENT_ATTRIBUTES,
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
    names_of,
    url_of,
)

MAX_NODES = 20_000
MAX_BLOCKS = 10_000
MAX_EACH = 5_000  # links, metas, images …
MAX_SCRIPT = 200_000
MAX_DEPTH = 120
MAX_CAPTURES = 12


def parse(html: str, parser: Literal["turbohtml", "lxml"] = "turbohtml") -> Document:
    """Read a page. Never raises on markup, whatever it is; time limits are the caller's (see parsing.py)."""
    builder = _Builder()
    html = _readable(html)
    if parser == "lxml":
        _feed_lxml(html, builder)
    else:
        sax_parse(html, builder)
    return builder.document(parser)


def _readable(html: str) -> str:
    """The page without what parsers cannot bear: a NUL ends the input of one of them, a lone surrogate stops both."""
    try:
        raw = html.encode()
    except UnicodeEncodeError:
        raw = html.encode("utf-8", "replace")
        html = raw.decode()
    return html.replace("\x00", "") if b"\x00" in raw else html


_OUTSIDE = (-1, -1, NO_ZONES)  # what is open around the outermost node
_new = tuple.__new__  # a named tuple without its constructor: half the time, and pages have many


class _Capture:
    """The text inside one open element, collected until the element ends."""

    __slots__ = ("attributes", "block", "depth", "kind", "node", "parts", "place", "zones")

    def __init__(self, kind: str, attributes: Attributes, builder: "_Builder") -> None:
        self.kind = kind
        self.attributes = attributes
        self.depth = builder.depth
        self.block = len(builder.blocks)
        self.node = builder.node
        self.zones = builder.zones
        self.parts: list[str] = []
        self.place = -1


class _Builder(SaxHandler):
    """Listens to the parser and collects the document."""

    def __init__(self) -> None:
        self.title = self.language = self.base = ""
        self.metas: list[Meta] = []
        self.links: list[Link] = []
        self.references: list[Reference] = []
        self.scripts: list[Script] = []
        self.images: list[Image] = []
        self.forms: list[Form] = []
        self.fields: list[Field] = []
        self.marked: list[Marked] = []
        self.nodes: list[Node] = []
        self.blocks: list[Block] = []
        self.comments: list[str] = []
        self.cut: set[str] = set()
        self.depth = 0
        self.silent_from = 0  # depth of the outermost silent element, 0 outside
        self.open_nodes: list[tuple[int, int, frozenset[Zone]]] = [_OUTSIDE]  # (depth, node, its zones)
        self.node = -1
        self.zones = NO_ZONES
        self.runs: list[str] = []  # text of the block so far, cut at inline elements
        self.fresh = True  # the next text opens a new run
        self.ended_inline = False  # nothing stands between the inline element before and here
        self.icons: list[str] = []
        self.captures: list[_Capture] = []
        self.scopes: list[tuple[int, int]] = []  # (depth, marked)
        self.form: tuple[int, Attributes] | None = None

    # -- what the parser calls ----------------------------------------------------------------------------------------

    def start_element(self, tag: str, attrs: tuple[tuple[str, str | None], ...]) -> None:
        self.depth += 1
        if self.silent_from:
            return
        if tag in BLOCK_TAGS:
            self._start_block(tag, attrs)
            return
        attributes = attributes_of(attrs) if attrs else NO_ATTRIBUTES
        if tag == "br":
            self._flush()
        else:
            if self.ended_inline and self.runs and tag not in GLUED_TAGS:
                # <span>Jane Roe</span><span>Owner</span>: such neighbours are styled as boxes, not as one word.
                self.runs[-1] += " "
            self.fresh = True
            if tag in _SPECIAL:
                _SPECIAL[tag](self, tag, attributes)
            elif "style" in attributes and is_hidden(attributes):
                self.silent_from = self.depth  # inf<span style="display:none">no spam</span>o@…
                return
        if attrs and not PLAIN_ATTRIBUTES.issuperset(attributes):
            self._mark(tag, attributes)
        if tag in SILENT_TAGS:
            self.silent_from = self.depth

    def end_element(self, tag: str) -> None:
        if self.silent_from:
            if self.silent_from == self.depth:
                self.silent_from = 0
                self._end_captures()
            self.depth -= 1
            return
        if tag in BLOCK_TAGS:
            if self.runs or self.captures:
                self._flush()
            if self.open_nodes[-1][0] == self.depth:
                self.open_nodes.pop()
                _, self.node, self.zones = self.open_nodes[-1]
            if self.form is not None and self.form[0] == self.depth:
                self._close_form()
        else:
            self.fresh = self.ended_inline = True
        if self.captures and self.captures[-1].depth >= self.depth:
            self._end_captures()
        if self.scopes and self.scopes[-1][0] == self.depth:
            self.scopes.pop()
        self.depth -= 1

    def characters(self, data: str) -> None:
        if self.silent_from:
            if self.captures and self.captures[-1].kind == "script":
                self.captures[-1].parts.append(data)
            return
        if self.captures:
            for capture in self.captures:
                capture.parts.append(data)
            if self.captures[-1].kind == "title":
                return
        self.ended_inline = False
        if not self.runs:
            if not data.isspace():
                self.runs.append(data)
                self.fresh = False
        elif self.fresh:
            self.runs.append(data)
            self.fresh = False
        else:
            self.runs[-1] += data

    def comment(self, data: str) -> None:
        if len(self.comments) < 200:
            self.comments.append(text.line(data[:600], 500))

    # -- structure ----------------------------------------------------------------------------------------------------

    def _start_block(self, tag: str, attrs: tuple[tuple[str, str | None], ...]) -> None:
        if self.runs or self.captures:
            self._flush()
        if not attrs:
            self._open_node(tag, "", ZONE_OF_TAG.get(tag), NO_ATTRIBUTES)
        elif len(attrs) == 1 and attrs[0][0] == "class" and tag != "form":  # as most are: nothing else to look for
            names, zone = named(attrs[0][1] or "")
            self._open_node(tag, names, ZONE_OF_TAG.get(tag, zone), NO_ATTRIBUTES)
        else:
            attributes = attributes_of(attrs)
            names, zone = names_and_zone(tag, attributes)
            self._open_node(tag, names, zone, attributes)
            if not PLAIN_ATTRIBUTES.issuperset(attributes):
                self._mark(tag, attributes)

    def _open_node(self, tag: str, names: str, zone: Zone | None, attributes: Attributes) -> None:
        index, depth = len(self.nodes), len(self.open_nodes) - 1
        if index >= MAX_NODES or depth >= MAX_DEPTH:
            self.cut.add("nodes" if index >= MAX_NODES else "depth")
            return
        zones = self.zones
        if zone is not None and zone not in zones:
            zones = zones | {zone}
        if attributes and ("style" in attributes or "hidden" in attributes) and is_hidden(attributes):
            zones = zones | {"hidden"}
        self.nodes.append(_new(Node, (index, self.node, depth, tag, names, zones)))
        self.open_nodes.append((self.depth, index, zones))
        self.node = index
        self.zones = zones
        if tag == "form":
            self.form = (self.depth, attributes)
        elif tag == "html":
            self.language = text.line(attributes.get("lang") or attributes.get("xml:lang", ""), 35)

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
        raw = " ".join((runs[0] if len(runs) == 1 else "".join(runs)).split())
        whole = text.line_of(raw)
        if not whole:
            return
        if len(runs) == 1:
            parts: tuple[str, ...] = (whole,)
        elif whole == raw:  # nothing had to be cleaned, so nothing has to be in the parts
            parts = tuple(part for run in runs if (part := " ".join(run.split())))
        else:
            parts = tuple(part for run in runs if (part := text.line(run)))
        tag = self.nodes[self.node].tag if self.node >= 0 else ""
        icons = ""
        if self.icons:
            icons, self.icons = " ".join(self.icons), []
        self.blocks.append(_new(Block, (len(self.blocks), self.node, tag, whole, parts, icons, self.zones)))

    def _capture(self, kind: str, attributes: Attributes) -> _Capture | None:
        if len(self.captures) >= MAX_CAPTURES:
            return None
        capture = _Capture(kind, attributes, self)
        self.captures.append(capture)
        return capture

    def _end_captures(self) -> None:
        while self.captures and self.captures[-1].depth >= self.depth:
            capture = self.captures.pop()
            _FINISH[capture.kind](self, capture)

    # -- elements with a meaning --------------------------------------------------------------------------------------

    def _base(self, tag: str, attributes: Attributes) -> None:
        self.base = self.base or url_of(attributes.get("href", ""))

    def _meta(self, tag: str, attributes: Attributes) -> None:
        key = (
            attributes.get("name")
            or attributes.get("property")
            or attributes.get("http-equiv")
            or attributes.get("itemprop")
            or ("charset" if "charset" in attributes else "")
        )
        if key and self._room(self.metas, "metas"):
            content = attributes.get("content") or attributes.get("charset", "")
            self.metas.append(Meta(text.line(key, 100).lower(), text.line(content, 5_000)))

    def _reference(self, tag: str, attributes: Attributes) -> None:
        if self._room(self.references, "references"):
            given = attributes.get
            self.references.append(
                Reference(
                    given("rel", "")[:100].lower(),
                    url_of(given("href", "")),
                    given("type", "")[:100],
                    given("sizes", "")[:100],
                    text.line(given("title", ""), 100),
                    given("hreflang", "")[:35],
                )
            )

    def _script(self, tag: str, attributes: Attributes) -> None:
        self._capture("script", attributes)

    def _end_script(self, capture: _Capture) -> None:
        if self._room(self.scripts, "scripts"):
            kind = text.line(capture.attributes.get("type", ""), 100).lower()
            source = "".join(capture.parts)
            if len(source) > MAX_SCRIPT:
                self.cut.add("scripts")
            # Code is kept as written, not cleaned: its values are cleaned when they are taken out.
            self.scripts.append(Script(kind, url_of(capture.attributes.get("src", "")), source[:MAX_SCRIPT]))

    def _title(self, tag: str, attributes: Attributes) -> None:
        self._capture("title", attributes)

    def _end_title(self, capture: _Capture) -> None:
        self.title = self.title or text.line("".join(capture.parts), 500)

    def _image(self, tag: str, attributes: Attributes) -> None:
        alt = text.line(attributes.get("alt", ""), 300)
        if self._room(self.images, "images"):
            source = url_of(attributes.get("src") or attributes.get("data-src", ""))
            self.images.append(_new(Image, (source, alt, names_of(attributes), self.node, self.zones)))
        if alt:
            self._see(alt)

    def _icon(self, tag: str, attributes: Attributes) -> None:
        if names := attributes.get("class"):
            self._see(text.line(names, 100).lower())

    def _see(self, icon: str) -> None:
        """Note an icon; it belongs to the next block that ends."""
        if len(self.icons) < 8:
            self.icons.append(icon)

    def _anchor(self, tag: str, attributes: Attributes) -> None:
        if "href" in attributes and self._room(self.links, "links"):
            capture = self._capture("link", attributes)
            if capture is not None:
                capture.place = len(self.links)
                self.links.append(_NO_LINK)

    def _end_anchor(self, capture: _Capture) -> None:
        attributes = capture.attributes
        label = attributes.get("aria-label") or attributes.get("title", "")
        link = (
            url_of(attributes["href"]),
            text.line("".join(capture.parts), 500),
            text.line(label, 300) if label else "",
            attributes["rel"][:100].lower() if "rel" in attributes else "",
            names_of(attributes),
            capture.block,
            capture.node,
            capture.zones,
        )
        self.links[capture.place] = _new(Link, link)

    def _field(self, tag: str, attributes: Attributes) -> None:
        if self.form is not None and len(self.fields) < 200:
            values = (text.line(attributes.get(name, ""), 200) for name in ("type", "name", "placeholder"))
            self.fields.append(Field(tag, *values))

    def _close_form(self) -> None:
        if self.form is not None and self._room(self.forms, "forms"):
            attributes = self.form[1]
            method = text.line(attributes.get("method", ""), 10).lower() or "get"
            form = Form(url_of(attributes.get("action", "")), method, names_of(attributes), tuple(self.fields))
            self.forms.append(form)
        self.form, self.fields = None, []

    def _mark(self, tag: str, attributes: Attributes) -> None:
        """Keep an element whose attributes may carry a contact."""
        for name in attributes:
            if name.startswith("data-") or name in EVENT_ATTRIBUTES:
                break
        else:
            return
        if not self._room(self.marked, "marked"):
            return
        place = len(self.marked)
        scope = self.scopes[-1][1] if self.scopes else -1
        self.marked.append(_new(Marked, (tag, attributes, "", self.node, scope)))
        if "itemscope" in attributes:
            self.scopes.append((self.depth, place))
        elif tag not in BLOCK_TAGS or "itemprop" in attributes:
            capture = self._capture("marked", attributes)
            if capture is not None:
                capture.place = place

    def _end_marked(self, capture: _Capture) -> None:
        if capture.parts:
            element = self.marked[capture.place]
            self.marked[capture.place] = element._replace(text=text.line("".join(capture.parts), 500))

    def _room(self, collection: Sized, name: str) -> bool:
        if len(collection) < MAX_EACH:
            return True
        self.cut.add(name)
        return False

    def document(self, parser: str) -> Document:
        """What was collected, once the parser has ended."""
        self._flush()
        self.depth = 0
        self._end_captures()
        if self.form is not None:
            self._close_form()
        return Document(
            title=self.title,
            language=self.language,
            base=self.base,
            metas=tuple(self.metas),
            links=tuple(self.links),
            references=tuple(self.references),
            scripts=tuple(self.scripts),
            images=tuple(self.images),
            forms=tuple(self.forms),
            marked=tuple(self.marked),
            nodes=tuple(self.nodes),
            blocks=tuple(self.blocks),
            comments=tuple(self.comments),
            cut=frozenset(self.cut),
            parser=parser,
        )


_NO_LINK = Link("", "", "", "", "", -1, -1, NO_ZONES)  # holds the place until the link's text is known

_SPECIAL: dict[str, Callable[[_Builder, str, Attributes], None]] = {
    "base": _Builder._base,
    "meta": _Builder._meta,
    "link": _Builder._reference,
    "script": _Builder._script,
    "title": _Builder._title,
    "img": _Builder._image,
    "i": _Builder._icon,
    "svg": _Builder._icon,
    "a": _Builder._anchor,
    "area": _Builder._anchor,
    "input": _Builder._field,
    "textarea": _Builder._field,
    "select": _Builder._field,
}
_FINISH: dict[str, Callable[[_Builder, _Capture], None]] = {
    "script": _Builder._end_script,
    "title": _Builder._end_title,
    "link": _Builder._end_anchor,
    "marked": _Builder._end_marked,
}


class _LxmlTarget:
    """Hands lxml's events to the builder, as turbohtml would."""

    def __init__(self, builder: _Builder) -> None:
        self.builder = builder

    def start(self, tag: str | bytes, attributes: Mapping[str | bytes, str | bytes]) -> None:
        self.builder.start_element(str(tag), tuple((str(name), str(value)) for name, value in attributes.items()))

    def end(self, tag: str | bytes) -> None:
        self.builder.end_element(str(tag))

    def data(self, data: str | bytes) -> None:
        self.builder.characters(str(data))

    def comment(self, text: str | bytes) -> None:
        self.builder.comment(str(text))

    def close(self) -> None:
        """Nothing is left to do at the end of the input."""


def _feed_lxml(html: str, builder: _Builder) -> None:
    if not html.strip():
        return  # lxml calls an empty page an error
    reader = etree.HTMLParser(target=_LxmlTarget(builder), encoding="utf-8")
    reader.feed(html.encode())
    reader.close()
