"""The meaning of tags, roles, class names and attributes for parsing a page."""

import re
from functools import lru_cache
from typing import Any

from scrapersky.extract.document.model import Attributes, Zone
from scrapersky.extract.text import clean_text
from scrapersky.extract.word_lists import word_set

MAX_ATTRIBUTES = 64
HIDDEN_STYLE = re.compile(r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden", re.I)

BLOCK_TAGS = word_set(
    "html body div section article main header footer nav aside form fieldset legend address blockquote figure "
    "figcaption p h1 h2 h3 h4 h5 h6 hgroup ul ol li dl dt dd table caption thead tbody tfoot tr td th pre details "
    "summary dialog center hr menu search button label option noscript"
)
GLUED_TAGS = word_set("sup sub wbr b i u em strong font")  # inside words, so no space is added around them
SILENT_TAGS = word_set(
    "script style template svg math select datalist textarea iframe object canvas audio video noembed noframes"
)
ZONE_OF_TAG: dict[str, Zone | None] = {
    # Elements around the whole page are not a zone, whatever their classes.
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
# Words in a class or id; `quote` is text of customers.
ZONE_OF_WORD: dict[str, Zone] = {
    **dict.fromkeys(word_set("footer sitefooter colophon footerwrap footercontainer copyright fusszeile"), "footer"),
    **dict.fromkeys(
        word_set("nav navbar navigation navi menu mainmenu submenu breadcrumb breadcrumbs megamenu"), "nav"
    ),
    **dict.fromkeys(word_set("sidebar cookie cookies cookiebar"), "aside"),
    **dict.fromkeys(
        word_set(
            "testimonial testimonials testimony testimonies testi review reviews reviewer quote quotes blockquote "
            "feedback comment comments commentlist kundenstimmen bewertung bewertungen rezension rezensionen avis "
            "referenzen temoignage temoignages testimonios testimonio opinion opiniones opinie depoimento depoimentos "
            "recensioni recensione recenze reference"
        ),
        "quote",
    ),
}
ZONE_WORDS = frozenset(ZONE_OF_WORD)
NEGATING_WORDS = word_set("has no with without")  # has-sidebar is the class of an element around a sidebar
NO_ZONES: frozenset[Zone] = frozenset()
HIDDEN_MAIL = "joomla-hidden-mail"  # Joomla's element for an address in pieces
EVENT_ATTRIBUTES = frozenset(("onclick", "onmouseover", "onmousedown", "itemprop", "itemscope", "itemtype"))


# Common attributes, in which no address is hidden.
PLAIN_ATTRIBUTES = word_set(
    "class id href src alt title style rel target width height name content type value for role lang aria-label "
    "aria-hidden loading placeholder colspan rowspan align valign srcset sizes decoding fetchpriority property media "
    "method action async defer tabindex hreflang aria-expanded aria-controls aria-labelledby border color"
)
NO_ATTRIBUTES: Attributes = {}


def attributes_of(attrs: tuple[tuple[str, str | None], ...]) -> Attributes:
    """Return the attributes as a dictionary; one without a value is empty."""
    found: dict[str, Any] = dict(attrs if len(attrs) <= MAX_ATTRIBUTES else attrs[:MAX_ATTRIBUTES])
    if None in found.values():
        return {name: value or "" for name, value in found.items()}
    return found


def names_of(attributes: Attributes) -> str:
    """Return the class and the id of an element in one string, lower case."""
    names = attributes.get("class", "")
    if "id" in attributes:
        names = f"{names} {attributes['id']}"
    return names[:300].lower() if names else ""


@lru_cache(8192)  # a page repeats the same few names hundreds of times
def names_and_word_zone(raw: str) -> tuple[str, Zone | None]:
    """Return class and id in lower case, and the zone that a word in them names, as in site-footer."""
    names = raw[:300].lower()
    if ZONE_WORDS.isdisjoint(names.replace("-", " ").replace("_", " ").split()):
        return names, None
    for name in names.replace("_", "-").split():
        words = name.split("-")
        if words[0] in NEGATING_WORDS:
            continue
        for word in words:
            if word in ZONE_OF_WORD:
                return names, ZONE_OF_WORD[word]
    return names, None


def names_and_zone(tag: str, attributes: Attributes) -> tuple[str, Zone | None]:
    """Return the names of an element and its zone: by its tag, else by its names, else by its role."""
    raw = attributes.get("class", "")
    names, zone = names_and_word_zone(f"{raw} {attributes['id']}" if "id" in attributes else raw)
    zone = ZONE_OF_TAG.get(tag, zone)
    if zone is None and "role" in attributes:
        zone = ZONE_OF_ROLE.get(attributes["role"])
    return names, zone


def is_hidden(attributes: Attributes) -> bool:
    """Return whether the attributes of an element hide it."""
    style = attributes.get("style")
    return "hidden" in attributes or bool(style and HIDDEN_STYLE.search(style[:500]))


def clean_href(href: str) -> str:
    """Return the address without the white space that browsers drop; "" if it is very long."""
    href = href.strip()
    if len(href) > 4_000:
        return ""
    return href if href.isascii() and href.isprintable() else clean_text(href)
