"""What has been read of a page so far: the lists that become its document, and the texts whose elements are open."""

from collections.abc import Callable, Sized

from scrapersky.extract.document.markup import NO_ZONES
from scrapersky.extract.document.model import (
    Attributes,
    Block,
    Document,
    Field,
    Form,
    HeadLink,
    Image,
    Link,
    Marked,
    Meta,
    Node,
    Script,
    Zone,
)

MAX_EACH = 5_000  # links, metas, images …
MAX_CAPTURES = 12
MAX_ICONS = 8


class Capture:
    """The text inside one open element, collected until the element ends."""

    __slots__ = ("attributes", "block", "depth", "finish", "node", "parts", "place", "zones")

    def __init__(self, page: "Collected", finish: "Finish", attributes: Attributes, place: int) -> None:
        self.finish = finish
        self.attributes = attributes
        self.place = place  # in the list of its kind
        self.depth = page.depth
        self.block = len(page.blocks)
        self.node = page.node
        self.zones = page.zones
        self.parts: list[str] = []


class Collected:
    """Where the reader of a page is, and what it has kept."""

    def __init__(self) -> None:
        self.title = self.language = self.base = ""
        self.metas: list[Meta] = []
        self.links: list[Link] = []
        self.references: list[HeadLink] = []
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
        self.node = -1
        self.zones: frozenset[Zone] = NO_ZONES
        self.icons: list[str] = []  # those that belong to the next block that ends
        self.captures: list[Capture] = []
        self.scopes: list[tuple[int, int]] = []  # (depth, marked)
        self.form: tuple[int, Attributes] | None = None

    def has_room(self, collection: Sized, name: str) -> bool:
        """Whether one more may be kept; the document says what was cut."""
        if len(collection) < MAX_EACH:
            return True
        self.cut.add(name)
        return False

    def capture(self, finish: "Finish", attributes: Attributes, place: int = -1) -> bool:
        """Collect the text of the element that has just begun, unless too many of them are open."""
        if len(self.captures) >= MAX_CAPTURES:
            return False
        self.captures.append(Capture(self, finish, attributes, place))
        return True

    def end_captures(self) -> None:
        """Hand over the texts of the elements that end here."""
        while self.captures and self.captures[-1].depth >= self.depth:
            capture = self.captures.pop()
            capture.finish(self, capture)

    def see(self, icon: str) -> None:
        """Note an icon; it belongs to the next block that ends."""
        if len(self.icons) < MAX_ICONS:
            self.icons.append(icon)

    def document(self, parser: str) -> Document:
        """What was collected, once the parser has ended."""
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


Finish = Callable[[Collected, Capture], None]
