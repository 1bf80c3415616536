"""Handlers of the elements that are kept: those of the head, links, images, forms and marked elements."""

from collections.abc import Callable

from scrapersky.extract import text
from scrapersky.extract.document.builder import PageBuilder, TextCapture
from scrapersky.extract.document.markup import BLOCK_TAGS, EVENT_ATTRIBUTES, HIDDEN_MAIL, NO_ZONES, clean_href, names_of
from scrapersky.extract.document.model import (
    Attributes,
    Form,
    FormField,
    HeadLink,
    Image,
    Link,
    MarkedElement,
    Meta,
    Script,
)

MAX_SCRIPT = 200_000
MAX_FIELDS = 200
_new = tuple.__new__  # creates a named tuple in half the time of its constructor
_NO_LINK = Link("", "", "", "", "", -1, -1, NO_ZONES)  # placeholder until the text of the link is known

# -- the head ---------------------------------------------------------------------------------------------------------


def add_base(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Keep the first base address."""
    page.base = page.base or clean_href(attributes.get("href", ""))


def add_meta(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Add a meta element under the first of its names."""
    key = (
        attributes.get("name")
        or attributes.get("property")
        or attributes.get("http-equiv")
        or attributes.get("itemprop")
        or ("charset" if "charset" in attributes else "")
    )
    if key and page.has_capacity(page.metas, "metas"):
        content = attributes.get("content") or attributes.get("charset", "")
        page.metas.append(Meta(text.single_line(key, 100).lower(), text.single_line(content, 5_000)))


def add_head_link(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Add a link element of the head: stylesheet, icon, canonical …"""
    if page.has_capacity(page.head_links, "references"):
        given = attributes.get
        page.head_links.append(
            HeadLink(
                given("rel", "")[:100].lower(),
                clean_href(given("href", "")),
                given("type", "")[:100],
                given("sizes", "")[:100],
                text.single_line(given("title", ""), 100),
                given("hreflang", "")[:35],
            )
        )


def start_title(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Start the title; its text does not become a block."""
    page.start_capture(end_title, attributes)


def end_title(page: PageBuilder, capture: TextCapture) -> None:
    """Keep the first title."""
    page.title = page.title or text.single_line("".join(capture.parts), 500)


def start_script(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Start a script."""
    page.start_capture(end_script, attributes)


def end_script(page: PageBuilder, capture: TextCapture) -> None:
    """Add the script with its source as written; values are cleaned when they are extracted."""
    if page.has_capacity(page.scripts, "scripts"):
        kind = text.single_line(capture.attributes.get("type", ""), 100).lower()
        source = "".join(capture.parts)
        if len(source) > MAX_SCRIPT:
            page.cut.add("scripts")
        page.scripts.append(Script(kind, clean_href(capture.attributes.get("src", "")), source[:MAX_SCRIPT]))


# -- links and images -----------------------------------------------------------------------------------------------


def start_link(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Reserve the place of a link where it begins."""
    place = len(page.links)
    if (
        "href" in attributes
        and page.has_capacity(page.links, "links")
        and page.start_capture(end_link, attributes, place)
    ):
        page.links.append(_NO_LINK)


def end_link(page: PageBuilder, capture: TextCapture) -> None:
    """Put the link with its text into its place."""
    attributes = capture.attributes
    label = attributes.get("aria-label") or attributes.get("title", "")
    link = (
        clean_href(attributes["href"]),
        text.single_line("".join(capture.parts), 500),
        text.single_line(label, 300) if label else "",
        attributes["rel"][:100].lower() if "rel" in attributes else "",
        names_of(attributes),
        capture.block,
        capture.node,
        capture.zones,
    )
    page.links[capture.place] = _new(Link, link)


def add_image(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Add an image; its alternative text is an icon of the block around it."""
    alt = text.single_line(attributes.get("alt", ""), 300)
    if page.has_capacity(page.images, "images"):
        source = clean_href(attributes.get("src") or attributes.get("data-src", ""))
        page.images.append(_new(Image, (source, alt, names_of(attributes), page.node, page.zones)))
    if alt:
        page.add_icon(alt)


def add_icon(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Add the class of an icon-font element or a drawing as an icon."""
    if names := attributes.get("class"):
        page.add_icon(text.single_line(names, 100).lower())


# -- forms and marked elements ----------------------------------------------------------------------------------------


def add_field(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Add a field to the open form."""
    if page.form is not None and len(page.fields) < MAX_FIELDS:
        values = (text.single_line(attributes.get(name, ""), 200) for name in ("type", "name", "placeholder"))
        page.fields.append(FormField(tag, *values))


def end_form(page: PageBuilder) -> None:
    """Add the open form with its fields."""
    if page.form is not None and page.has_capacity(page.forms, "forms"):
        attributes = page.form[1]
        method = text.single_line(attributes.get("method", ""), 10).lower() or "get"
        form = Form(clean_href(attributes.get("action", "")), method, names_of(attributes), tuple(page.fields))
        page.forms.append(form)
    page.form, page.fields = None, []


def add_marked(page: PageBuilder, tag: str, attributes: Attributes) -> None:
    """Add an element whose attributes may contain a contact."""
    for name in attributes:
        if name.startswith("data-") or name in EVENT_ATTRIBUTES:
            break
    else:
        if tag != HIDDEN_MAIL:
            return
    if not page.has_capacity(page.marked, "marked"):
        return
    place = len(page.marked)
    scope = page.scopes[-1][1] if page.scopes else -1
    page.marked.append(_new(MarkedElement, (tag, attributes, "", page.node, scope)))
    if "itemscope" in attributes:
        page.scopes.append((page.depth, place))
    elif tag not in BLOCK_TAGS or "itemprop" in attributes:
        page.start_capture(end_marked, attributes, place)


def end_marked(page: PageBuilder, capture: TextCapture) -> None:
    """Set the text of the marked element."""
    if capture.parts:
        element = page.marked[capture.place]
        page.marked[capture.place] = element._replace(text=text.single_line("".join(capture.parts), 500))


ELEMENT_HANDLERS: dict[str, Callable[[PageBuilder, str, Attributes], None]] = {
    "base": add_base,
    "meta": add_meta,
    "link": add_head_link,
    "script": start_script,
    "title": start_title,
    "img": add_image,
    "i": add_icon,
    "svg": add_icon,
    "a": start_link,
    "area": start_link,
    "input": add_field,
    "textarea": add_field,
    "select": add_field,
}
