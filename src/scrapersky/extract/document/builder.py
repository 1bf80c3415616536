"""The page under construction: the collections that become the document, and the texts of elements still open."""

from collections.abc import Callable, Sized

from scrapersky.extract.document.markup import NO_ZONES
from scrapersky.extract.document.model import (
    Attributes,
    Block,
    Document,
    Form,
    FormField,
    HeadLink,
    Image,
    Link,
    MarkedElement,
    Meta,
    Node,
    Script,
    Zone,
)

MAX_EACH = 5_000  # links, metas, images …
MAX_CAPTURES = 12
MAX_ICONS = 8


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
        self.metas: list[Meta] = []
        self.links: list[Link] = []
        self.head_links: list[HeadLink] = []
        self.scripts: list[Script] = []
        self.images: list[Image] = []
        self.forms: list[Form] = []
        self.fields: list[FormField] = []
        self.marked: list[MarkedElement] = []
        self.nodes: list[Node] = []
        self.blocks: list[Block] = []
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
        """Tell whether one more may be added; otherwise note the name in `cut`."""
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
        return Document(
            title=self.title,
            language=self.language,
            base=self.base,
            metas=tuple(self.metas),
            links=tuple(self.links),
            head_links=tuple(self.head_links),
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


FinishCapture = Callable[[PageBuilder, TextCapture], None]
