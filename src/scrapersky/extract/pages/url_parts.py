"""The parts of a URL that identify a kind of page: host, language prefix, folders, name and query."""

from typing import NamedTuple
from urllib.parse import unquote

from scrapersky.extract.pages.vocabulary import MAX_NAME_LENGTH, load_vocabulary
from scrapersky.extract.word_lists import word_set

MAX_URL_LENGTH = 2048
PAGE_ENDINGS = word_set(
    "html htm xhtml shtml dhtml phtml php php3 php4 php5 asp aspx jsp jspx jsf cfm cgi pl do action nsf mvc"
)
FILE_ENDINGS = word_set(
    """
    jpg jpeg png gif svg webp avif bmp ico tif tiff eps psd pdf doc docx xls xlsx ppt pptx odt ods csv zip rar gz tgz 7z
    tar mp3 mp4 m4a m4v mov avi wmv webm ogg wav flac css js mjs map json xml rss atom txt woff woff2 ttf eot otf exe
    dmg apk epub ics vcf kml gpx
    """
)


class UrlParts(NamedTuple):
    """The parts of a URL that can identify the kind of its page."""

    host: str
    language: str  # language or country prefix, such as fi or en-gb
    folders: list[str]
    leaf: str  # last part of the path, without .html and the like
    ending: str
    query: str


def split_url(url: str) -> UrlParts:
    """Split a URL, absolute or relative."""
    host, path, query = _split_host_path_query(url[:MAX_URL_LENGTH])
    names = [name for name in path.split("/") if name]
    language = ""
    while names and len(names[0]) in (2, 5) and _is_language(names[0]):
        language = names.pop(0).lower()
    if not names:
        return UrlParts(host, language, names, "", "", query)
    leaf = names.pop()
    ending = ""
    if "." in leaf:
        before, _, after = leaf.rpartition(".")
        after = after.lower()
        if after in PAGE_ENDINGS or after in FILE_ENDINGS:
            leaf, ending = before, after
    if leaf.lower() in ("index", "default") and ending not in FILE_ENDINGS:
        leaf = names.pop() if names else ""
    return UrlParts(host, language, names, leaf, ending, query)


def _split_host_path_query(url: str) -> tuple[str, str, str]:
    """Return host, path and query; faster than urlsplit, since a sitemap may list a million URLs."""
    url = url.partition("#")[0]
    url, _, query = url.partition("?")
    scheme = url.find("://")
    if scheme < 0:
        if not url.startswith("//"):
            return "", url, query
        scheme = -1  # //host/path
    host, _, path = url[scheme + 3 :].partition("/")
    return host, path.partition(";")[0] if ";" in path else path, query


def _is_language(name: str) -> bool:
    """Return whether a name is a prefix such as fi or en-gb, not a word of the vocabulary such as om or om-os."""
    letters = name if len(name) == 2 else name[:2] + name[3:] if name[2] in "-_" else ""
    return letters.isascii() and letters.isalpha() and load_vocabulary().entry(name) is None


def readable_name(name: str) -> str:
    """Return a part of a URL percent-decoded, with a hyphen between the words of camelCase."""
    name = name[:1000]
    if "%" in name:
        decoded = unquote(name, errors="replace")
        name = decoded if "\ufffd" not in decoded else unquote(name, encoding="cp1252", errors="replace")
    if name.islower():
        return name
    pieces: list[str] = []
    for before, letter in zip(" " + name, name[:MAX_NAME_LENGTH], strict=False):
        pieces.append(f"-{letter}" if letter.isupper() and before.islower() else letter)
    return "".join(pieces)
