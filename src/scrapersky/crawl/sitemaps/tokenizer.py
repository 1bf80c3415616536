"""Tags, text, comments and CDATA out of markup that may be broken anywhere and may arrive in any pieces.

There is no DTD and no entity machinery: a document type is skipped, whatever it declares.
"""

import re
from collections.abc import Callable
from typing import Protocol

from scrapersky.crawl.sitemaps.entry import SITEMAP_FIELDS, Extension
from scrapersky.crawl.sitemaps.loc import unescape

MAX_TAG_CHARS = 16_384
MAX_EXTENSIONS = 1_000
_MAX_EXTENSION_CHARS = 4_096
_NO_EXTENSIONS = frozenset([*SITEMAP_FIELDS, "url", "sitemap"])

_TAG = re.compile(r"""<(/?+)([^\s<>/"'=!?]++)((?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+)>""")
_LOOSE_TAG = re.compile(r"<(/?+)([^\s<>/\"'=!?]++)([^<>]*+)>")
_INSTRUCTION = re.compile(r"<\?[^<>]*+>")
_SIGNS = re.compile(r"<++")
_DECLARATION_STOP = re.compile(r"[\[>]")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]{1,100}+)[ \t\r\n]{0,100}+=[ \t\r\n]{0,100}+(?:"([^"<]*+)"|'([^'<]*+)')""")
_LONGEST_OPENING = len("<![CDATA[")


class MarkupHandler(Protocol):
    """Whoever wants to know what is in the markup."""

    def start(self, name: str, attributes: str, empty: bool) -> None:
        """A start tag, its attributes as written, and whether it closes itself."""

    def end(self, name: str) -> None:
        """An end tag."""

    def text(self, raw: str) -> None:
        """Text with its references not yet decoded; it may come in several pieces."""


class Tokenizer:
    """Tells a handler what the markup holds; however the text is cut into pieces, the story is the same."""

    def __init__(self, handler: MarkupHandler) -> None:
        self.inside: str | None = None
        self.stopped = False
        # Asked at every tag while it is set: it may take whole records and says how far it came.
        self.shortcut: Callable[[str, int], int] | None = None
        self._handler = handler
        self._held = ""

    def feed(self, text: str, *, final: bool = False) -> None:
        """Tell about this text; what cannot be judged yet is held back until there is more."""
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
            return self._lone_signs(buffer, position)
        if buffer.startswith("<!", position):
            return self._open(buffer, position, final)
        # A tag is judged when the next one is in sight, so that a ">" in an attribute is judged the same in any pieces.
        end = buffer.find("<", position + 1, position + MAX_TAG_CHARS)
        if end < 0:
            if len(buffer) - position < MAX_TAG_CHARS and not final:
                return position
            end = min(len(buffer), position + MAX_TAG_CHARS)
        match = _TAG.match(buffer, position, end) or _LOOSE_TAG.match(buffer, position, end)
        if match is not None:
            self._tell_tag(match)
            return match.end()
        instruction = _INSTRUCTION.match(buffer, position, end)
        if instruction is not None:
            return instruction.end()
        self._handler.text("&lt;")
        return position + 1

    def _lone_signs(self, buffer: str, position: int) -> int:
        """A row of "<" is text but for the last of them."""
        run = _SIGNS.match(buffer, position)
        last = run.end() - 1 if run is not None else position + 1
        self._handler.text("&lt;" * (last - position))
        return last

    def _tell_tag(self, match: re.Match[str]) -> None:
        slash, name, attributes = match.groups()
        if slash:
            self._handler.end(name)
        else:
            self._handler.start(name, attributes, attributes.endswith("/"))

    def _open(self, buffer: str, position: int, final: bool) -> int:
        """Enter a comment, a CDATA section or a declaration."""
        if len(buffer) - position < _LONGEST_OPENING and not final:
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
        """Go on to the closing characters; all but two more characters are passed when they are not in sight."""
        end = buffer.find(closing, position)
        stop = end if end >= 0 else len(buffer) if final else max(position, len(buffer) - len(closing) + 1)
        if self.inside == "CDATA section" and stop > position:
            self._handler.text(buffer[position:stop].replace("&", "&amp;").replace("<", "&lt;"))
        if end < 0:
            return stop
        self.inside = None
        return end + len(closing)


def read_attributes(written: str) -> dict[str, str]:
    """Attributes by lower-case name, decoded; the first of a name counts."""
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(written):
        value = match[2] if match[2] is not None else match[3]
        attributes.setdefault(match[1].lower(), unescape(value).strip())
    return attributes


def split_name(name: str) -> tuple[str, str]:
    """The prefix and the local part of a tag's name, both in lower case."""
    prefix, colon, local = name.lower().rpartition(":")
    return prefix + colon, local


def read_extensions(markup: str) -> tuple[Extension, ...]:
    """The extension elements in the markup of an entry; its own tag and fields may be among it."""
    builder = _ExtensionBuilder()
    tokenizer = Tokenizer(builder)
    tokenizer.feed(markup, final=True)
    return builder.done()


class _ExtensionBuilder:
    """Collects one Extension per outermost element."""

    def __init__(self) -> None:
        self._done: list[Extension] = []
        self._open: list[str] = []
        self._fields: list[tuple[str, str]] = []
        self._kind = ""
        self._text = ""

    def start(self, name: str, attributes: str, empty: bool) -> None:
        local = split_name(name)[1]
        if not self._open and local in _NO_EXTENSIONS:
            return
        if not self._open:
            self._kind = "alternate" if local == "link" else local
            self._fields = list(read_attributes(attributes).items())
        self._text = ""
        self._open.append(name.lower())
        if empty:
            self.end(name)

    def end(self, name: str) -> None:
        name = name.lower()
        if name not in self._open:
            return
        value = unescape(self._text[:_MAX_EXTENSION_CHARS]).strip()
        if value:
            self._fields.append((split_name(name)[1], value))
        self._text = ""
        while self._open.pop() != name:
            pass
        if not self._open:
            self._finish()

    def text(self, raw: str) -> None:
        if self._open and len(self._text) < _MAX_EXTENSION_CHARS:
            self._text += raw

    def done(self) -> tuple[Extension, ...]:
        if self._open:
            self._finish()
        return tuple(self._done)

    def _finish(self) -> None:
        if len(self._done) < MAX_EXTENSIONS:
            self._done.append(Extension(self._kind, tuple(self._fields)))
