"""The kind of a page by its URL, the text of a link to it and its title, with a score and the reason."""

from functools import lru_cache
from typing import NamedTuple

from scrapersky.extract.pages.url_parts import FILE_ENDINGS, UrlParts, readable_name, split_url
from scrapersky.extract.pages.vocabulary import STRONG, WEAK, NameMatch, PageKind, compact_name, load_vocabulary
from scrapersky.extract.word_lists import word_set

DEPTH_COST = 0.04  # subtracted for each folder above a page
FOLDER_SHARE = 0.75  # share of a folder's score for the pages in it, for each level
TITLE_SHARE = 0.8
AGREEMENT = 0.04
# Query keys by which small systems name their pages: index.php?page=contact
PAGE_KEYS = word_set(
    """
    page p seite sivu sida side pagina pag view option route section content action act do mod module name site show
    pagename page_id pageid id cid menu go nav doc file inc com cat article r
    """
)
HOME_VALUES = frozenset(("", "index", "default", "home", "main", "start"))


class PageClassification(NamedTuple):
    """The kind of a page, its score (0 to 1), and the word and the place that the kind is derived from."""

    kind: PageKind
    score: float
    word: str
    place: str  # path, folder, query, host, link text, title, root, file, scheme or nowhere

    @property
    def reason(self) -> str:
        """The reason as a sentence."""
        if self.place == "root":
            return "the address is the entrance of the site"
        if self.place == "scheme":
            return "the address is not one of the web"
        if self.place == "file":
            return f"the address ends in .{self.word}: a file, not a page"
        return f"“{self.word}” in the {self.place}" if self.word else "no known word in the address"


class FolderKind(NamedTuple):
    """The kind of the pages in a folder; in a listing folder the name of the page does not matter."""

    kind: PageKind
    score: float
    word: str
    is_listing: bool


UNKNOWN = PageClassification(PageKind.OTHER, 0.0, "", "nowhere")
NOT_WEB = PageClassification(PageKind.OTHER, 0.0, "", "scheme")
HOME = PageClassification(PageKind.HOME, 0.95, "", "root")


def classify_page(url: str, text: str = "", title: str = "") -> PageClassification:
    """Classify a page by its URL and, where known, the text of a link to it and its title."""
    if "://" not in url and ":" in url.partition("/")[0]:
        return NOT_WEB
    guess = _by_url(split_url(url))
    if guess.place in ("root", "file") or not (text or title):
        return guess
    if text:
        guess = _combine(guess, _by_text(text))
    if title:
        guess = _combine(guess, _by_title(title))
    return guess


def _by_url(parts: UrlParts) -> PageClassification:
    if parts.ending in FILE_ENDINGS:
        return PageClassification(PageKind.OTHER, 0.0, parts.ending, "file")
    if parts.query and (by_query := _by_query(parts)) is not None:
        return by_query
    if not parts.leaf:
        return _by_host(parts.host)
    if parts.folders:
        return _by_path(parts)
    match = load_vocabulary().match(readable_name(parts.leaf))
    return _by_name(match, 0) if match is not None else _by_listing(parts.leaf)


def _by_path(parts: UrlParts) -> PageClassification:
    """Compare the page's own name with the names of its folders, the nearest first."""
    near: PageClassification | None = None
    for distance, folder in enumerate(reversed(parts.folders), 1):
        kind = folder_kind(folder)
        if kind is None:
            continue
        if kind.is_listing or (near is None and kind.kind is not PageKind.HOME):
            near = PageClassification(kind.kind, round(kind.score * FOLDER_SHARE**distance, 3), kind.word, "folder")
            if kind.is_listing:
                return near
    match = load_vocabulary().match(readable_name(parts.leaf))
    if match is None:
        return near or _by_listing(parts.leaf)
    own = _by_name(match, len(parts.folders))
    return own if near is None or match.is_whole or own.score > near.score else near


