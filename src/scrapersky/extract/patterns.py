"""Every regular expression of the extraction, compiled once; each repetition is bounded, so none can run away."""

import re

# -- cleaning --------------------------------------------------------------------------------------------------------
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
SURROGATES = re.compile(r"[\ud800-\udfff]")
# Soft hyphen, zero-width, bidi marks and overrides, variation selectors, interlinear marks, tags, noncharacters.
INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]"
)
MARK = r"\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
DIRT = re.compile(f"{CONTROLS.pattern}|{SURROGATES.pattern}|{INVISIBLE.pattern}|[{MARK}]{{4}}")
MARK_HEAP = re.compile(f"([{MARK}]{{3}})[{MARK}]{{1,10000}}")

# -- the page --------------------------------------------------------------------------------------------------------
HIDDEN_STYLE = re.compile(r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden", re.I)
# What a class or id says about where in the page an element is.
ZONE_NAME = re.compile(
    r"(?P<footer>(?:^|[\s_-])(?:site|page|main)?[_-]?(?:footer|fuss|pie|rodape|alatunniste)(?:$|[\s_-])|\bcolophon\b)"
    r"|(?P<nav>(?:^|[\s_-])(?:nav|navbar|navigation|menu|breadcrumbs?)(?:$|[\s_-]))"
    r"|(?P<quote>testimoni|review|recensi|rezension|bewertung|opini(?:on|e)|\bquotes?\b|kundenstimm|referenz|feedback"
    r"|comment(?:s|-list|list|-body|-author)?\b|avis-?client|temoignage|depoiment|what-?(?:our-)?clients?)"
    r"|(?P<aside>(?:^|[\s_-])side-?bar(?:$|[\s_-])|(?:^|[\s_-])cookie)"
)
