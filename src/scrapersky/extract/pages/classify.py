"""What kind of page an address leads to, told by its URL, the text of the link and the title, with the reason."""

from functools import lru_cache
from typing import NamedTuple

from scrapersky.extract.pages.url_parts import FILE_ENDINGS, Route, readable, route_of
from scrapersky.extract.pages.vocabulary import STRONG, WEAK, Match, PageKind, compact, vocabulary

__all__ = ["PageClassification", "PageKind", "classify_page"]

DEPTH_COST = 0.04  # what each folder above a page takes from its score
FOLDER = 0.75  # what a folder's kind is worth for the pages in it, per level
TITLE = 0.8
AGREEMENT = 0.04
# Query keys by which small systems name their pages: index.php?page=contact
PAGE_KEYS = frozenset(
    (
        *(
            "page",
            "p",
            "seite",
            "sivu",
            "sida",
            "side",
            "pagina",
            "pag",
            "view",
            "option",
            "route",
            "section",
            "content",
        ),
        *("action", "act", "do", "mod", "module", "name", "site", "show", "pagename", "page_id", "pageid", "id", "cid"),
        *("menu", "go", "nav", "doc", "file", "inc", "com", "cat", "article", "r"),
    )
)
ENTRANCES = frozenset(("", "index", "default", "home", "main", "start"))


class PageClassification(NamedTuple):
    """A page's kind, how surely it is that (0 to 1), and the word and the place that say so."""

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
    """What the name of a folder says about the pages in it; on a shelf they cannot say otherwise."""

    kind: PageKind
    score: float
    word: str
    is_shelf: bool


UNKNOWN = PageClassification(PageKind.OTHER, 0.0, "", "nowhere")
NO_PAGE = PageClassification(PageKind.OTHER, 0.0, "", "scheme")
ENTRANCE = PageClassification(PageKind.HOME, 0.95, "", "root")


def classify_page(url: str, text: str = "", title: str = "") -> PageClassification:
    """The kind of a page by its address and, where known, the text of a link to it and its title."""
    if "://" not in url and ":" in url.partition("/")[0]:
        return NO_PAGE
    guess = _of_route(route_of(url))
    if guess.place in ("root", "file") or not (text or title):
        return guess
    if text:
        guess = _weigh(guess, _of_text(text))
    if title:
        guess = _weigh(guess, _of_title(title))
    return guess


def _of_route(route: Route) -> PageClassification:
    if route.ending in FILE_ENDINGS:
        return PageClassification(PageKind.OTHER, 0.0, route.ending, "file")
    if route.query and (asked := _of_query(route)) is not None:
        return asked
    if not route.leaf:
        return _of_host(route.host)
    if route.folders:
        return _of_path(route)
    match = vocabulary().read(readable(route.leaf))
    return _of_leaf(match, 0) if match is not None else _of_shelf(route.leaf)


def _of_path(route: Route) -> PageClassification:
    """Weigh the page's own name against the names of the folders it is in, the nearest first."""
    near: PageClassification | None = None
    for distance, folder in enumerate(reversed(route.folders), 1):
        said = folder_kind(folder)
        if said is None:
            continue
        if said.is_shelf or (near is None and said.kind is not PageKind.HOME):
            near = PageClassification(said.kind, round(said.score * FOLDER**distance, 3), said.word, "folder")
            if said.is_shelf:
                return near
    match = vocabulary().read(readable(route.leaf))
    if match is None:
        return near or _of_shelf(route.leaf)
    own = _of_leaf(match, len(route.folders))
    return own if near is None or match.whole or own.score > near.score else near


@lru_cache(maxsize=8192)
def folder_kind(written: str) -> FolderKind | None:
    """What a folder's name says. Folders repeat, so it is remembered."""
    name = readable(written)
    shelf = vocabulary().shelves.get(compact(name))
    if shelf is not None:
        return FolderKind(shelf, STRONG, compact(name), True)
    if len(name) == 4 and name.isascii() and name.isdigit() and name[:2] in ("19", "20"):
        return FolderKind(PageKind.BLOG, WEAK, "a year", True)
    match = vocabulary().read(name)
    if match is None or (not match.whole and match.score < 0.5):
        return None
    return FolderKind(match.kind, match.score, match.word, False)


def _of_leaf(match: Match, depth: int) -> PageClassification:
    if match.kind is PageKind.HOME and match.whole and not depth:
        return ENTRANCE
    return PageClassification(match.kind, round(max(match.score - DEPTH_COST * depth, 0.2), 3), match.word, "path")


def _of_shelf(leaf: str) -> PageClassification:
    shelf = vocabulary().shelves.get(compact(leaf)) if len(leaf) < 24 else None
    return PageClassification(shelf, STRONG, compact(leaf), "path") if shelf is not None else UNKNOWN


def _of_query(route: Route) -> PageClassification | None:
    """The page that a query names; None when it names none (a language, a campaign)."""
    named = False
    best: Match | None = None
    for pair in route.query.replace(";", "&").split("&")[:12]:
        key, _, value = pair.partition("=")
        if key.lower() not in PAGE_KEYS or not value:
            continue
        named = named or value.lower() not in ENTRANCES
        match = vocabulary().read(readable(value.removeprefix("com_").rpartition("/")[2]))
        if match is not None and (best is None or match.score > best.score):
            best = match
    if best is not None and best.kind is not PageKind.HOME:
        return PageClassification(best.kind, round(best.score * 0.95, 3), best.word, "query")
    return UNKNOWN if named and not route.leaf else None


def _of_host(host: str) -> PageClassification:
    """The entrance of a site, unless its name says what it is for: careers.example.com"""
    label, _, rest = host.partition(".")
    if "." not in rest:
        return ENTRANCE
    if label.startswith("xn--"):
        label = label[4:].encode("ascii", "ignore").decode("punycode", "replace")
    entry = vocabulary().entry(label)
    if entry is None or entry.kind is PageKind.HOME:
        return ENTRANCE
    return PageClassification(entry.kind, round(entry.weight * FOLDER, 3), entry.word, "host")


def _of_text(text: str) -> PageClassification:
    match = vocabulary().read(text)
    if match is None:
        return UNKNOWN
    return PageClassification(match.kind, round(match.score * 0.95, 3), match.word, "link text")


def _of_title(title: str) -> PageClassification:
    """The best part of a title: “Contact us | Acme” is a contact page, Acme notwithstanding."""
    best = UNKNOWN
    for sign in "|–—·»:•":
        title = title.replace(sign, "|")
    for part in title[:300].replace(" - ", "|").split("|")[:6]:
        match = vocabulary().read(part)
        if match is not None and match.kind is not PageKind.HOME and match.score * TITLE > best.score:
            best = PageClassification(match.kind, round(match.score * TITLE, 3), match.word, "title")
    return best


def _weigh(one: PageClassification, other: PageClassification) -> PageClassification:
    """The surer of two guesses; a little surer still when both say the same."""
    if other.place == "nowhere":
        return one
    surer = other if other.score > one.score else one
    if one.kind is other.kind:
        return surer._replace(score=round(min(0.99, surer.score + AGREEMENT), 3))
    return surer
