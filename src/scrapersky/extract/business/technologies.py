"""What a site is built with: signatures from a data file, looked for in what the page shows."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from re import Pattern
from typing import NamedTuple

from scrapersky.extract import regexes
from scrapersky.extract.document.model import Document

MAX_PLACE = 200_000  # characters that are searched, per place
MAX_EACH = 2_000  # characters of one script or one header


class Technology(NamedTuple):
    """Something the site uses, and the sign it was told by."""

    name: str
    category: str
    version: str = ""
    sign: str = ""


class Sign(NamedTuple):
    """A text to look for in one place; with a pattern when it holds a version."""

    written: str
    place: str
    text: str
    pattern: Pattern[str] | None


class Signature(NamedTuple):
    """All signs of one technology."""

    name: str
    category: str
    signs: tuple[Sign, ...]
    implies: tuple[str, ...]


def technologies_of(
    document: Document, headers: Mapping[str, str] | None = None, frames: Iterable[str] = ()
) -> tuple[Technology, ...]:
    """The technologies of a page in the order of the data file; those only implied come without a sign of their own."""
    places = _places(document, headers or {}, frames)
    found: dict[str, Technology] = {}
    for signature in signatures():
        technology = _look_for(signature, places)
        if technology is not None:
            found[signature.name] = technology
    for signature in signatures():
        if signature.name in found:
            for name in signature.implies:
                implied = Technology(name, category_of(name), sign=f"implied by {signature.name}")
                found.setdefault(name, implied)
    order = {signature.name: index for index, signature in enumerate(signatures())}
    return tuple(sorted(found.values(), key=lambda technology: order[technology.name]))


def _look_for(signature: Signature, places: Mapping[str, str]) -> Technology | None:
    """The first sign that shows a version, else the first that is there at all."""
    seen: Sign | None = None
    for sign in signature.signs:
        place = places[sign.place]
        if sign.pattern is None:
            if seen is None and sign.text in place:
                seen = sign
        elif (match := sign.pattern.search(place)) is not None:
            return Technology(signature.name, signature.category, match.groupdict().get("version", ""), sign.written)
    return Technology(signature.name, signature.category, "", seen.written) if seen is not None else None


def _places(document: Document, headers: Mapping[str, str], frames: Iterable[str]) -> dict[str, str]:
    scripts = [script.src for script in document.scripts]
    assets = [
        *scripts,
        *(reference.href for reference in document.references),
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
    """The different texts, one per line, lower case."""
    kept: list[str] = []
    length = 0
    for text in dict.fromkeys(texts):
        length += len(text) + 1
        if length > MAX_PLACE:
            break
        kept.append(text)
    return "\n".join(kept).lower()


def category_of(name: str) -> str:
    """The category of a technology of the table."""
    return next(signature.category for signature in signatures() if signature.name == name)


@cache
def signatures() -> tuple[Signature, ...]:
    """The signatures of the data file, read once."""
    text = resources.files("scrapersky.extract").joinpath("data/technologies.toml").read_text("utf-8")
    return tuple(
        Signature(name, entry["category"], tuple(map(_sign, entry["signs"])), tuple(entry.get("implies", ())))
        for name, entry in tomllib.loads(text).items()
    )


def _sign(written: str) -> Sign:
    place, _, text = written.partition(": ")
    return Sign(written, place, text, regexes.signature(text) if "{" in text else None)
