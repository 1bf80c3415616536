"""What tags, roles, class words and attributes mean for reading a page."""

from functools import lru_cache
from typing import Any

from scrapersky.extract import regexes, text
from scrapersky.extract.document.model import Attributes, Zone

MAX_ATTRIBUTES = 64


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


BLOCK_TAGS = _words(
    "html body div section article main header footer nav aside form fieldset legend address blockquote figure "
    "figcaption p h1 h2 h3 h4 h5 h6 hgroup ul ol li dl dt dd table caption thead tbody tfoot tr td th pre details "
    "summary dialog center hr menu search button label option noscript"
)
GLUED_TAGS = _words("sup sub wbr b i u em strong font")  # parts of words, so they stay where they are
SILENT_TAGS = _words(
    "script style template svg math select datalist textarea iframe object canvas audio video noembed noframes"
)
ZONE_OF_TAG: dict[str, Zone | None] = {
    # The whole page is no part of it, whatever its classes say of its parts.
    "html": None,
    "body": None,
    "main": None,
    "header": "header",
    "nav": "nav",
    "footer": "footer",
    "aside": "aside",
    "form": "form",
    "blockquote": "quote",
    "address": "address",
}
ZONE_OF_ROLE: dict[str, Zone] = {
    "banner": "header",
    "navigation": "nav",
    "menu": "nav",
    "menubar": "nav",
    "contentinfo": "footer",
    "complementary": "aside",
    "form": "form",
}
# Words in a class or id; `quote` is other people's voices.
ZONE_OF_WORD: dict[str, Zone] = {
    **dict.fromkeys(_words("footer sitefooter colophon footerwrap footercontainer copyright fusszeile"), "footer"),
    **dict.fromkeys(_words("nav navbar navigation navi menu mainmenu submenu breadcrumb breadcrumbs megamenu"), "nav"),
    **dict.fromkeys(_words("sidebar cookie cookies cookiebar"), "aside"),
    **dict.fromkeys(
        _words(
            "testimonial testimonials testimony testimonies testi review reviews reviewer quote quotes blockquote "
            "feedback comment comments commentlist kundenstimmen bewertung bewertungen rezension rezensionen avis "
            "referenzen temoignage temoignages testimonios testimonio opinion opiniones opinie depoimento depoimentos "
            "recensioni recensione recenze reference"
        ),
        "quote",
    ),
}
ZONE_WORDS = frozenset(ZONE_OF_WORD)
ABOUT_OTHERS = _words("has no with without")  # has-sidebar is said of what stands around one
NO_ZONES: frozenset[Zone] = frozenset()
HIDDEN_MAIL = "joomla-hidden-mail"  # Joomla's element for an address in pieces
EVENT_ATTRIBUTES = frozenset(("onclick", "onmouseover", "onmousedown", "itemprop", "itemscope", "itemtype"))


# The attributes most elements have: nothing to decode in them.
PLAIN_ATTRIBUTES = _words(
    "class id href src alt title style rel target width height name content type value for role lang aria-label "
    "aria-hidden loading placeholder colspan rowspan align valign srcset sizes"
)
NO_ATTRIBUTES: Attributes = {}


def attributes_of(attrs: tuple[tuple[str, str | None], ...]) -> Attributes:
    """The attributes as texts; one without a value is empty."""
    found: dict[str, Any] = dict(attrs if len(attrs) <= MAX_ATTRIBUTES else attrs[:MAX_ATTRIBUTES])
    if None in found.values():
        return {name: value or "" for name, value in found.items()}
    return found


def names_of(attributes: Attributes) -> str:
    """The class and the id of an element, lower case, in one string."""
    names = attributes.get("class", "")
    if "id" in attributes:
        names = f"{names} {attributes['id']}"
    return names[:300].lower()


@lru_cache(8192)  # a page says the same few names hundreds of times
def named(raw: str) -> tuple[str, Zone | None]:
    """Class and id as written, made lower case, and the zone that they speak of, such as site-footer."""
    names = raw[:300].lower()
    if ZONE_WORDS.isdisjoint(names.replace("-", " ").replace("_", " ").split()):
        return names, None
    for name in names.replace("_", "-").split():
        words = name.split("-")
        if words[0] in ABOUT_OTHERS:
            continue
        for word in words:
            if word in ZONE_OF_WORD:
                return names, ZONE_OF_WORD[word]
    return names, None


def names_and_zone(tag: str, attributes: Attributes) -> tuple[str, Zone | None]:
    """The names of an element, and its zone: by its tag, else by its names, else by its role."""
    raw = attributes.get("class", "")
    names, zone = named(f"{raw} {attributes['id']}" if "id" in attributes else raw)
    zone = ZONE_OF_TAG.get(tag, zone)
    if zone is None and "role" in attributes:
        zone = ZONE_OF_ROLE.get(attributes["role"])
    return names, zone


def is_hidden(attributes: Attributes) -> bool:
    """Whether an element says itself that it is not shown."""
    style = attributes.get("style")
    return "hidden" in attributes or bool(style and regexes.HIDDEN_STYLE.search(style[:500]))


def url_of(href: str) -> str:
    """An address as written, without the white space browsers drop; a very long one is no address."""
    href = href.strip()
    return text.clean_text(href) if len(href) <= 4_000 else ""
