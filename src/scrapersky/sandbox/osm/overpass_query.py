"""Overpass QL, as much of it as a sensible client sends: tags, boxes, areas, circles, unions, and how to print."""

import re
from dataclasses import dataclass, field
from typing import Any

from scrapersky.core.errors import ScraperSkyError
from scrapersky.sandbox.osm.overpass_filters import Around, Statement, TagFilter
from scrapersky.sandbox.world.cities import City, CityBox, cities
from scrapersky.sandbox.world.data_files import table

AREA_OFFSET = 3_600_000_000
KINDS = {
    "node": {"node"},
    "way": {"way"},
    "relation": {"relation"},
    "rel": {"relation"},
    "nw": {"node", "way"},
    "nr": {"node", "relation"},
    "wr": {"way", "relation"},
    "nwr": {"node", "way", "relation"},
}
_TOKEN = re.compile(r'\s++|//[^\n]*+|"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|->|!=|!~|[\w.:+-]++|.', re.DOTALL)


class ParseError(ScraperSkyError):
    """The query is not one that can be read."""


@dataclass(slots=True)
class Query:
    """A whole query: what to look for and how to print it."""

    settings: dict[str, str] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    out: set[str] = field(default_factory=set)
    limit: int | None = None


def parse(text: str) -> Query:
    """Parse the query, or raise ParseError with the line and what was expected."""
    return _Parser(text).query()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, int]] = []
        for match in _TOKEN.finditer(text):
            if match[0].strip() and not match[0].startswith("//"):
                self._tokens.append((match[0], text.count("\n", 0, match.start()) + 1))
        self._at = 0
        self._areas: dict[str, list[CityBox]] = {}
        self._query = Query()

    def query(self) -> Query:
        while self._peek() == "[":
            self._setting()
            if self._peek() == ";":
                self._next()
        if self._query.settings.get("out") != "json":
            raise ParseError("line 1: parse error: the sandbox prints JSON only; begin with [out:json];")
        while self._peek():
            self._statement()
        return self._query

    def _statement(self) -> None:
        word = self._next()
        if word == "out":
            self._out()
        elif word == "area":
            self._area()
        elif word == "(":
            while self._peek() != ")":
                self._statement()
            self._next()
            self._name_of_set()
            self._expect(";")
        elif word in KINDS:
            self._elements(word)
        elif word in (">", "<", "_", "."):
            while self._next() != ";":
                continue
        else:
            raise self._error(f'Unknown type or statement "{word}"')

    def _setting(self) -> None:
        self._expect("[")
        name, _, value = self._next().partition(":")
        while self._peek() != "]":
            value += self._next()
        self._next()
        self._query.settings[name] = value

    def _elements(self, kind: str) -> None:
        statement = Statement(set(KINDS[kind]))
        if "bbox" in self._query.settings:
            statement.boxes.append(_box(self._query.settings["bbox"].split(","), self))
        while (word := self._next()) != ";":
            if word == "[":
                statement.tags.append(self._tag())
            elif word == "(":
                self._place(statement)
            elif word == "->":
                self._next()
            else:
                raise self._error("';' expected")
        self._query.statements.append(statement)

    def _tag(self) -> TagFilter:
        first = self._next()
        if first == "!":
            name = _plain(self._next())
            self._expect("]")
            return TagFilter(name, "missing")
        by_key = first == "~"
        name = _plain(self._next() if by_key else first)
        operator = self._next()
        if operator == "]" and not by_key:
            return TagFilter(name, "exists")
        if operator not in ("=", "!=", "~", "!~"):
            raise self._error("']' expected")
        value, flags = _plain(self._next()), 0
        if self._peek() == ",":
            self._next()
            flags = re.IGNORECASE if self._next() == "i" else 0
        self._expect("]")
        if "~" in operator:
            self._try(value)
        if by_key:
            self._try(name)
        return TagFilter(name, "~~" if by_key else operator, value, flags)

    def _place(self, statement: Statement) -> None:
        """Parse a box, an area, a circle or ids in parentheses."""
        inside = []
        while (word := self._next()) != ")":
            inside.append(word)
        words = "".join(inside)
        if words.startswith("area"):
            name = words.removeprefix("area").lstrip(".:")
            # An area that is not there holds nothing.
            statement.areas.append(_area_by_number(int(name)) if name.isdecimal() else self._areas.get(name or "_", []))
        elif words.isdecimal() or words.startswith("id:"):
            statement.ids.update(map(int, self._numbers(words.removeprefix("id:").split(","), words.count(",") + 1)))
        elif words.startswith("around:"):
            numbers = self._numbers(words.removeprefix("around:").split(","), 3)
            statement.circles.append(Around(*numbers))
        else:
            statement.boxes.append(_box(words.split(","), self))

    def _area(self) -> None:
        tags: list[TagFilter] = []
        boxes: list[CityBox] | None = None
        name = "_"
        while (word := self._next()) != ";":
            if word == "[":
                tags.append(self._tag())
            elif word == "(":
                number = "".join(self._until(")")).removeprefix("id:")
                boxes = _area_by_number(int(number)) if number.isdecimal() else []
            elif word == "->":
                name = self._next().lstrip(".")
        self._areas[name] = (
            [city.box for city in cities().values() if _is_meant(city, tags)] if boxes is None else boxes
        )

    def _out(self) -> None:
        for word in self._until(";"):
            if word.isdecimal():
                self._query.limit = int(word)
            else:
                self._query.out.add(word)
        if not self._query.out:
            self._query.out.add("body")

    def _name_of_set(self) -> None:
        if self._peek() == "->":
            self._next()
            self._next()

    # -- tokens --------------------------------------------------------------------------------------------------------

    def _until(self, end: str) -> list[str]:
        words = []
        while (word := self._next()) != end:
            words.append(word)
        return words

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        word = self._peek()
        if not word:
            raise self._error("unexpected end of the query")
        self._at += 1
        return word

    def _expect(self, word: str) -> None:
        if self._next() != word:
            raise self._error(f"'{word}' expected")

    def _numbers(self, words: list[str], count: int) -> list[float]:
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != count:
            raise self._error(f"{count} numbers expected")
        return numbers

    def _try(self, pattern: str) -> None:
        try:
            re.compile(pattern)
        except re.error:
            raise self._error(f'Invalid regular expression: "{pattern}"') from None

    def _error(self, what: str) -> ParseError:
        line = self._tokens[min(self._at, len(self._tokens)) - 1][1] if self._tokens else 1
        return ParseError(f"line {line}: parse error: {what}")


def _box(words: list[str], parser: _Parser) -> CityBox:
    box = CityBox(*parser._numbers(words, 4))
    if box.west > box.east:
        raise parser._error("the west of a bounding box must not be greater than its east")
    return box


def _area_by_number(number: int) -> list[CityBox]:
    relation = number - AREA_OFFSET
    found = [city.box for city in cities().values() if city.relation == relation]
    return found + [box_of(place) for place in table("places")["places"] if place["relation"] == relation]


def box_of(place: dict[str, Any]) -> CityBox:
    """Build the box of a place that is on the map without being a city of the sandbox."""
    latitude, longitude, half = place["latitude"], place["longitude"], place.get("degrees", 0.1)
    return CityBox(latitude - half, longitude - half, latitude + half, longitude + half)


def _is_meant(city: City, tags: list[TagFilter]) -> bool:
    known = {
        "name": city.name,
        "name:en": city.english,
        "boundary": "administrative",
        "admin_level": "8",
        "type": "boundary",
    }
    return all(tag.passes(known) for tag in tags)


def _plain(word: str) -> str:
    """Strip the quotes of a string."""
    if word[:1] in ("'", '"'):
        return word[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return word
