"""The page under construction: handlers of its elements, and the collections that become the document."""

from collections.abc import Callable, Sized
from typing import Any

from scrapersky.extract.document import model
from scrapersky.extract.document.markup import BLOCK_TAGS, EVENT_ATTRIBUTES, HIDDEN_MAIL, NO_ZONES, clean_href, names_of
from scrapersky.extract.document.model import Attributes, Document, Image, Link, MarkedElement, Zone
from scrapersky.extract.text import single_line
from scrapersky.extract.word_lists import word_set

MAX_EACH = 5_000  # links, metas, images …
MAX_CAPTURES = 12
MAX_ICONS = 8
MAX_SCRIPT = 200_000
MAX_FIELDS = 200
COLLECTIONS = word_set("metas links head_links scripts images forms marked nodes blocks comments")
_new = tuple.__new__  # creates a named tuple in half the time of its constructor
_NO_LINK = Link("", "", "", "", "", -1, -1, NO_ZONES)  # placeholder until the text of the link is known


class TextCapture:
    """The text of one open element, collected until the element ends."""

    __slots__ = ("attributes", "block", "depth", "finish", "node", "parts", "place", "zones")

    def __init__(self, page: "PageBuilder", finish: "FinishCapture", attributes: Attributes, place: int) -> None:
        self.finish = finish
        self.attributes = attributes
        self.place = place  # index in the collection of its kind
        self.depth = page.depth
        self.block = len(page.blocks)
        self.node = page.node
        self.zones = page.zones
        self.parts: list[str] = []


