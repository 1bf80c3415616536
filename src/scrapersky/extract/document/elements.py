"""Elements with a meaning: what is kept of the head, links, pictures, forms and marked elements of a page."""

from collections.abc import Callable

from scrapersky.extract import text
from scrapersky.extract.document.builder import Capture, Collected
from scrapersky.extract.document.markup import BLOCK_TAGS, EVENT_ATTRIBUTES, HIDDEN_MAIL, NO_ZONES, names_of, url_of
from scrapersky.extract.document.model import Attributes, Field, Form, HeadLink, Image, Link, Marked, Meta, Script

MAX_SCRIPT = 200_000
MAX_FIELDS = 200
_new = tuple.__new__  # a named tuple without its constructor: half the time, and pages have many
_NO_LINK = Link("", "", "", "", "", -1, -1, NO_ZONES)  # holds the place until the link's text is known

# -- the head ---------------------------------------------------------------------------------------------------------


def base(page: Collected, tag: str, attributes: Attributes) -> None:
    """Where the addresses of the page begin."""
    page.base = page.base or url_of(attributes.get("href", ""))


def meta(page: Collected, tag: str, attributes: Attributes) -> None:
    """A meta element under the first of its names."""
    key = (
        attributes.get("name")
        or attributes.get("property")
        or attributes.get("http-equiv")
        or attributes.get("itemprop")
        or ("charset" if "charset" in attributes else "")
    )
    if key and page.has_room(page.metas, "metas"):
        content = attributes.get("content") or attributes.get("charset", "")
        page.metas.append(Meta(text.single_line(key, 100).lower(), text.single_line(content, 5_000)))


def reference(page: Collected, tag: str, attributes: Attributes) -> None:
    """A link element: stylesheet, icon, canonical …"""
    if page.has_room(page.references, "references"):
        given = attributes.get
        page.references.append(
            HeadLink(
                given("rel", "")[:100].lower(),
                url_of(given("href", "")),
                given("type", "")[:100],
                given("sizes", "")[:100],
                text.single_line(given("title", ""), 100),
                given("hreflang", "")[:35],
            )
        )


def title(page: Collected, tag: str, attributes: Attributes) -> None:
    """The title; its text is not one of the page's blocks."""
    page.capture(end_title, attributes)


def end_title(page: Collected, capture: Capture) -> None:
    """The first title counts."""
    page.title = page.title or text.single_line("".join(capture.parts), 500)


def script(page: Collected, tag: str, attributes: Attributes) -> None:
    """A script and its code."""
    page.capture(end_script, attributes)


def end_script(page: Collected, capture: Capture) -> None:
    """Code is kept as written, not cleaned: its values are cleaned when they are taken out."""
    if page.has_room(page.scripts, "scripts"):
        kind = text.single_line(capture.attributes.get("type", ""), 100).lower()
        source = "".join(capture.parts)
        if len(source) > MAX_SCRIPT:
            page.cut.add("scripts")
        page.scripts.append(Script(kind, url_of(capture.attributes.get("src", "")), source[:MAX_SCRIPT]))


# -- links and pictures -----------------------------------------------------------------------------------------------


def anchor(page: Collected, tag: str, attributes: Attributes) -> None:
    """A link; it takes its place where it begins."""
    place = len(page.links)
    if "href" in attributes and page.has_room(page.links, "links") and page.capture(end_anchor, attributes, place):
        page.links.append(_NO_LINK)


def end_anchor(page: Collected, capture: Capture) -> None:
    """The link with its text."""
    attributes = capture.attributes
    label = attributes.get("aria-label") or attributes.get("title", "")
    link = (
        url_of(attributes["href"]),
        text.single_line("".join(capture.parts), 500),
        text.single_line(label, 300) if label else "",
        attributes["rel"][:100].lower() if "rel" in attributes else "",
        names_of(attributes),
        capture.block,
        capture.node,
        capture.zones,
    )
    page.links[capture.place] = _new(Link, link)


def image(page: Collected, tag: str, attributes: Attributes) -> None:
    """A picture; its alternative text is an icon of the line it stands in."""
    alt = text.single_line(attributes.get("alt", ""), 300)
    if page.has_room(page.images, "images"):
        source = url_of(attributes.get("src") or attributes.get("data-src", ""))
        page.images.append(_new(Image, (source, alt, names_of(attributes), page.node, page.zones)))
    if alt:
        page.see(alt)


def icon(page: Collected, tag: str, attributes: Attributes) -> None:
    """An element that icon fonts draw in, or a drawing."""
    if names := attributes.get("class"):
        page.see(text.single_line(names, 100).lower())


# -- forms and marked elements ----------------------------------------------------------------------------------------


def field(page: Collected, tag: str, attributes: Attributes) -> None:
    """A field of the form that is open."""
    if page.form is not None and len(page.fields) < MAX_FIELDS:
        values = (text.single_line(attributes.get(name, ""), 200) for name in ("type", "name", "placeholder"))
        page.fields.append(Field(tag, *values))


def end_form(page: Collected) -> None:
    """The form that is open, with its fields."""
    if page.form is not None and page.has_room(page.forms, "forms"):
        attributes = page.form[1]
        method = text.single_line(attributes.get("method", ""), 10).lower() or "get"
        form = Form(url_of(attributes.get("action", "")), method, names_of(attributes), tuple(page.fields))
        page.forms.append(form)
    page.form, page.fields = None, []


def mark(page: Collected, tag: str, attributes: Attributes) -> None:
    """Keep an element whose attributes may carry a contact."""
    for name in attributes:
        if name.startswith("data-") or name in EVENT_ATTRIBUTES:
            break
    else:
        if tag != HIDDEN_MAIL:
            return
    if not page.has_room(page.marked, "marked"):
        return
    place = len(page.marked)
    scope = page.scopes[-1][1] if page.scopes else -1
    page.marked.append(_new(Marked, (tag, attributes, "", page.node, scope)))
    if "itemscope" in attributes:
        page.scopes.append((page.depth, place))
    elif tag not in BLOCK_TAGS or "itemprop" in attributes:
        page.capture(end_marked, attributes, place)


def end_marked(page: Collected, capture: Capture) -> None:
    """The marked element with its text."""
    if capture.parts:
        element = page.marked[capture.place]
        page.marked[capture.place] = element._replace(text=text.single_line("".join(capture.parts), 500))


SPECIAL: dict[str, Callable[[Collected, str, Attributes], None]] = {
    "base": base,
    "meta": meta,
    "link": reference,
    "script": script,
    "title": title,
    "img": image,
    "i": icon,
    "svg": icon,
    "a": anchor,
    "area": anchor,
    "input": field,
    "textarea": field,
    "select": field,
}
