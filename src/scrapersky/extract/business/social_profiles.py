"""The social profiles of the business: one address for each account; share buttons, posts and logins are rejected."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from scrapersky.extract.document.context import is_credit, snippet
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.structured_data import Thing, property_texts
from scrapersky.extract.results import Rejected, Social
from scrapersky.extract.word_lists import load_table, load_words

MAX_CANDIDATES = 500
PLACEHOLDER_ACCOUNTS = load_words("social_placeholders", "accounts", "names")
TABS = load_words("social_placeholders", "tabs")  # parts of a profile
# The host of an address without port, credentials and capitals.
PLAIN_HOST = re.compile(r"(?:https?:)?//([a-z0-9.-]{1,253})(?=[/?#]|$)")
ACCOUNT = re.compile(r"[^\s<>{}\"'\[\]|\\]{1,200}")
FEDIVERSE_HOST = re.compile(
    r"(?:^|\.)(?:mastodon|mstdn|mas\.to|fosstodon|hachyderm|chaos\.social|troet|pixelfed|pleroma|misskey|social)\b|\.social$"
)
FEDIVERSE_PATH = re.compile(r"/@[\w.-]{1,60}(?:@[\w.-]{1,80})?/?")
SOCIAL_TEXT = re.compile(
    r"(?<![\w@./-])(?:https?://)?(?:www\.)?(?:facebook|instagram|linkedin|youtube|tiktok|twitter|pinterest|x|t)\.(?:com|me)/[\w@./%-]{2,100}",
    re.I,
)
# Instagram: @firm
HANDLE = re.compile(
    r"(?<!\w)(?P<platform>instagram|insta|tiktok|twitter|telegram|threads|youtube)\s?[:：|–-]?\s?@(?P<handle>[\w.]{2,30})(?![\w@])",
    re.I,
)
HANDLE_HOSTS = {
    "instagram": "instagram.com",
    "insta": "instagram.com",
    "tiktok": "tiktok.com",
    "twitter": "twitter.com",
    "telegram": "t.me",
    "threads": "threads.net",
    "youtube": "youtube.com",
}


@dataclass(frozen=True, slots=True)
class Platform:
    """One entry of socials.toml."""

    name: str
    home: str
    under: frozenset[str]
    never: frozenset[str]
    only_under: bool
    at: bool
    one_word: bool


def _platforms() -> dict[str, Platform]:
    by_host: dict[str, Platform] = {}
    for name, row in load_table("socials").items():
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
    """An address on a platform, before it is accepted or rejected."""

    url: str
    how: str
    snippet: str
    block: int


def find_social_profiles(document: Document, things: list[Thing]) -> tuple[list[Social], list[Rejected]]:
    """Return the profiles, and the rejected links to platforms with reasons."""
    found: dict[str, Social] = {}
    rejected: dict[str, Rejected] = {}
    for link in islice(_profile_links(document, things), MAX_CANDIDATES):
        parsed = parse_profile(link.url)
        if parsed is None:
            continue
        platform, url, reason = parsed
        key = url.lower()
        if key in found:
            continue
        if not reason and 0 <= link.block < len(document.blocks) and is_credit(document, document.blocks[link.block]):
            reason = "maker of the page or theme"
        if reason:
            rejected.setdefault(key, Rejected("social", url, reason, link.snippet))
        else:
            confidence = {"link": 0.95, "structured data": 0.85, "text": 0.7}[link.how]
            found[key] = Social(platform, url, link.how, link.snippet, confidence)
    return list(found.values()), list(rejected.values())


@lru_cache(4096)  # the pages of a site share header and footer
def parse_profile(url: str) -> tuple[str, str, str] | None:
    """Return (platform, canonical address of the account, reason for rejection or ""), or None for other sites."""
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
        reason = _rejection_reason(platform, words)
    return platform.name, platform.home + account, reason


@lru_cache(4096)
def _has_no_profiles(host: str) -> bool:
    """Return whether no profile can be on this host."""
    host = host.removeprefix("www.")
    return _platform_of(host) is None and FEDIVERSE_HOST.search(host) is None


def _platform_of(host: str) -> Platform | None:
    if host in PLATFORMS:
        return PLATFORMS[host]
    parent = host.partition(".")[2]  # de-de.facebook.com, m.youtube.com
    return PLATFORMS.get(parent) if parent.count(".") >= 1 else None


def _account(platform: Platform, words: list[str]) -> list[str]:
    """Return the words of the path that name the account, without a tab of the profile."""
    words = [word.strip() for word in words[:6]]
    tab = next((place for place, word in enumerate(words) if place and word.lower() in TABS), len(words))
    words = words[:tab]
    if platform.name == "twitter" and words and words[0].startswith("@"):
        words[0] = words[0][1:]
    if platform.name == "linkedin" and len(words) > 2 and words[0].lower() in platform.under:
        words = words[:2]
    return words


def _rejection_reason(platform: Platform, words: list[str]) -> str:
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
    if name in PLACEHOLDER_ACCOUNTS or not ACCOUNT.fullmatch(name):
        return "template leftover"
    return ""


def _mastodon(scheme: str, host: str, path: str) -> tuple[str, str, str] | None:
    """Return an account in the fediverse, such as mastodon.social/@name, or None."""
    if FEDIVERSE_HOST.search(host) and FEDIVERSE_PATH.fullmatch(path):
        return "mastodon", f"https://{host}{path.rstrip('/')}", ""
    return None


def _profile_links(document: Document, things: list[Thing]) -> Iterator[ProfileLink]:
    for link in document.links:
        href = link.href
        if not href.startswith(("http", "//", "www.")):
            continue
        host = PLAIN_HOST.match(href)
        if host is not None and _has_no_profiles(host[1]):
            continue  # most links are within the site: comparing the host is faster than parsing
        yield ProfileLink(href, "link", link.text or link.label or href[:160], link.block if link.text else -1)
    marked = {block.index for sign in ("@", ".com/", ".me/") for block in document.blocks_with(sign)}
    for block in [document.blocks[index] for index in sorted(marked)]:
        if ".com/" in block.text or ".me/" in block.text:
            for match in SOCIAL_TEXT.finditer(block.text):
                yield ProfileLink(match[0].rstrip("."), "text", snippet(block.text, match.start()), block.index)
        if "@" in block.text:
            for match in HANDLE.finditer(block.text):
                home = PLATFORMS[HANDLE_HOSTS[match["platform"].lower()]]
                url = f"{home.home}{'@' if home.at else ''}{match['handle'].rstrip('.')}"
                yield ProfileLink(url, "text", snippet(block.text, match.start()), block.index)
    for thing in things:
        for url in property_texts(thing.get("sameAs")):
            yield ProfileLink(url, "structured data", snippet(url), -1)
