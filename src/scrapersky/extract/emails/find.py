"""The email addresses of a page, in every form in which pages write them, with the rejected ones."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from scrapersky.extract.document.context import snippet
from scrapersky.extract.document.model import Block, Document, Link, MarkedElement
from scrapersky.extract.document.structured_data import Thing, property_texts
from scrapersky.extract.emails.classify import EmailClassifier, normalise_email
from scrapersky.extract.emails.data_protection_officers import EXTERNAL_OFFICER
from scrapersky.extract.emails.deobfuscate import (
    EMAIL,
    decode_attributes,
    decode_cloudflare,
    decode_reversed,
    decode_shifted,
    decode_value,
    find_spelled_out,
    find_with_hash,
    is_email_address,
    may_be_spelled_out,
    says_hash_means_at,
    signs_of_emails,
)
from scrapersky.extract.emails.scripts import MAX_SOURCE, find_script_emails
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.results import Email, Rejected

MAX_CANDIDATES = 500
SMALL_SCRIPT = 20_000
CONFIDENCE = {
    "text": 0.95,
    "mailto": 0.9,
    "structured data": 0.85,
    "cloudflare": 0.95,
    "written out": 0.9,
    "attributes": 0.85,
    "turned": 0.8,
    "shifted": 0.85,
    "script": 0.75,
    "spaced": 0.7,
}
# Text around an @ that EMAIL does not match: perhaps a reversed address.
AT_WORD = re.compile(r"(?<![\w.+%-])[\w.+-]{1,80}@[\w.+-]{1,80}(?![\w@])")
SPACED_AT = re.compile(r"(?<![\w.+%-])([\w.+-]{1,64})\s{1,2}@\s{1,2}((?:[\w-]{1,63}\.){1,4}[a-z]{2,10})(?![\w@])", re.I)
CLOUDFLARE = re.compile(r"/cdn-cgi/l/email-protection#([0-9a-f]{6,400})", re.I)
# linkTo_UnCryptMailto('…') and the like: every character shifted by a fixed number.
SHIFTED = re.compile(r"UnCrypt\w{0,12}\((?:%27|&#39;|['\"])([^'\"%)]{5,200})", re.I)


class EmailCandidate(NamedTuple):
    """An address as found, before it is accepted or rejected."""

    address: str
    how: str
    snippet: str
    block: Block | None
    shown: str = ""  # another address that the link shows


def find_emails(
    document: Document, things: list[Thing], host: str = "", excluded: frozenset[int] = frozenset()
) -> tuple[list[Email], list[Rejected]]:
    """Return the addresses of the business, and the rejected ones; addresses in `excluded` blocks are rejected."""
    found: dict[str, Email] = {}
    rejected: dict[str, Rejected] = {}
    classifier = EmailClassifier(document, host)
    for candidate in islice(_candidates(document, things), MAX_CANDIDATES):
        address = normalise_email(candidate.address)
        if address in found or not is_email_address(address):
            continue
        shown = normalise_email(candidate.shown)
        if shown in found and _is_typo(shown, address, classifier.own):
            typo = found.pop(shown)
            rejected[shown] = Rejected("email", shown, "a typing error: the link has the right address", typo.snippet)
            candidate = candidate._replace(shown="")
        reason = classifier.rejection_reason(address, candidate.block) or _hidden_reason(candidate, address, classifier)
        if not reason and candidate.block is not None and candidate.block.index in excluded:
            reason = EXTERNAL_OFFICER
        if reason:
            rejected.setdefault(address, Rejected("email", address, reason, candidate.snippet))
            continue
        confidence = CONFIDENCE[candidate.how]
        if candidate.block is not None and "hidden" in candidate.block.zones:
            confidence -= 0.2
        kind = classifier.kind(address)
        found[address] = Email(address, kind, candidate.how, candidate.snippet, round(confidence, 2))
    return list(found.values()), [one for address, one in rejected.items() if address not in found]


def _is_typo(shown: str, linked: str, own: str) -> bool:
    """Return whether the visible address is the linked one with a typing error in the site's own domain."""
    if not own or registrable_domain(linked.rpartition("@")[2]) != own:
        return False
    return registrable_domain(shown.rpartition("@")[2]) != own and SequenceMatcher(None, shown, linked).ratio() > 0.85


def _hidden_reason(candidate: EmailCandidate, address: str, classifier: EmailClassifier) -> str:
    """Return a reason if the link shows another, acceptable address: then its target is outdated."""
    shown = normalise_email(candidate.shown)
    if shown and shown != address and not classifier.rejection_reason(shown, candidate.block):
        return "hidden behind another address"
    return ""


