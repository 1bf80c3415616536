"""lxml in the place of turbohtml: its events handed on as turbohtml would call them out."""

from collections.abc import Mapping

from lxml import etree
from turbohtml.saxparse import SaxHandler


def feed(html: str, handler: SaxHandler) -> None:
    """Read the page with lxml; an empty one has no events, and lxml calls it an error."""
    if not html.strip():
        return
    reader = etree.HTMLParser(target=_Target(handler), encoding="utf-8")
    reader.feed(html.encode())
    reader.close()


class _Target:
    """What lxml calls."""

    def __init__(self, handler: SaxHandler) -> None:
        self.handler = handler

    def start(self, tag: str | bytes, attributes: Mapping[str | bytes, str | bytes]) -> None:
        self.handler.start_element(str(tag), tuple((str(name), str(value)) for name, value in attributes.items()))

    def end(self, tag: str | bytes) -> None:
        self.handler.end_element(str(tag))

    def data(self, data: str | bytes) -> None:
        self.handler.characters(str(data))

    def comment(self, text: str | bytes) -> None:
        self.handler.comment(str(text))

    def close(self) -> None:
        """Nothing is left to do at the end of the input."""
