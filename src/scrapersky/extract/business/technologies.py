"""The technologies that a site uses, recognised by the signatures of a data file."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from scrapersky.extract.document.model import Document
from scrapersky.extract.word_lists import load_table

MAX_PLACE = 200_000  # characters searched in each place
MAX_EACH = 2_000  # characters of one script or one header


class Technology(NamedTuple):
    """A technology of the site, and the sign by which it was recognised."""

    name: str
    category: str
    version: str = ""
    sign: str = ""


class Sign(NamedTuple):
    """A text to search in one place; with a pattern if it has a version."""

    written: str
    place: str
    text: str
    pattern: re.Pattern[str] | None


class Signature(NamedTuple):
    """The signs of one technology."""

    name: str
    category: str
    signs: tuple[Sign, ...]
    implies: tuple[str, ...]


def find_technologies(
    document: Document, headers: Mapping[str, str] | None = None, frames: Iterable[str] = ()
) -> tuple[Technology, ...]:
    """Return the technologies of a page in the order of the data file; implied ones have no sign of their own."""
    places = search_places(document, headers or {}, frames)
    found: dict[str, Technology] = {}
    for signature in load_signatures():
        technology = _recognise(signature, places)
        if technology is not None:
            found[signature.name] = technology
    for signature in load_signatures():
        if signature.name in found:
            for name in signature.implies:
                implied = Technology(name, category_of(name), sign=f"implied by {signature.name}")
                found.setdefault(name, implied)
    order = {signature.name: index for index, signature in enumerate(load_signatures())}
    return tuple(sorted(found.values(), key=lambda technology: order[technology.name]))


def _recognise(signature: Signature, places: Mapping[str, str]) -> Technology | None:
    """Return the technology by the first sign with a version, else by the first sign found; None without a sign."""
    seen: Sign | None = None
    for sign in signature.signs:
        place = places[sign.place]
        if sign.pattern is None:
            if seen is None and sign.text in place:
                seen = sign
        elif (match := sign.pattern.search(place)) is not None:
            return Technology(signature.name, signature.category, match.groupdict().get("version", ""), sign.written)
    return Technology(signature.name, signature.category, "", seen.written) if seen is not None else None


def search_places(document: Document, headers: Mapping[str, str], frames: Iterable[str]) -> dict[str, str]:
    """Return the text of each place in which signs are searched, in lower case."""
    scripts = [script.src for script in document.scripts]
    assets = [
        *scripts,
        *(link.href for link in document.head_links),
        *(image.src for image in document.images),
        *(form.action for form in document.forms),
        *frames,
    ]
    names = [
        *(node.names for node in document.nodes),
        *(image.names for image in document.images),
        *(form.names for form in document.forms),
        *(element.attributes.get("class", "") for element in document.marked),
        *(field.name for form in document.forms for field in form.fields),
    ]
    return {
        "generator": _joined(meta.content for meta in document.metas if meta.key == "generator"),
        "meta": _joined(f"{meta.key}={meta.content}" for meta in document.metas),
        "script": _joined(scripts),
        "asset": _joined(assets),
        "code": _joined(script.text[:MAX_EACH] for script in document.scripts if not script.src),
        "class": _joined(names),
        "comment": _joined(document.comments),
        "link": _joined(link.href for link in document.links),
        "header": _joined(f"{name}: {value}"[:MAX_EACH] for name, value in headers.items()),
    }


def _joined(texts: Iterable[str]) -> str:
    """Join the distinct texts in lower case, one on each line."""
    kept: list[str] = []
    length = 0
    for text in dict.fromkeys(texts):
        length += len(text) + 1
        if length > MAX_PLACE:
            break
        kept.append(text)
    return "\n".join(kept).lower()


def category_of(name: str) -> str:
    """Return the category of a technology of the data file."""
    return next(signature.category for signature in load_signatures() if signature.name == name)


@cache
def load_signatures() -> tuple[Signature, ...]:
    """Load the signatures of the data file."""
    return tuple(
        Signature(name, entry["category"], tuple(map(_parse_sign, entry["signs"])), tuple(entry.get("implies", ())))
        for name, entry in load_table("technologies").items()
    )


def _parse_sign(written: str) -> Sign:
    place, _, text = written.partition(": ")
    return Sign(written, place, text, compile_sign(text) if "{" in text else None)


def compile_sign(text: str) -> re.Pattern[str]:
    """Compile a sign: {version} is a version number, {any} and {id} are limited runs of characters on one line."""
    pattern = re.escape(text)
    pattern = pattern.replace(re.escape("{any}"), r"[^\n]{0,120}?").replace(re.escape("{id}"), r"[\w-]{1,60}")
    return re.compile(pattern.replace(re.escape("{version}"), r"(?P<version>\d{1,10}(?:\.\d{1,6}){0,4})"))
