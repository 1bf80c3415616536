"""Forms as browsers send them: encoded in the way of URLs, or in parts with files."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from pydantic import ValidationError

from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark
from scrapersky.core.errors import BadRequest, ScraperSkyError

MAX_FIELDS = 1_100  # of a form: a page of rows has 200 at most, a selection 1,000
URL_ENCODED, IN_PARTS = "application/x-www-form-urlencoded", "multipart/form-data"
_BOUNDARY = re.compile(r'boundary="?([\w\'()+,./:=?-]{1,70})"?', re.ASCII)
_NAME = re.compile(rb'form-data; {0,3}name="([^"]{0,200})"(?:; {0,3}filename="([^"]{0,1000})")?', re.IGNORECASE)


class BadForm(BadRequest):
    """The form could not be read."""


@dataclass(frozen=True)
class SentFile:
    """A file of a form."""

    name: str
    content: bytes


@dataclass(frozen=True)
class SentFields:
    """The fields of a form; a field may occur several times."""

    values: Mapping[str, list[str]]
    files: Mapping[str, SentFile] = field(default_factory=dict)  # without fields in which no file was chosen

    def get(self, name: str) -> str:
        """Return the value of a field without surrounding spaces; empty if it was not sent."""
        return (self.values.get(name) or [""])[-1].strip()

    def all(self, name: str) -> list[str]:
        """Return every value of a field."""
        return list(self.values.get(name, ()))

    def encoded(self) -> str:
        """Return all fields as one text, the files among them as text; they can be sent again like that."""
        files = {name: [file.content.decode(errors="replace")] for name, file in self.files.items()}
        return urlencode({**self.values, **files}, doseq=True)


EMPTY, NO_NUMBER = mark("The field %(field)s is empty."), mark("The field %(field)s is no number.")
# What is said about the commonest kinds of wrong fields.
WRONG = {
    **dict.fromkeys(("missing", "too_short", "string_too_short"), EMPTY),
    **dict.fromkeys(("int_parsing", "float_parsing", "decimal_parsing", "finite_number"), NO_NUMBER),
}


def explain(error: ScraperSkyError) -> str:
    """Return what went wrong: the sentence of the error's class, and its message if it says more."""
    said = _(str(error))
    return f"{_(error.title)} {said}" if str(error) and said != _(error.title) else _(error.title)


def wrong_field(error: ValidationError) -> str:
    """Return what is wrong with the first field that was refused, in a sentence."""
    field, why = first_wrong(error)
    name = field.rpartition(".")[2].replace("_", " ") or _("form")
    if said := WRONG.get(error.errors()[0]["type"]):
        return _(said) % {"field": name}
    return _("The field %(field)s is not right: %(why)s.") % {"field": name, "why": why.rstrip(".")}


def first_wrong(error: ValidationError) -> tuple[str, str]:
    """Return the first field that was refused, and why."""
    first = error.errors()[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"].removeprefix("Value error, ")


def parse_form(content_type: str, body: bytes) -> SentFields:
    """Read the body of a form. Raises BadForm."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in (URL_ENCODED, IN_PARTS):
        raise BadForm(_("Send the form as %(kind)s or %(other)s.") % {"kind": URL_ENCODED, "other": IN_PARTS})
    values, files = dict[str, list[str]](), dict[str, SentFile]()
    try:
        if media_type == IN_PARTS:
            for name, file_name, content in _parts(content_type, body):
                if file_name is None:
                    values.setdefault(name, []).append(content.decode().replace("\0", ""))
                elif file_name or content:
                    files[name] = SentFile(file_name, content)
        else:
            for name, value in parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS):
                values.setdefault(name, []).append(value.replace("\0", ""))
    except ValueError:
        said = _("The form is not UTF-8, is not whole, or has more than %(count)s fields.")
        raise BadForm(said % {"count": f"{MAX_FIELDS:,}"}) from None
    return SentFields(values, files)


def _parts(content_type: str, body: bytes) -> Iterator[tuple[str, str | None, bytes]]:
    """Yield the name, the name of the file (None: it is not a file) and the content of each part. Raises ValueError."""
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise ValueError("no boundary")
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode(), MAX_FIELDS + 1)
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        raise ValueError("not whole")
    for piece in pieces[1:-1]:
        head, separator, content = piece.partition(b"\r\n\r\n")
        named = _NAME.search(head)
        if named is None or not separator:
            raise ValueError("a part without a name")
        file_name = None if named[2] is None else named[2].decode().replace("\0", "")
        yield named[1].decode(), file_name, content