@lru_cache(maxsize=8192)
def folder_kind(written: str) -> FolderKind | None:
    """Return the kind of a folder by its name, or None."""
    name = readable_name(written)
    listing = load_vocabulary().listings.get(compact_name(name))
    if listing is not None:
        return FolderKind(listing, STRONG, compact_name(name), True)
    if len(name) == 4 and name.isascii() and name.isdigit() and name[:2] in ("19", "20"):
        return FolderKind(PageKind.BLOG, WEAK, "a year", True)
    match = load_vocabulary().match(name)
    if match is None or (not match.is_whole and match.score < 0.5):
        return None
    return FolderKind(match.kind, match.score, match.word, False)


def _by_name(match: NameMatch, depth: int) -> PageClassification:
    if match.kind is PageKind.HOME and match.is_whole and not depth:
        return HOME
    return PageClassification(match.kind, round(max(match.score - DEPTH_COST * depth, 0.2), 3), match.word, "path")


def _by_listing(leaf: str) -> PageClassification:
    listing = load_vocabulary().listings.get(compact_name(leaf)) if len(leaf) < 24 else None
    return PageClassification(listing, STRONG, compact_name(leaf), "path") if listing is not None else UNKNOWN


def named_page(query: str) -> str:
    """Return the parts of a query that name a page, such as id=43; "" for a language or a campaign."""
    if not query:
        return ""
    pairs = (pair.partition("=") for pair in query.replace(";", "&").split("&")[:12])
    return "&".join(f"{key}={value}" for key, _, value in pairs if key.lower() in PAGE_KEYS and value)


def _by_query(parts: UrlParts) -> PageClassification | None:
    """Classify the page that a query names; None when it names none (a language, a campaign)."""
    names_page = False
    best: NameMatch | None = None
    for pair in parts.query.replace(";", "&").split("&")[:12]:
        key, _, value = pair.partition("=")
        if key.lower() not in PAGE_KEYS or not value:
            continue
        names_page = names_page or value.lower() not in HOME_VALUES
        match = load_vocabulary().match(readable_name(value.removeprefix("com_").rpartition("/")[2]))
        if match is not None and (best is None or match.score > best.score):
            best = match
    if best is not None and best.kind is not PageKind.HOME:
        return PageClassification(best.kind, round(best.score * 0.95, 3), best.word, "query")
    return UNKNOWN if names_page and not parts.leaf else None


def _by_host(host: str) -> PageClassification:
    """Return the home page, unless the host name has another meaning: careers.example.com"""
    label, _, rest = host.partition(".")
    if "." not in rest:
        return HOME
    if label.startswith("xn--"):
        label = label[4:].encode("ascii", "ignore").decode("punycode", "replace")
    entry = load_vocabulary().entry(label)
    if entry is None or entry.kind is PageKind.HOME:
        return HOME
    return PageClassification(entry.kind, round(entry.weight * FOLDER_SHARE, 3), entry.word, "host")


def _by_text(text: str) -> PageClassification:
    match = load_vocabulary().match(text)
    if match is None:
        return UNKNOWN
    return PageClassification(match.kind, round(match.score * 0.95, 3), match.word, "link text")


def _by_title(title: str) -> PageClassification:
    """Classify a title by its best part: “Contact us | Acme” is a contact page."""
    best = UNKNOWN
    for sign in "|–—·»:•":
        title = title.replace(sign, "|")
    for part in title[:300].replace(" - ", "|").split("|")[:6]:
        match = load_vocabulary().match(part)
        if match is not None and match.kind is not PageKind.HOME and match.score * TITLE_SHARE > best.score:
            best = PageClassification(match.kind, round(match.score * TITLE_SHARE, 3), match.word, "title")
    return best


def _combine(one: PageClassification, other: PageClassification) -> PageClassification:
    """Return the one with the higher score; increase the score if both agree."""
    if other.place == "nowhere":
        return one
    better = other if other.score > one.score else one
    if one.kind is other.kind:
        return better._replace(score=round(min(0.99, better.score + AGREEMENT), 3))
    return better
