"""Tokenizes markup into tags, text, comments and CDATA; the markup may be broken and may arrive in any pieces.

DTDs and entities are not supported: a document type is skipped.
"""

import re
from collections.abc import Callable
from typing import Protocol

from scrapersky.crawl.sitemaps.loc import unescape

MAX_TAG_CHARS = 16_384

_TAG = re.compile(r"""<(/?+)([^\s<>/"'=!?]++)((?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+)>""")
_LOOSE_TAG = re.compile(r"<(/?+)([^\s<>/\"'=!?]++)([^<>]*+)>")
_INSTRUCTION = re.compile(r"<\?[^<>]*+>")
_SIGNS = re.compile(r"<++")
_DECLARATION_STOP = re.compile(r"[\[>]")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]{1,100}+)[ \t\r\n]{0,100}+=[ \t\r\n]{0,100}+(?:"([^"<]*+)"|'([^'<]*+)')""")
_MAX_OPENING_CHARS = len("<![CDATA[")


class MarkupHandler(Protocol):
    """Receives the tokens."""

    def start(self, name: str, attributes: str, empty: bool) -> None:
        """Handle a start tag: its attributes as written, and whether it closes itself."""

    def end(self, name: str) -> None:
        """Handle an end tag."""

    def text(self, raw: str) -> None:
        """Handle text with its references not yet decoded; one text may come in several pieces."""


class Tokenizer:
    """Passes tokens to a handler; the tokens do not depend on how the text is cut into pieces."""

    def __init__(self, handler: MarkupHandler) -> None:
        self.inside: str | None = None
        self.stopped = False
        # Called at every tag while it is set: it may consume whole records and returns the new position.
        self.shortcut: Callable[[str, int], int] | None = None
        self._handler = handler
        self._held = ""

    def feed(self, text: str, *, final: bool = False) -> None:
        """Tokenize this text; an incomplete token at its end is held back until there is more."""
        buffer = self._held + text if self._held else text
        position, size = 0, len(buffer)
        while position < size and not self.stopped:
            before = position
            if self.inside is not None:
                position = self._within(buffer, position, final)
            elif buffer[position] == "<":
                if self.shortcut is not None:
                    position = self.shortcut(buffer, position)
                if position == before:
                    position = self._markup(buffer, position, final)
            else:
                position = self._text(buffer, position)
            if position == before:
                break
        self._held = buffer[position:]

    def _text(self, buffer: str, position: int) -> int:
        end = buffer.find("<", position)
        end = len(buffer) if end < 0 else end
        self._handler.text(buffer[position:end])
        return end

    def _markup(self, buffer: str, position: int, final: bool) -> int:
        if buffer.startswith("<<", position):
            return self._less_than_signs(buffer, position)
        if buffer.startswith("<!", position):
            return self._open(buffer, position, final)
        # A tag is matched when the next one is in the buffer, so that a ">" in an attribute is read the same way.
        end = buffer.find("<", position + 1, position + MAX_TAG_CHARS)
        if end < 0:
            if len(buffer) - position < MAX_TAG_CHARS and not final:
                return position
            end = min(len(buffer), position + MAX_TAG_CHARS)
        match = _TAG.match(buffer, position, end) or _LOOSE_TAG.match(buffer, position, end)
        if match is not None:
            self._handle_tag(match)
            return match.end()
        instruction = _INSTRUCTION.match(buffer, position, end)
        if instruction is not None:
            return instruction.end()
        self._handler.text("&lt;")
        return position + 1

    def _less_than_signs(self, buffer: str, position: int) -> int:
        """Handle a run of "<": all but the last are text."""
        run = _SIGNS.match(buffer, position)
        last = run.end() - 1 if run is not None else position + 1
        self._handler.text("&lt;" * (last - position))
        return last

    def _handle_tag(self, match: re.Match[str]) -> None:
        slash, name, attributes = match.groups()
        if slash:
            self._handler.end(name)
        else:
            self._handler.start(name, attributes, attributes.endswith("/"))

    def _open(self, buffer: str, position: int, final: bool) -> int:
        """Enter a comment, a CDATA section or a declaration."""
        if len(buffer) - position < _MAX_OPENING_CHARS and not final:
            return position
        if buffer.startswith("<!--", position):
            self.inside = "comment"
            return position + len("<!--")
        if buffer.startswith("<![CDATA[", position):
            self.inside = "CDATA section"
            return position + len("<![CDATA[")
        self.inside = "declaration"
        return position + len("<!")

    def _within(self, buffer: str, position: int, final: bool) -> int:
        if self.inside == "comment":
            return self._until("-->", buffer, position, final)
        if self.inside == "CDATA section":
            return self._until("]]>", buffer, position, final)
        if self.inside == "document type":
            end = buffer.find("]", position)
            if end < 0:
                return len(buffer)
            self.inside = "declaration"
            return end + 1
        stop = _DECLARATION_STOP.search(buffer, position)
        if stop is None:
            return len(buffer)
        self.inside = "document type" if stop[0] == "[" else None
        return stop.end()

    def _until(self, closing: str, buffer: str, position: int, final: bool) -> int:
        """Skip to the closing characters; if they are not in the buffer, keep its last characters for the next call."""
        end = buffer.find(closing, position)
        stop = end if end >= 0 else len(buffer) if final else max(position, len(buffer) - len(closing) + 1)
        if self.inside == "CDATA section" and stop > position:
            self._handler.text(buffer[position:stop].replace("&", "&amp;").replace("<", "&lt;"))
        if end < 0:
            return stop
        self.inside = None
        return end + len(closing)


def read_attributes(written: str) -> dict[str, str]:
    """Return decoded attributes by lower-case name; the first of a name counts."""
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(written):
        value = match[2] if match[2] is not None else match[3]
        attributes.setdefault(match[1].lower(), unescape(value).strip())
    return attributes


def split_name(name: str) -> tuple[str, str]:
    """Split a tag name into prefix and local part, both in lower case."""
    prefix, colon, local = name.lower().rpartition(":")
    return prefix + colon, local
