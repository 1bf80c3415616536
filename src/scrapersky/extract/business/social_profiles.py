"""The profiles of the business: one address per account, never a share button, a post or a login page."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from scrapersky.extract import regexes, word_lists
from scrapersky.extract.document.context import is_credit, snippet
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.structured_data import Thing, texts
from scrapersky.extract.results import Rejected, Social

MAX_CANDIDATES = 500
LEFTOVERS = word_lists.words("social_leftovers", "leftovers", "names")
# Parts of a profile rather than the profile.
TABS = word_lists.words("social_leftovers", "tabs")


@dataclass(frozen=True, slots=True)
class Platform:
    """One row of socials.toml."""

    name: str
    home: str
    under: frozenset[str]
    never: frozenset[str]
    only_under: bool
    at: bool
    one_word: bool


def _platforms() -> dict[str, Platform]:
    by_host: dict[str, Platform] = {}
    for name, row in word_lists.table("socials").items():
        platform = Platform(
            name,
            row["home"],
            frozenset(row["under"].split()),
            frozenset(row["not"].split()),
            row.get("only_under", False),
            row.get("at", False),
            row.get("one_word", False),
        )
        by_host.update(dict.fromkeys(row["hosts"].split(), platform))
    return by_host


PLATFORMS = _platforms()


class ProfileLink(NamedTuple):
    """An address that leads to a platform, before it is judged."""

    url: str
    how: str
    snippet: str
    block: int


def find(document: Document, things: list[Thing]) -> tuple[list[Social], list[Rejected]]:
    """The profiles, and the links to platforms that are none, each with its reason."""
    found: dict[str, Social] = {}
    rejected: dict[str, Rejected] = {}
    for reference, _ in zip(_references(document, things), range(MAX_CANDIDATES), strict=False):
        judged = parse_profile(reference.url)
        if judged is None:
            continue
        platform, url, reason = judged
        key = url.lower()
        if key in found:
            continue
        if not reason and _is_of_maker(document, reference.block):
            reason = "maker of the page or theme"
        if reason:
            rejected.setdefault(key, Rejected("social", url, reason, reference.snippet))
        else:
            confidence = {"link": 0.95, "structured data": 0.85, "text": 0.7}[reference.how]
            found[key] = Social(platform, url, reference.how, reference.snippet, confidence)
    return list(found.values()), list(rejected.values())


def parse_profile(url: str) -> tuple[str, str, str] | None:
    """(platform, one address for the account, reason against it), or None for an address elsewhere."""
    try:
        parts = urlsplit(url if "://" in url[:10] else "https:" + url if url.startswith("//") else "https://" + url)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    platform = _platform_of(host)
    if platform is None:
        return _mastodon(parts.scheme, host, parts.path)
    words = [word for word in unquote(parts.path).strip().split("/") if word.strip()]
    query = parse_qs(parts.query, max_num_fields=50) if parts.query.count("&") < 50 else {}
    reason = ""
    if words and words[0].lower() == "profile.php" and platform.name == "facebook":
        account = "profile.php?id=" + "".join(query.get("id", [""]))[:30]
        reason = "" if query.get("id") else "no account"
    else:
        words = _account(platform, words)
        account = "/".join(words)
        reason = _reason_against(platform, words)
    return platform.name, platform.home + account, reason


@lru_cache(4096)
def _is_elsewhere(host: str) -> bool:
    """Whether a host can hold no profile."""
    host = host.removeprefix("www.")
    return _platform_of(host) is None and regexes.FEDIVERSE_HOST.search(host) is None


def _platform_of(host: str) -> Platform | None:
    if host in PLATFORMS:
        return PLATFORMS[host]
    parent = host.partition(".")[2]  # de-de.facebook.com, m.youtube.com
    return PLATFORMS.get(parent) if parent.count(".") >= 1 else None


def _account(platform: Platform, words: list[str]) -> list[str]:
    """The words of the path that name the account, without the tab that was open."""
    words = [word.strip() for word in words[:6]]
    tab = next((place for place, word in enumerate(words) if place and word.lower() in TABS), len(words))
    words = words[:tab]
    if platform.name == "twitter" and words and words[0].startswith("@"):
        words[0] = words[0][1:]
    if platform.name == "linkedin" and len(words) > 2 and words[0].lower() in platform.under:
        words = words[:2]
    return words


def _reason_against(platform: Platform, words: list[str]) -> str:
    if not words:
        return "no account"
    first = words[0].lower()
    name = (words[1] if first in platform.under and len(words) > 1 else words[0]).lower().lstrip("@")
    if first in platform.never or (first.endswith((".php", ".js", ".html")) and platform.name != "vk"):
        return "not a profile"
    if first in platform.under and len(words) < 2:
        return "no account"
    if platform.only_under and first not in platform.under:
        return "not a profile"
    if platform.at and not first.startswith("@"):
        return "not a profile"
    if platform.one_word and len(words) > 1:
        return "not a profile"
    if platform.name in ("twitter", "tiktok", "instagram", "threads", "telegram") and len(words) > 1:
        return "not a profile"  # a post of an account, not the account
    if platform.name == "vimeo" and first.isdigit():
        return "not a profile"
    if platform.name == "whatsapp" and first.isdigit():
        return "a phone number"
    if name in LEFTOVERS or not regexes.ACCOUNT.fullmatch(name):
        return "template leftover"
    return ""


def _mastodon(scheme: str, host: str, path: str) -> tuple[str, str, str] | None:
    """An account in the fediverse: mastodon.social/@name and the like."""
    if regexes.FEDIVERSE_HOST.search(host) and regexes.FEDIVERSE_PATH.fullmatch(path):
        return "mastodon", f"https://{host}{path.rstrip('/')}", ""
    return None


def _is_of_maker(document: Document, block: int) -> bool:
    return 0 <= block < len(document.blocks) and is_credit(document, document.blocks[block])


def _references(document: Document, things: list[Thing]) -> Iterator[ProfileLink]:
    for link in document.links:
        href = link.href
        if not href.startswith(("http", "//", "www.")):
            continue
        host = regexes.PLAIN_HOST.match(href)
        if host is not None and _is_elsewhere(host[1]):
            continue  # the links within a site: one look at the host instead of taking each apart
        yield ProfileLink(href, "link", link.text or link.label or href[:160], link.block if link.text else -1)
    for block in document.blocks:
        if ".com/" in block.text or ".me/" in block.text:
            for match in regexes.SOCIAL_TEXT.finditer(block.text):
                yield ProfileLink(match[0].rstrip("."), "text", snippet(block.text, match.start()), block.index)
    for thing in things:
        for url in texts(thing.get("sameAs")):
            yield ProfileLink(url, "structured data", snippet(url), -1)
