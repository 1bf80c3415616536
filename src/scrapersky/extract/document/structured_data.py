"""JSON-LD and microdata of a page as plain dictionaries: flattened and limited."""

import json
from collections.abc import Iterator
from typing import Any

from scrapersky.extract.document.model import Document, MarkedElement
from scrapersky.extract.text import single_line

MAX_THINGS = 500
MAX_DEPTH = 12
MAX_SCRIPTS = 30
# Properties about customers and authors, not about people of the business.
OTHER_PEOPLE = frozenset(("review", "reviews", "author", "creator", "comment", "aggregateRating", "contributor"))

Thing = dict[str, Any]


def read_things(document: Document) -> list[Thing]:
    """Return every object of the page's JSON-LD with a type or a contact, and every microdata item."""
    json_ld = [script.text for script in document.scripts if "ld+json" in script.type]
    found: list[Thing] = []
    for source in json_ld[:MAX_SCRIPTS]:
        found.extend(_walk(_load(source), 0))
        if len(found) >= MAX_THINGS:
            break
    if any("itemscope" in element.attributes for element in document.marked):
        found.extend(_microdata(document.marked))
    return found[:MAX_THINGS]


def thing_types(thing: Thing) -> set[str]:
    """Return the types of a thing, without their vocabulary, lower case."""
    given = thing.get("@type", ())
    return {str(one).rsplit("/", 1)[-1].lower() for one in (given if isinstance(given, list) else [given])}


def property_texts(value: Any) -> list[str]:
    """Return a property as clean texts: one, several, or the name of a nested thing."""
    if isinstance(value, str):
        cleaned = single_line(value, 500)
        return [cleaned] if cleaned else []
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [str(value)]
    if isinstance(value, list):
        return [text for one in value[:50] for text in property_texts(one)]
    if isinstance(value, dict):
        return property_texts(value.get("name") or value.get("@value") or value.get("url"))
    return []


def _load(source: str) -> Any:
    source = source.strip().removeprefix("<!--").removesuffix("-->").removeprefix("//<![CDATA[").removesuffix("//]]>")
    try:
        # parse_int as text: an integer of 5,000 digits would raise an error.
        return json.loads(source.strip().rstrip(";"), strict=False, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None  # broken JSON-LD is common


def _walk(value: Any, depth: int) -> Iterator[Thing]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        for one in value[:200]:
            yield from _walk(one, depth + 1)
    elif isinstance(value, dict):
        if "@type" in value or "telephone" in value or "email" in value or "sameAs" in value:
            yield value
        for key, one in list(value.items())[:100]:
            if isinstance(one, dict | list) and key not in OTHER_PEOPLE:
                yield from _walk(one, depth + 1)


def _microdata(marked: tuple[MarkedElement, ...]) -> Iterator[Thing]:
    """Yield the items in document order; a nested item is also a property of the outer one."""
    items: dict[int, Thing] = {}
    for index, element in enumerate(marked):
        attributes = element.attributes
        value: Any
        if "itemscope" in attributes:
            value = items[index] = {"@type": attributes.get("itemtype", "").split()}
        else:
            value = next((attributes[key] for key in ("content", "href", "src", "datetime") if key in attributes), "")
            value = value or element.text
        outer = items.get(element.scope)
        if outer is not None and value:
            for name in attributes.get("itemprop", "").split()[:5]:
                outer.setdefault(name, []).append(value)
    yield from items.values()