class PageBuilder:
    """The position of the parser in a page, and what was collected so far."""

    def __init__(self) -> None:
        self.title = self.language = self.base = ""
        self.metas: list[model.Meta] = []
        self.links: list[Link] = []
        self.head_links: list[model.HeadLink] = []
        self.scripts: list[model.Script] = []
        self.images: list[Image] = []
        self.forms: list[model.Form] = []
        self.fields: list[model.FormField] = []
        self.marked: list[MarkedElement] = []
        self.nodes: list[model.Node] = []
        self.blocks: list[model.Block] = []
        self.comments: list[str] = []
        self.cut: set[str] = set()
        self.depth = 0
        self.node = -1
        self.zones: frozenset[Zone] = NO_ZONES
        self.icons: list[str] = []  # of the next block that ends
        self.captures: list[TextCapture] = []
        self.scopes: list[tuple[int, int]] = []  # (depth, index in marked) of the open itemscopes
        self.form: tuple[int, Attributes] | None = None

    def has_capacity(self, collection: Sized, name: str) -> bool:
        """Return whether one more may be added; otherwise note the name in `cut`."""
        if len(collection) < MAX_EACH:
            return True
        self.cut.add(name)
        return False

    def start_capture(self, finish: "FinishCapture", attributes: Attributes, place: int = -1) -> bool:
        """Collect the text of the element that has just begun; return False if too many captures are open."""
        if len(self.captures) >= MAX_CAPTURES:
            return False
        self.captures.append(TextCapture(self, finish, attributes, place))
        return True

    def end_captures(self) -> None:
        """Finish the captures of the elements that end here."""
        while self.captures and self.captures[-1].depth >= self.depth:
            capture = self.captures.pop()
            capture.finish(self, capture)

    def add_icon(self, icon: str) -> None:
        """Add an icon to the next block that ends."""
        if len(self.icons) < MAX_ICONS:
            self.icons.append(icon)

    def build(self, parser: str) -> Document:
        """Build the document once the parser has ended."""
        collections: dict[str, Any] = {name: tuple(getattr(self, name)) for name in COLLECTIONS}
        head = (self.title, self.language, self.base)
        return Document(*head, cut=frozenset(self.cut), parser=parser, **collections)

    # -- the head -----------------------------------------------------------------------------------------------------

    def add_base(self, tag: str, attributes: Attributes) -> None:
        """Keep the first base address."""
        self.base = self.base or clean_href(attributes.get("href", ""))

    def add_meta(self, tag: str, attributes: Attributes) -> None:
        """Add a meta element under the first of its names."""
        key = (
            attributes.get("name")
            or attributes.get("property")
            or attributes.get("http-equiv")
            or attributes.get("itemprop")
            or ("charset" if "charset" in attributes else "")
        )
        if key and self.has_capacity(self.metas, "metas"):
            content = attributes.get("content") or attributes.get("charset", "")
            self.metas.append(model.Meta(single_line(key, 100).lower(), single_line(content, 5_000)))

    def add_head_link(self, tag: str, attributes: Attributes) -> None:
        """Add a link element of the head: stylesheet, icon, canonical …"""
        if self.has_capacity(self.head_links, "references"):
            given = attributes.get
            self.head_links.append(
                model.HeadLink(
                    given("rel", "")[:100].lower(),
                    clean_href(given("href", "")),
                    given("type", "")[:100],
                    given("sizes", "")[:100],
                    single_line(given("title", ""), 100),
                    given("hreflang", "")[:35],
                )
            )

    def start_title(self, tag: str, attributes: Attributes) -> None:
        """Start the title; its text does not become a block."""
        self.start_capture(PageBuilder.end_title, attributes)

    def end_title(self, capture: TextCapture) -> None:
        """Keep the first title."""
        self.title = self.title or single_line("".join(capture.parts), 500)

    def start_script(self, tag: str, attributes: Attributes) -> None:
        """Start a script."""
        self.start_capture(PageBuilder.end_script, attributes)

    def end_script(self, capture: TextCapture) -> None:
        """Add the script with its source as written; values are cleaned when they are extracted."""
        if self.has_capacity(self.scripts, "scripts"):
            kind = single_line(capture.attributes.get("type", ""), 100).lower()
            source = "".join(capture.parts)
            if len(source) > MAX_SCRIPT:
                self.cut.add("scripts")
            self.scripts.append(model.Script(kind, clean_href(capture.attributes.get("src", "")), source[:MAX_SCRIPT]))

    # -- links and images ---------------------------------------------------------------------------------------------

    def start_link(self, tag: str, attributes: Attributes) -> None:
        """Reserve the place of a link where it begins."""
        place = len(self.links)
        if (
            "href" in attributes
            and self.has_capacity(self.links, "links")
            and self.start_capture(PageBuilder.end_link, attributes, place)
        ):
            self.links.append(_NO_LINK)

    def end_link(self, capture: TextCapture) -> None:
        """Put the link with its text into its place."""
        attributes = capture.attributes
        label = attributes.get("aria-label") or attributes.get("title", "")
        link = (
            clean_href(attributes["href"]),
            single_line("".join(capture.parts), 500),
            single_line(label, 300) if label else "",
            attributes["rel"][:100].lower() if "rel" in attributes else "",
            names_of(attributes),
            capture.block,
            capture.node,
            capture.zones,
        )
        self.links[capture.place] = _new(Link, link)

    def add_image(self, tag: str, attributes: Attributes) -> None:
        """Add an image; its alternative text is an icon of the block around it."""
        alt = single_line(attributes.get("alt", ""), 300)
        if self.has_capacity(self.images, "images"):
            source = clean_href(attributes.get("src") or attributes.get("data-src", ""))
            self.images.append(_new(Image, (source, alt, names_of(attributes), self.node, self.zones)))
        if alt:
            self.add_icon(alt)

    def add_icon_element(self, tag: str, attributes: Attributes) -> None:
        """Add the class of an icon-font element or a drawing as an icon."""
        if names := attributes.get("class"):
            self.add_icon(single_line(names, 100).lower())

    # -- forms and marked elements ------------------------------------------------------------------------------------

    def add_field(self, tag: str, attributes: Attributes) -> None:
        """Add a field to the open form."""
        if self.form is not None and len(self.fields) < MAX_FIELDS:
            values = (single_line(attributes.get(name, ""), 200) for name in ("type", "name", "placeholder"))
            self.fields.append(model.FormField(tag, *values))

    def end_form(self) -> None:
        """Add the open form with its fields."""
        if self.form is not None and self.has_capacity(self.forms, "forms"):
            attributes = self.form[1]
            method = single_line(attributes.get("method", ""), 10).lower() or "get"
            form = model.Form(
                clean_href(attributes.get("action", "")), method, names_of(attributes), tuple(self.fields)
            )
            self.forms.append(form)
        self.form, self.fields = None, []

    def add_marked(self, tag: str, attributes: Attributes) -> None:
        """Add an element whose attributes may contain a contact."""
        for name in attributes:
            if name.startswith("data-") or name in EVENT_ATTRIBUTES:
                break
        else:
            if tag != HIDDEN_MAIL:
                return
        if not self.has_capacity(self.marked, "marked"):
            return
        place = len(self.marked)
        scope = self.scopes[-1][1] if self.scopes else -1
        self.marked.append(_new(MarkedElement, (tag, attributes, "", self.node, scope)))
        if "itemscope" in attributes:
            self.scopes.append((self.depth, place))
        elif tag not in BLOCK_TAGS or "itemprop" in attributes:
            self.start_capture(PageBuilder.end_marked, attributes, place)

    def end_marked(self, capture: TextCapture) -> None:
        """Set the text of the marked element."""
        if capture.parts:
            element = self.marked[capture.place]
            self.marked[capture.place] = element._replace(text=single_line("".join(capture.parts), 500))


FinishCapture = Callable[[PageBuilder, TextCapture], None]
ELEMENT_HANDLERS: dict[str, Callable[[PageBuilder, str, Attributes], None]] = {
    "base": PageBuilder.add_base,
    "meta": PageBuilder.add_meta,
    "link": PageBuilder.add_head_link,
    "script": PageBuilder.start_script,
    "title": PageBuilder.start_title,
    "img": PageBuilder.add_image,
    "i": PageBuilder.add_icon_element,
    "svg": PageBuilder.add_icon_element,
    "a": PageBuilder.start_link,
    "area": PageBuilder.start_link,
    "input": PageBuilder.add_field,
    "textarea": PageBuilder.add_field,
    "select": PageBuilder.add_field,
}