def _candidates(document: Document, things: list[Thing]) -> Iterator[EmailCandidate]:
    marked = {block.index for sign in signs_of_emails(document.text) for block in document.blocks_with(sign)}
    for each in [document.blocks[index] for index in sorted(marked)]:
        yield from _in_text(each)
    if says_hash_means_at(document.text):
        for each in document.blocks:
            for address, at in find_with_hash(each.text) if "#" in each.text else ():
                yield EmailCandidate(address, "written out", snippet(each.text, at), each)
    for link in document.links:
        if link.href[:6].lower() in ("mailto", "javasc") or "email-protection#" in link.href:
            yield from _in_link(document, link)
    for element in document.marked:
        if "data-cfemail" in element.attributes or "onclick" in element.attributes:
            yield from _in_element(element, document.first_block(element.node))
        elif address := decode_attributes(element.attributes, element.tag):
            block = document.first_block(element.node)
            yield EmailCandidate(address, "attributes", _block_snippet(block), block)
    for script in document.scripts:
        # A longer script is a bundled program, not one that hides an address.
        if 0 < len(script.text) <= MAX_SOURCE and "json" not in script.type and _may_build_email(script.text):
            yield from _in_script(script.text, None)
    for thing in things:
        for address in property_texts(thing.get("email")):
            address = address.removeprefix("mailto:")
            where = snippet(" ".join([*property_texts(thing.get("name")), address]))
            yield EmailCandidate(address, "structured data", where, None)


def _in_element(element: MarkedElement, block: Block | None) -> Iterator[EmailCandidate]:
    if code := element.attributes.get("data-cfemail"):
        shown = next(iter(EMAIL.findall(element.text)), "")
        yield EmailCandidate(decode_cloudflare(code), "cloudflare", _block_snippet(block), block, shown)
    if click := element.attributes.get("onclick"):
        yield from _in_script(click, block)


def _in_text(block: Block) -> Iterator[EmailCandidate]:
    text = block.text
    if "@" in text:
        has_address = False
        for match in EMAIL.finditer(text):
            has_address = has_address or is_email_address(match[0])
            yield EmailCandidate(match[0], "text", snippet(text, match.start()), block)
        if not has_address:
            yield from _with_unusual_at(block)
    if may_be_spelled_out(text):
        for address, at in find_spelled_out(text):
            yield EmailCandidate(address, "written out", snippet(text, at), block)


def _with_unusual_at(block: Block) -> Iterator[EmailCandidate]:
    """Yield reversed addresses, and addresses with white space around the @."""
    for match in AT_WORD.finditer(block.text):
        if plain := decode_reversed(match[0]):
            yield EmailCandidate(plain, "turned", snippet(block.text, match.start()), block)
    for match in SPACED_AT.finditer(block.text):
        # "see us @ www.firma.com" is a sentence; an address is alone or behind a label.
        alone = match.start() == 0 or block.text[: match.start()].rstrip().endswith(":")
        if alone and not match[2].lower().startswith("www."):
            yield EmailCandidate(f"{match[1]}@{match[2]}", "spaced", snippet(block.text, match.start()), block)


def _in_link(document: Document, link: Link) -> Iterator[EmailCandidate]:
    href = link.href
    lowered = href[:200].lower()
    block = document.blocks[link.block] if link.block < len(document.blocks) else None
    shown = next(iter(EMAIL.findall(link.text)), "") if "@" in link.text else ""
    where = link.text or link.label or _block_snippet(block)
    if lowered.startswith(("mailto:", "mailto%3a")):
        for address in _in_mailto(href):
            yield EmailCandidate(address, "mailto", where, block, shown)
    elif "email-protection#" in lowered:
        for code in CLOUDFLARE.findall(href):
            yield EmailCandidate(decode_cloudflare(code), "cloudflare", where, block, shown)
    elif lowered.startswith("javascript:"):
        for cipher in SHIFTED.findall(unquote(href)):
            yield EmailCandidate(decode_shifted(cipher), "shifted", where, block, shown)
        yield from _in_script(unquote(href), block)


def _in_mailto(href: str) -> Iterator[str]:
    """Yield the recipients before the question mark (several, with names, or obfuscated), then those of a copy."""
    recipients, _, query = unquote(href.partition(":")[2] or href[9:]).partition("?")
    plain = [address for address in EMAIL.findall(recipients) if is_email_address(address)]
    if plain:
        yield from plain
    elif recipients:
        yield decode_value(recipients)
    for field in query.split("&"):
        key, _, copied = field.partition("=")
        if key.lower() in ("to", "cc", "bcc", "amp;cc", "amp;bcc"):
            yield from EMAIL.findall(copied)


def _in_script(source: str, block: Block | None) -> Iterator[EmailCandidate]:
    for address in find_script_emails(source):
        yield EmailCandidate(address, "script", snippet(address), block)


def _may_build_email(source: str) -> bool:
    if "@" in source:
        return True
    signs = ("fromCharCode", "\\x40", "u0040", "atob(", ".reverse(")
    return len(source) < SMALL_SCRIPT and any(sign in source for sign in signs)


def _block_snippet(block: Block | None) -> str:
    return snippet(block.text) if block is not None else ""
